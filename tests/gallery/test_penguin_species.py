"""The page about penguins: statsmodels says the same of the 342 rows."""

import re

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from gallery_page import page_of
from statsmodels.stats.meta_analysis import combine_effects

from ridgeway import retrospect
from ridgeway.errors import FewClustersWarning


@pytest.fixture(scope="module")
def penguins():
    return page_of("penguin_species")


@pytest.fixture(scope="module")
def birds(penguins):
    return penguins["birds"].assign(season=penguins["seasons"])


def one_way(errors, X, groups):
    """Return the CR2 covariance of least squares from rows: (I − H_gg)^−½ e_g of each cluster."""
    bread = np.linalg.inv(X.T @ X)
    meat = np.zeros_like(bread)
    for group in np.unique(groups):
        x, e = X[groups == group], errors[groups == group]
        values, vectors = np.linalg.eigh(np.eye(len(x)) - x @ bread @ x.T)
        score = x.T @ (vectors @ ((vectors.T @ e) / np.sqrt(values)))
        meat += np.outer(score, score)
    return bread @ meat @ bread


def test_penguins_together(penguins, birds):
    fit = smf.ols("body_mass_g ~ bill_depth_mm", birds).fit()
    np.testing.assert_allclose(penguins["pooled"].coef, fit.params, rtol=1e-9)
    np.testing.assert_allclose(penguins["pooled"].standard_errors, fit.bse, rtol=1e-9)
    np.testing.assert_allclose(penguins["by_row"].standard_errors, fit.get_robustcov_results("HC1").bse, rtol=1e-9)
    groups = birds["season"].to_numpy()
    codes = pd.factorize(groups)[0]
    with pytest.warns(FewClustersWarning, match="9 clusters"):
        cr1 = retrospect.clustered(penguins["model"], kind="CR1")
    np.testing.assert_allclose(cr1.standard_errors, fit.get_robustcov_results("cluster", groups=codes).bse, rtol=1e-9)
    cr2 = np.sqrt(np.diag(one_way(fit.resid.to_numpy(), fit.model.exog, groups)))
    np.testing.assert_allclose(penguins["by_season"].standard_errors, cr2, rtol=1e-8)
    assert penguins.says("nine tasks, {} birds", len(birds))
    assert penguins.says("goes with {:.0f} g less", -fit.params["bill_depth_mm"])
    assert fit.conf_int().loc["bill_depth_mm", 1] < -100.0  # "far from zero"
    assert cr2[1] / fit.bse["bill_depth_mm"] == pytest.approx(2.0, abs=0.05)  # "twice the usual one"
    assert fit.params["bill_depth_mm"] + 3.0 * cr2[1] < 0.0  # "still negative"


def test_penguins_by_task(penguins, birds):
    """Slopes, and the test of each line against that of the others, by statsmodels."""
    each = penguins["each"]
    for task, coef, f, adjusted in zip(each.tasks, each.coef, each.f, each.adjusted_p_values, strict=True):
        inside = birds["season"] == task
        own, others = (smf.ols("body_mass_g ~ bill_depth_mm", birds[rows]).fit() for rows in (inside, ~inside))
        np.testing.assert_allclose(coef, own.params, rtol=1e-8)
        gap = own.params - others.params
        assert f == pytest.approx(gap @ np.linalg.solve(own.cov_params() + others.cov_params(), gap) / 2.0)
        assert coef[1] > 0.0
        assert adjusted < 0.001
    medians = birds.groupby("species")[["body_mass_g", "bill_depth_mm"]].median()
    assert medians["body_mass_g"].idxmax() == medians["bill_depth_mm"].idxmin() == "Gentoo"


def test_penguins_within_tasks(penguins, birds):
    fit = smf.ols("body_mass_g ~ bill_depth_mm + C(season)", birds).fit()
    within = penguins["within"]
    assert within.coef[0] == pytest.approx(fit.params["bill_depth_mm"])
    assert within.standard_errors[0] == pytest.approx(fit.bse["bill_depth_mm"])
    assert penguins.says("each millimetre goes with {:.0f} g more", fit.params["bill_depth_mm"])


def test_penguins_species_differ_and_years_do_not(penguins, birds):
    fits = {task: smf.ols("body_mass_g ~ bill_depth_mm", rows).fit() for task, rows in birds.groupby("season")}
    slopes = pd.DataFrame({task: [fit.params.iloc[1], fit.bse.iloc[1] ** 2] for task, fit in fits.items()}).T
    combined = combine_effects(slopes[0].to_numpy(), slopes[1].to_numpy())
    assert penguins["slopes"].q == pytest.approx(combined.q)
    assert penguins.says("(p = {:.3f})", combined.test_homogeneity().pvalue)
    assert penguins.says("about {:.0f} % of their scatter is real", 100.0 * combined.i2)
    means = {
        species: np.average(rows[0], weights=1.0 / rows[1]) for species, rows in slopes.groupby(lambda t: t.split()[0])
    }
    assert penguins.says("goes with {:.0f} g for Gentoos", means["Gentoo"])
    assert penguins.says("only {Adelie:.0f} g for Adelies and {Chinstrap:.0f} g".format(**means))
    smallest = re.findall(r"^(\w+) +(\d+) g per mm; p-values of years ≥ ([\d.]+)", penguins.printed, flags=re.M)
    assert {species: float(slope) for species, slope, _ in smallest} == {k: round(v) for k, v in means.items()}
    assert min(float(p) for _, _, p in smallest) > 0.05
    for _, rows in birds.groupby("species"):
        years = smf.ols("body_mass_g ~ bill_depth_mm * C(year)", rows).fit()
        assert years.compare_f_test(smf.ols("body_mass_g ~ bill_depth_mm", rows).fit())[1] > 0.05
    one = smf.ols("body_mass_g ~ bill_depth_mm + C(species)", birds).fit()
    assert smf.ols("body_mass_g ~ bill_depth_mm * C(species)", birds).fit().compare_f_test(one)[1] < 0.001
