"""Errors of least squares that allow for clusters and unequal variances, as Stata and R have printed them.

The tables are in the test results of the installed statsmodels, which name their commands. Stata reads numbers as
floats of 4 bytes, so that is how its rows are taken here; R reads doubles. Tolerances are the digits of the tables:
Stata's have 13, and R's 10. Tasks are cut differently each time, as the answer must not depend on them.
"""

import numpy as np
import pytest
from published import STATE_WEIGHTS, as_stata_float, executions
from statsmodels.datasets import grunfeld, macrodata
from statsmodels.genmod.tests.results import results_glm_poisson_weights as by_stata
from statsmodels.regression.tests.results import results_grunfeld_ols_robust_cluster as firms_printed
from statsmodels.regression.tests.results import results_macro_ols_robust as macro_printed

from ridgeway import GeneralizedRidge, retrospect, store
from ridgeway.errors import FewClustersWarning
from ridgeway.information import ByTask

pytestmark = pytest.mark.filterwarnings("ignore::ridgeway.errors.FewClustersWarning")

N_FIRMS = 10
"""The clusters of Grunfeld's data: Stata's copy lacks the eleventh firm."""
JACKKNIFE = (N_FIRMS - 1) / N_FIRMS
"""R's CRV3 is the jackknife, with this factor (MacKinnon, Nielsen and Webb 2022); CR3 is without (Bell and McCaffrey
2002)."""


def intercept_last(found):
    """Return coefficients, standard errors and covariance in the order of the tables."""
    order = np.roll(np.arange(len(found.coef)), -1)
    return found.coef[order], found.standard_errors[order], found.covariance[np.ix_(order, order)]


def assert_printed(found, table, digits, factor=1.0):
    """Compare with a table; the errors are those after multiplying covariances by a factor."""
    coef, errors, covariance = intercept_last(found)
    np.testing.assert_allclose(coef, table.params, rtol=digits)
    np.testing.assert_allclose(np.sqrt(factor) * errors, table.bse, rtol=digits)
    np.testing.assert_allclose(factor * covariance, table.cov, rtol=100.0 * digits)  # printed with 11 digits or more


def investment():
    """Return the growth of output and the lagged real interest rate, and the growth of investment; 202 quarters."""
    data = macrodata.load_pandas().data
    growth = 400.0 * np.diff(np.log(data[["realgdp", "realinv"]].to_numpy()), axis=0)
    return np.column_stack([growth[:, 0], data["realint"].to_numpy()[:-1]]), growth[:, 1]


def firms(stored=as_stata_float):
    """Return value and capital, investment, and the firm of each row."""
    data = grunfeld.load_pandas().data[: 20 * N_FIRMS]
    return stored(data[["value", "capital"]]), stored(data["invest"]), data["firm"].to_numpy()


@pytest.mark.parametrize("seed", range(3))
def test_investment_has_the_printed_hc_errors(seed):
    """`regress g_realinv g_realgdp L.realint, vce(robust)` is HC1; `ivreg2 …, robust` is HC0."""
    X, y = investment()
    labels = np.random.default_rng(seed).integers(0, 2 + seed, size=len(y))
    model = GeneralizedRidge(information=ByTask(fourth_moments=True)).fit(X, y, tasks=labels)
    small = retrospect.heteroscedastic(model, "HC1")
    for table in (macro_printed.results_hc0, macro_printed.results_ivhc0_small):
        assert_printed(small, table, 1e-11)
        np.testing.assert_allclose(np.roll(small.intervals, -1, axis=0), table.params_table[:, 4:6], rtol=1e-11)
        np.testing.assert_allclose(np.roll(small.p_values, -1), table.pvalues, rtol=1e-9)
        np.testing.assert_array_equal(small.degrees_of_freedom, 199.0)
    large = retrospect.heteroscedastic(model, "HC0")
    assert_printed(large, macro_printed.results_ivhc0_large, 1e-11)
    with pytest.raises(AssertionError):  # the control
        assert_printed(large, macro_printed.results_hc0, 1e-11)
    classical = retrospect.summary(model)
    assert classical.r_squared == pytest.approx(macro_printed.results_hc0.r2, rel=1e-14)
    assert classical.log_likelihood == pytest.approx(macro_printed.results_hc0.ll, rel=1e-14)
    assert np.sqrt(classical.noise_variance) == pytest.approx(macro_printed.results_hc0.rmse, rel=1e-14)


CLUSTERED = {
    "CR1": ("CR1", as_stata_float, None, firms_printed.results_cluster, 1e-12, 1.0),
    "CR0": ("CR0", as_stata_float, None, firms_printed.results_cluster_large, 1e-12, 1.0),
    "CR1 weighted": ("CR1", as_stata_float, "1/value", firms_printed.results_cluster_wls_small, 1e-12, 1.0),
    "CR0 weighted": ("CR0", as_stata_float, "1/value", firms_printed.results_cluster_wls_large, 1e-12, 1.0),
    "CR3": ("CR3", np.asarray, None, firms_printed.results_cluster_crv3_sandwich_r, 1e-9, JACKKNIFE),
    "CR3 weighted": ("CR3", np.asarray, "row", firms_printed.results_cluster_crv3_wls_sandwich_r, 1e-9, JACKKNIFE),
}


