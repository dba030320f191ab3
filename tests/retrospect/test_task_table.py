"""Every task beside the others: separate fits, and the tests of `compare` without rows."""

import numpy as np
import pytest
import statsmodels.api as sm
from grouped import drawn, learned_by_task
from statsmodels.stats.multitest import multipletests

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.information import ByTask, Moments


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("information", "digits"), [("by_task", 1e-8), (ByTask(Moments), 1e-5)], ids=["root", "moments"]
)
def test_separate_fits_and_tests_on_rows(rng, information, digits, fit_intercept):
    """The test of each task is that of `compare` with a model of the other rows, which is given the task's rows."""
    X, Y, labels, weight = drawn(rng, n_tasks=6, targets=2, least=6)
    ours = retrospect.tasks(
        learned_by_task(X, Y, labels, weight, information=information, fit_intercept=fit_intercept), level=0.9
    )
    for number, task in enumerate(ours.tasks):
        mine = labels == int(task)
        rest = GeneralizedRidge(fit_intercept=fit_intercept).fit(X[~mine], Y[~mine], weight[~mine])
        found = retrospect.compare(rest, X[mine], Y[mine], weight[mine])
        np.testing.assert_allclose(ours.f[:, number], found.f, rtol=digits)
        np.testing.assert_allclose(ours.p_values[:, number], found.p_value, rtol=100 * digits)
        assert ours.n_samples[number] == mine.sum()
        for k in range(2):
            design = sm.add_constant(X[mine]) if fit_intercept else X[mine]
            fit = sm.WLS(Y[mine, k], design, weights=weight[mine]).fit()
            np.testing.assert_allclose(ours.coef[k, number], fit.params, rtol=digits)
            np.testing.assert_allclose(ours.standard_errors[k, number], fit.bse, rtol=digits)
            np.testing.assert_allclose(ours.intervals[k, number], fit.conf_int(0.1), rtol=digits)
            np.testing.assert_allclose(ours.noise_variance[k, number], fit.scale, rtol=digits)
    for k in range(2):
        np.testing.assert_allclose(ours.adjusted_p_values[k], multipletests(ours.p_values[k], method="holm")[1])


@pytest.mark.parametrize("targets", [None, 2])
def test_the_frame_has_estimates_and_errors_by_name(rng, targets):
    X, y, labels, weight = drawn(rng, n_tasks=6, targets=targets, least=6)
    found = retrospect.tasks(learned_by_task(X, y, labels, weight))
    frame = found.to_frame()
    for j, term in enumerate(found.terms):
        np.testing.assert_array_equal(frame[term], found.coef[..., j].ravel())
        np.testing.assert_array_equal(frame[f"{term}_error"], found.standard_errors[..., j].ravel())
    np.testing.assert_array_equal(frame["noise_variance"], found.noise_variance.ravel())
    assert list(frame.columns[-3:]) == ["f", "p_value", "adjusted_p_value"]


def test_a_task_with_one_row_more_than_terms_has_errors_of_its_own(rng):
    X, y = rng.normal(size=(54, 2)), rng.normal(size=54)
    labels = np.repeat(["small", "large"], [4, 50])
    ours = retrospect.tasks(learned_by_task(X, y, labels))
    mine = labels == "small"
    fit = sm.OLS(y[mine], sm.add_constant(X[mine])).fit()
    number = ours.tasks.index("small")
    np.testing.assert_allclose(ours.standard_errors[number], fit.bse, rtol=1e-8)
    np.testing.assert_allclose(ours.noise_variance[number], fit.scale, rtol=1e-8)


@pytest.mark.parametrize("information", ["by_task", ByTask(Moments)], ids=str)
def test_tasks_that_have_no_noise_variance_of_their_own_are_not_tested(rng, information):
    X, y, labels, weight = drawn(rng, n_tasks=6, least=6)
    small = np.array([3, 1, 4])
    keep = np.ones(len(y), dtype=bool)
    for task, size in enumerate(small):
        keep[np.flatnonzero(labels == task)[size:]] = False
    X, y, labels, weight = X[keep], y[keep], labels[keep], weight[keep]
    ours = retrospect.tasks(learned_by_task(X, y, labels, weight, information=information))
    assert sorted(ours.untested) == ["0", "1", "2"]
    for number, task in enumerate(ours.tasks):
        mine, untested = labels == int(task), int(task) < 3
        found = retrospect.compare(
            GeneralizedRidge().fit(X[~mine], y[~mine], weight[~mine]), X[mine], y[mine], weight[mine]
        )
        assert found.equal_noise == untested
        np.testing.assert_allclose(ours.f[number], np.nan if untested else found.f, rtol=1e-5)
        np.testing.assert_allclose(ours.p_values[number], np.nan if untested else found.p_value, rtol=1e-4)
        assert np.isnan(ours.noise_variance[number]) == untested
        assert np.isinf(ours.standard_errors[number]).all() == untested
        determined = ours.intervals[number][~np.isnan(ours.coef[number])]
        assert (np.isinf(determined) & (np.sign(determined) == [-1, 1])).all() == untested
    tested = [task not in ours.untested for task in ours.tasks]
    expected = multipletests(ours.p_values[tested], method="holm")[1]
    np.testing.assert_allclose(ours.adjusted_p_values[tested], expected)
    note = f"Not tested: {', '.join(ours.untested)}. Too few rows to tell other coefficients from more noise."
    assert note in str(ours)
    assert note in ours._repr_html_()
    assert ours.cautions == (note,)


