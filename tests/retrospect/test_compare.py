"""A task beside the model: Chow's test by brute force, the rule of the theory, and what the numbers mean."""

import numpy as np
import pytest
from scipy import sparse, stats
from states import learned, without_rows

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.errors import InferenceError
from ridgeway.research import theory
from ridgeway.weights import Accumulated


def residual(X, y, weight, intercept):
    """Return residual squares and rank, by SVD of the rows."""
    design = np.column_stack([np.ones(len(X)), X]) if intercept else X
    root = np.sqrt(weight)
    coef, _, rank, _ = np.linalg.lstsq(design * root[:, None], y * root, rcond=1e-10)
    return np.sum(weight * (y - design @ coef) ** 2), rank


def brute_force(past, task, intercept):
    pooled = tuple(np.concatenate(pair) for pair in zip(past, task, strict=True))
    (a, ra), (b, rb), (both, r) = (residual(*rows, intercept) for rows in (past, task, pooled))
    q, freedom = ra + rb - r, len(pooled[0]) - ra - rb
    return (both - a - b) / q / ((a + b) / freedom), q, freedom


def tasks(rng, n_past, n_task, p, rank=None, weighted=True):
    mix = np.eye(p) if rank is None else rng.normal(size=(rank, p))
    X = rng.normal(size=(n_past + n_task, p if rank is None else rank)) @ mix + 3.0
    y = X @ rng.normal(size=p) + rng.normal(size=len(X))
    weight = rng.uniform(0.5, 2.0, size=len(X)) if weighted else np.ones(len(X))
    return (X[:n_past], y[:n_past], weight[:n_past]), (X[n_past:], y[n_past:], weight[n_past:])


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["square_root", "moments"])
@pytest.mark.parametrize(
    ("n_past", "n_task", "rank"), [(30, 20, None), (30, 6, None), (30, 5, None), (30, 3, None), (30, 12, 4), (30, 2, 4)]
)
def test_chow(rng, n_past, n_task, rank, kind, intercept):
    past, task = tasks(rng, n_past, n_task, 5, rank)
    ours = retrospect.compare(learned(*past, information=kind, fit_intercept=intercept), *task, equal_noise=True)
    f, q, freedom = brute_force(past, task, intercept)
    assert ours.degrees_of_freedom == (q, freedom)
    np.testing.assert_allclose(ours.f, f, rtol=1e-7)
    np.testing.assert_allclose(ours.p_value, stats.f.sf(f, q, freedom), rtol=1e-7)
    np.testing.assert_allclose(np.mean(ours.statistics**2), ours.f)
    assert (np.diff(np.abs(ours.statistics)) <= 0.0).all()


def test_a_past_of_too_few_rows_and_a_task_that_knows_more(rng):
    past, task = tasks(rng, 4, 30, 6)
    ours = retrospect.compare(learned(*past, fit_intercept=False), *task)
    assert ours.assumption.endswith("the past has too few rows for a noise variance of its own")
    f, q, freedom = brute_force(past, task, False)
    assert ours.degrees_of_freedom == (q, freedom)
    np.testing.assert_allclose(ours.f, f, rtol=1e-7)


def test_directions_are_what_both_estimate(rng):
    past, task = tasks(rng, 30, 20, 4)
    model, alone = learned(*past), learned(*task)
    ours = retrospect.compare(model, *task)
    terms = [np.r_[m.intercept_, m.coef_] for m in (model, alone)]
    np.testing.assert_allclose(ours.differences, ours.directions @ (terms[1] - terms[0]), rtol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(ours.directions, axis=1), 1.0)
    assert ours.terms == ("intercept", "x0", "x1", "x2", "x3")


def test_the_direction_that_differs_is_found(rng):
    X = rng.normal(size=(400, 6))
    y = X @ np.ones(6) + 0.1 * rng.normal(size=400)
    model = learned(X[:300], y[:300])
    found = retrospect.compare(model, X[300:], y[300:] + 2.0 * X[300:, 3])
    # Several directions share a difference in x3; together they point at it.
    blame = found.directions.T @ found.differences
    assert found.terms[np.argmax(np.abs(blame))] == "x3"
    assert found.p_value < 1e-20
    assert found.gain_for_past < 0.0