@pytest.mark.parametrize(
    ("kind", "stored", "weighting", "table", "digits", "factor"), CLUSTERED.values(), ids=CLUSTERED
)
def test_firms_have_the_printed_clustered_errors(kind, stored, weighting, table, digits, factor):
    """`regress invest mvalue kstock, vce(cluster company)`, `ivreg2 …, cluster(company)`, and `sandwich::vcovJK`."""
    X, y, firm = firms(stored)
    weight = {None: None, "1/value": 1.0 / X[:, 0], "row": np.arange(1.0, 1.0 + len(y))}[weighting]
    model = GeneralizedRidge(information="by_task").fit(X, y, weight, tasks=firm)
    found = retrospect.clustered(model, kind)
    assert_printed(found, table, digits, factor)
    decades = np.repeat(["1935", "1945"] * N_FIRMS, 10)  # tasks cut across the clusters
    crossed = GeneralizedRidge(information="by_task")
    for decade in np.unique(decades):
        rows = decades == decade
        weights = None if weight is None else weight[rows]
        crossed.partial_fit(X[rows], y[rows], weights, task=decade, clusters=firm[rows])
    assert_printed(retrospect.clustered(crossed, kind), table, digits, factor)
    other = retrospect.clustered(model, "CR2")  # the control
    assert not np.allclose(np.sqrt(factor) * intercept_last(other)[1], table.bse, rtol=1e-3)


def test_stata_counts_clusters_as_the_degrees_of_freedom():
    X, y, firm = firms()
    found = retrospect.clustered(GeneralizedRidge(information="by_task").fit(X, y, tasks=firm), "CR1")
    table = firms_printed.results_cluster
    np.testing.assert_array_equal(found.degrees_of_freedom, table.df_r)
    np.testing.assert_allclose(np.roll(found.t, -1), table.tvalues, rtol=1e-12)
    np.testing.assert_allclose(np.roll(found.p_values, -1), table.pvalues, rtol=1e-9)
    np.testing.assert_allclose(np.roll(found.intervals, -1, axis=0), table.params_table[:, 4:6], rtol=1e-12)


def test_firms_have_the_printed_hc1_errors_under_weights():
    """`regress invest mvalue kstock [aw=1/mvalue], robust`."""
    X, y, firm = firms()
    model = GeneralizedRidge(information=ByTask(fourth_moments=True)).fit(X, y, 1.0 / X[:, 0], tasks=firm)
    assert_printed(retrospect.heteroscedastic(model, "HC1"), firms_printed.results_hc1_wls_small, 1e-11)


def test_weights_are_frequencies_or_precisions_as_in_stata():
    """`regress executions … [fweight=fweight]` or `[aweight=fweight], vce(cluster id)`, and `vce(robust)`."""
    X, y = executions(stored=as_stata_float)
    pairs = np.arange(1, 18) // 2

    def learned(**settings):
        return GeneralizedRidge(**settings).fit(X, y, STATE_WEIGHTS, tasks=pairs)

    often = learned(information="by_task", weight_kind="frequency")
    assert_printed(retrospect.clustered(often, "CR1"), by_stata.results_wls_fweight_clu1, 1e-10)
    precise = learned(information="by_task")
    assert_printed(retrospect.clustered(precise, "CR1"), by_stata.results_wls_aweight_clu1, 1e-10)
    fourth = learned(information=ByTask(fourth_moments=True))
    assert_printed(retrospect.heteroscedastic(fourth, "HC1"), by_stata.results_wls_aweight_robust, 1e-10)
    with pytest.raises(AssertionError):  # the control: the two kinds of weights differ
        assert_printed(retrospect.clustered(precise, "CR1"), by_stata.results_wls_fweight_clu1, 1e-3)


def test_a_state_file_has_the_printed_errors(tmp_path):
    X, y, firm = firms()
    state = store.create(
        tmp_path / "firms.rw", features=["value", "capital"], target="invest", keep=("tasks", "fourth-moments")
    )
    weighted = store.create(
        tmp_path / "weighted.rw",
        features=["value", "capital"],
        target="invest",
        weight_column="weight",
        keep=("tasks", "fourth-moments"),
    )
    for name in np.unique(firm):
        rows = firm == name
        state.absorb(str(name), X[rows], y[rows])
        weighted.absorb(str(name), X[rows], y[rows], 1.0 / X[rows, 0])
    by_task = store.open(state.path).model_by_task()
    with pytest.warns(FewClustersWarning, match="10 clusters"):
        assert_printed(retrospect.clustered(by_task, "CR1"), firms_printed.results_cluster, 1e-12)
    found = retrospect.heteroscedastic(store.open(weighted.path).model_by_task(), "HC1")
    assert_printed(found, firms_printed.results_hc1_wls_small, 1e-11)