def test_a_small_task_that_is_only_noisier_is_not_flagged():
    """One of 12 tasks has 3 rows, 3 times as noisy: some task is flagged in about 5 % of sequences, never this one."""
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(12), [3, *[20] * 11])
    alarms = small = tested = 0
    for _ in range(150):
        X = rng.normal(size=(len(labels), 3))
        y = X.sum(axis=1) + rng.normal(size=len(labels)) * np.where(labels == 0, 3.0, 1.0)
        found = retrospect.tasks(learned_by_task(X, y, labels))
        flagged = found.adjusted_p_values < 0.05
        alarms += flagged.any()
        small += flagged[0]
        rest = GeneralizedRidge().fit(X[labels != 0], y[labels != 0])
        tested += retrospect.compare(rest, X[:3], y[:3]).p_value < 0.05 / 12
    assert (small, alarms <= 12) == (0, True)
    assert tested > 60  # what a test that assumes equal noise would say


def test_the_task_that_differs_is_found(rng):
    labels = np.repeat(np.arange(12), 40)
    X = rng.normal(size=(480, 2))
    y = X @ [1.0, 2.0] + np.where(labels == 7, 2.0 * X[:, 0], 0.0) + rng.normal(size=480)
    model = learned_by_task(X, y, labels)
    for adjust in ("holm", "bh"):
        found = retrospect.tasks(model, adjust=adjust)
        assert found.tasks[int(np.argmin(found.adjusted_p_values))] == "7"
        assert found.adjusted_p_values.min() < 1e-6
        assert (found.adjusted_p_values >= found.p_values).all()
    assert (retrospect.tasks(model).adjusted_p_values >= found.adjusted_p_values).all()


def test_false_alarms():
    """If nothing differs, some adjusted p-value is below 5 % in about 5 % of 150 sequences; a raw one much oftener."""
    rng = np.random.default_rng(1)
    alarms = np.zeros(2)
    for _ in range(150):
        labels = np.repeat(np.arange(8), 12)
        X, y = rng.normal(size=(96, 1)), rng.normal(size=96) * (1.0 + labels)
        found = retrospect.tasks(learned_by_task(X, y, labels))
        alarms += [found.adjusted_p_values.min() < 0.05, found.p_values.min() < 0.05]
    assert alarms[0] / 150 < 0.11
    assert alarms[1] / 150 > 0.2


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
def test_a_task_without_a_test(rng):
    """Tasks that know nothing in common: each has a feature of its own, and no intercept."""
    X = np.zeros((12, 2))
    X[:6, 0], X[6:, 1] = rng.normal(size=6), rng.normal(size=6)
    found = retrospect.tasks(learned_by_task(X, rng.normal(size=12), np.arange(12) // 6, fit_intercept=False))
    assert np.isnan(found.p_values).all()
    assert np.isnan(found.adjusted_p_values).all()
    assert found.untested == ("0", "1")
    assert "–" in str(found)


def test_degrees_of_freedom_that_are_just_enough(rng):
    X, y = rng.normal(size=(4, 1)), rng.normal(size=4)
    enough = retrospect.tasks(learned_by_task(X, y, [0, 0, 1, 1], fit_intercept=False))
    assert np.isfinite(enough.p_values).all()
    assert enough.untested == enough.cautions == ()
    none = retrospect.tasks(learned_by_task(X[:3], y[:3], [0, 0, 1], fit_intercept=False))
    assert np.isnan(none.p_values).all()
    assert none.untested == ("0", "1")  # 1 has no noise variance of its own, and so have the others of 0


def test_refused(rng):
    X, y, labels, _ = drawn(rng)
    with pytest.raises(InferenceError, match="only one task"):
        retrospect.tasks(learned_by_task(X, y, 0 * labels))
    with pytest.raises(InvalidParameterError, match="adjust must be one of"):
        retrospect.tasks(learned_by_task(X, y, labels), adjust="none")