def test_gains_are_unbiased_for_the_rule_of_the_theory(rng):
    """Over the noise, the estimates average to what theory.pooling_gain says of the same designs."""
    p = 3
    designs = [rng.normal(size=(15, p)), rng.normal(size=(8, p))]
    coefs = np.array([[1.0, 2.0, 3.0], [1.5, 1.6, 3.2]])
    exact = theory.pooling_gain(
        theory.FixedDesignProblem(designs, noise_variance=0.5, signal=coefs[0], task_coefs=coefs)
    )
    found = []
    for _ in range(500):
        y = [X @ w + np.sqrt(0.5) * rng.normal(size=len(X)) for X, w in zip(designs, coefs, strict=True)]
        ours = retrospect.compare(GeneralizedRidge(fit_intercept=False).fit(designs[0], y[0]), designs[1], y[1])
        q, nu = ours.degrees_of_freedom
        found.append([q * (ours.f * (nu - 2) / nu - 1), ours.gain_for_past, ours.gain_for_task])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    truth = np.array([exact.noncentrality[1], exact.gain_for_past[1], exact.gain_for_task[1]])
    assert (np.abs(mean - truth) < 4.0 * error).all(), (mean, truth, error)
    assert not (np.abs(mean - 1.3 * truth) < 4.0 * error).all()


def test_gains_are_unbiased_if_the_noise_differs(rng):
    """Against the risks of the two estimates in closed form: the task is four times as noisy."""
    X, Z = rng.normal(size=(15, 3)), rng.normal(size=(10, 3))
    w, v, noise, task_noise = np.array([1.0, 2.0, 3.0]), np.array([1.5, 1.6, 3.2]), 0.5, 2.0
    J, K = X.T @ X, Z.T @ Z
    both = np.linalg.inv(J + K)
    spread = np.trace(both @ (noise * J + task_noise * K) @ both)
    biases = both @ K @ (v - w), both @ J @ (w - v)
    alone = noise * np.trace(np.linalg.inv(J)), task_noise * np.trace(np.linalg.inv(K))
    truth = np.array([risk - spread - bias @ bias for risk, bias in zip(alone, biases, strict=True)])
    found = []
    for _ in range(500):
        y, u = X @ w + np.sqrt(noise) * rng.normal(size=15), Z @ v + np.sqrt(task_noise) * rng.normal(size=10)
        ours = retrospect.compare(GeneralizedRidge(fit_intercept=False).fit(X, y), Z, u)
        found.append([ours.gain_for_past, ours.gain_for_task])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(mean - truth) < 4.0 * error).all(), (mean, truth, error)
    assert not (np.abs(mean - truth[::-1]) < 4.0 * error).any()


def gain_by_brute_force(alone, other, noise, intercept):
    """Return the gain for the parameter that `alone` knows of absorbing `other`, from the answers before and after."""
    designs = [np.column_stack([np.ones(len(X)), X]) if intercept else X for X, _, _ in (alone, other)]
    J, K = (D.T @ (D * part[2][:, None]) for D, part in zip(designs, (alone, other), strict=True))
    rhs = [D.T @ (part[1] * part[2]) for D, part in zip(designs, (alone, other), strict=True)]
    before, after = np.linalg.inv(J), np.linalg.inv(J + K)
    c = int(intercept)
    moved = (after @ (rhs[0] + rhs[1]) - before @ rhs[0])[c:]
    return 2.0 * noise * np.trace((before - after)[c:, c:]) - moved @ moved


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n_past", "n_task"), [(1, 80), (2, 80), (80, 1), (80, 2), (80, 80)])
def test_a_gain_is_infinite_only_where_one_alone_cannot_be_learned(rng, n_past, n_task, intercept):
    past, task = tasks(rng, n_past, n_task, 3)
    ours = retrospect.compare(learned(*past, n_tasks=1, fit_intercept=intercept), *task)
    for gain, alone, other in ((ours.gain_for_past, past, task), (ours.gain_for_task, task, past)):
        enough = len(alone[0]) == 80
        noise = ours.noise_variance if alone is past else ours.task_noise_variance
        expected = gain_by_brute_force(alone, other, noise, intercept) if enough else np.inf
        np.testing.assert_allclose(gain, expected, rtol=1e-7)


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
@pytest.mark.parametrize("constant", ["past", "task", "both"])
def test_a_constant_column_is_held_against_the_one_that_has_it(rng, constant):
    past, task = tasks(rng, 40, 80, 3)
    for name, (X, _, _) in (("past", past), ("task", task)):
        if constant in (name, "both"):
            X[:, 1] = 2.0
    ours = retrospect.compare(learned(*past), *task)
    assert np.isinf([ours.gain_for_past, ours.gain_for_task]).tolist() == [constant == "past", constant == "task"]
    if constant == "both":  # absorbing does not open that direction either: as without the column
        rest = [(X[:, [0, 2]], y, weight) for X, y, weight in (past, task)]
        without = retrospect.compare(learned(*rest[0]), *rest[1])
        gains = [ours.gain_for_past, ours.gain_for_task]
        np.testing.assert_allclose(gains, [without.gain_for_past, without.gain_for_task], rtol=1e-7)


def test_p_values_are_uniform_and_power_rises():
    """A short version of `make retrospect`: fewer rows than features, three tasks behind."""
    p_values = {size: simulated(size, 200) for size in (0.0, 0.4, 1.0)}
    assert stats.kstest(p_values[0.0], "uniform").pvalue > 0.01
    power = [np.mean(values < 0.05) for values in p_values.values()]
    assert power[0] < 0.09
    assert power[0] + 0.1 < power[1] < power[2] - 0.1
    assert stats.kstest(p_values[0.4], "uniform").pvalue < 1e-6


def test_a_noisier_task_is_not_taken_for_another_parameter():
    """The size at 5 %; Chow's test, which assumes equal noise, is the negative control."""
    wald, chow = [], []
    rng = np.random.default_rng(0)
    for _ in range(200):
        w = np.sqrt(0.1) * rng.normal(size=4)
        model = GeneralizedRidge()
        for _ in range(3):
            X = rng.normal(size=(20, 4))
            model.partial_fit(X, X @ w + 1.0 + rng.normal(size=20))
        X = rng.normal(size=(15, 4))
        y = X @ w + 1.0 + 3.0 * rng.normal(size=15)
        wald.append(retrospect.compare(model, X, y).p_value)
        chow.append(retrospect.compare(model, X, y, equal_noise=True).p_value)
    assert np.mean(np.array(wald) < 0.05) < 0.1
    assert np.mean(np.array(chow) < 0.05) > 0.3


def simulated(size, repetitions):
    rng = np.random.default_rng(3)
    found = []
    for _ in range(repetitions):
        w = rng.normal(size=10)
        model = GeneralizedRidge()
        for _ in range(3):
            X = rng.normal(size=(12, 10))
            model.partial_fit(X, X @ w + 1.0 + rng.normal(size=12))
        X = rng.normal(size=(6, 10))
        y = X @ (w + size * rng.normal(size=10)) + 1.0 + rng.normal(size=6)
        found.append(retrospect.compare(model, X, y).p_value)
    return np.array(found)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n_past", "n_task"), [(30, 20), (30, 8), (9, 30)])
def test_wald(rng, n_past, n_task, intercept):
    """Both variances, the covariance of the difference, and Welch's degrees of freedom, from two separate fits."""
    past, task = tasks(rng, n_past, n_task, 4)
    ours = retrospect.compare(learned(*past, fit_intercept=intercept), *task)
    fits = []
    for X, y, weight in (past, task):
        design = np.column_stack([np.ones(len(X)), X]) if intercept else X
        inverse = np.linalg.inv((design * weight[:, None]).T @ design)
        coef = inverse @ (design.T @ (weight * y))
        freedom = len(y) - design.shape[1]
        fits.append((coef, inverse, weight @ (y - design @ coef) ** 2 / freedom, freedom))
    (w, A, noise, nu), (v, B, task_noise, nu_task) = fits
    difference, q = v - w, len(w)
    f = difference @ np.linalg.solve(noise * A + task_noise * B, difference) / q
    strengths = np.linalg.eigvals(np.linalg.solve(B, A)).real  # what the task knows where the past knows 1
    parts = noise, task_noise / strengths
    freedom = (parts[0] + parts[1]) ** 2 / (parts[0] ** 2 / nu + parts[1] ** 2 / nu_task)
    freedom = freedom.min() if min(nu, nu_task) >= 4 else min(nu, nu_task)
    np.testing.assert_allclose([ours.noise_variance, ours.task_noise_variance], [noise, task_noise], rtol=1e-8)
    np.testing.assert_allclose(ours.f, f, rtol=1e-7)
    np.testing.assert_allclose(ours.degrees_of_freedom, (q, freedom), rtol=1e-7)
    np.testing.assert_allclose(ours.p_value, stats.f.sf(f, q, freedom), rtol=1e-7)
    excess = q * (f * max(freedom - 2.0, 1.0) / freedom - 1.0)
    np.testing.assert_allclose(ours.noncentrality, max(excess, 0.0), rtol=1e-6)
    assert not ours.equal_noise
    chow = retrospect.compare(learned(*past, fit_intercept=intercept), *task, equal_noise=True)
    assert chow.equal_noise
    assert abs(chow.f - f) > 1e-3 * f


def test_the_prior_is_left_out(rng):
    past, task = tasks(rng, 30, 12, 4)
    plain = retrospect.compare(learned(*past), *task)
    for prior in (50.0, "evidence"):
        found = retrospect.compare(learned(*past, weights=Accumulated(prior)), *task)
        np.testing.assert_array_equal([found.f, found.p_value], [plain.f, plain.p_value])
    X, Z = rng.normal(size=(6, 9)), rng.normal(size=(4, 9))
    model = without_rows(GeneralizedRidge(Accumulated(prior=2.0), fit_intercept=False).fit(X, np.ones(6)))
    with pytest.raises(InferenceError, match="degrees of freedom"):
        retrospect.compare(model, Z, np.ones(4))


@pytest.mark.parametrize("n_past", [30, 7])
def test_a_task_of_few_rows_is_compared_under_equal_noise_and_says_so(rng, n_past):
    past, task = tasks(rng, n_past, 4, 5)
    found = retrospect.compare(learned(*past), *task)
    assert found.equal_noise
    assert found.assumption.endswith("the task has too few rows for a noise variance of its own")


def test_what_cannot_be_compared(rng):
    X, y = np.eye(4), rng.normal(size=4)
    with pytest.raises(InferenceError, match="no direction in common"):
        retrospect.compare(learned(X[:2], y[:2], n_tasks=1, fit_intercept=False), X[2:], y[2:])
    with pytest.raises(InferenceError, match="fit exactly"):
        retrospect.compare(learned(X, y, n_tasks=1, fit_intercept=False), X, y)


def test_the_model_is_left_as_it_is(rng):
    past, task = tasks(rng, 20, 10, 3)
    model = learned(*past)
    before = {name: array.copy() for name, array in model.to_arrays().items()}
    retrospect.compare(model, *task)
    for name, array in model.to_arrays().items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize("unit", [1e-120, 1e-60, 1e60, 1e120])
def test_units_do_not_matter(rng, unit):
    (X, y, _), (X_task, y_task, _) = tasks(rng, 30, 20, 3)
    found = retrospect.compare(learned(X, unit * y), X_task, unit * y_task)
    want = retrospect.compare(learned(X, y), X_task, y_task)
    np.testing.assert_allclose([found.f, found.p_value], [want.f, want.p_value], rtol=1e-9)
    np.testing.assert_allclose(found.degrees_of_freedom, want.degrees_of_freedom)


def test_each_target_has_degrees_of_freedom_of_its_own(rng):
    (X, _, _), (X_task, _, _) = tasks(rng, 40, 20, 3)
    Y, Y_task = rng.normal(size=(40, 2)) * [1.0, 5.0], rng.normal(size=(20, 2)) * [4.0, 0.5]
    both = retrospect.compare(learned(X, Y), X_task, Y_task)
    alone = [retrospect.compare(learned(X, Y[:, k]), X_task, Y_task[:, k]) for k in range(2)]
    freedom = [found.degrees_of_freedom[1] for found in alone]
    assert abs(freedom[0] - freedom[1]) > 1.0
    np.testing.assert_allclose(both.degrees_of_freedom[1], freedom)
    np.testing.assert_allclose(both.p_value, [found.p_value for found in alone])


def test_a_sparse_task_of_few_rows(rng):
    (X, y, _), (X_task, y_task, _) = tasks(rng, 40, 3, 5)
    found = retrospect.compare(learned(X, y), sparse.csr_array(X_task), y_task)
    want = retrospect.compare(learned(X, y), X_task, y_task)
    np.testing.assert_allclose([found.f, found.p_value], [want.f, want.p_value])
