"""Intervals under a learned prior: the average over the penalty by brute force, and simulated coverage."""

from contextlib import nullcontext

import numpy as np
import pytest
from scipy import stats
from states import learned

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.errors import InferenceError, PrecisionWarning, PriorWarning
from ridgeway.information import Marginals
from ridgeway.weights import Accumulated

EVIDENCE = Accumulated(prior="evidence")


def by_brute_force(X, Y, weight, start, intercept, functionals):
    """Return shares, means and scales (m, n_targets, q) on a dense grid of log λ, from the rows themselves.

    The marginal likelihood is that of y ~ N(X·start + b, σ²(XXᵀ/λ + W⁻¹)) with b and log σ² flat; `functionals` are of
    the intercept, if there is one, and of the coefficients.
    """
    n, p = X.shape
    c = int(intercept)
    mean = weight @ X / weight.sum() if intercept else np.zeros(p)
    g = (weight @ (X - mean) ** 2).sum() / p / (n - c)
    logs = np.linspace(np.log(g) - 22.0, np.log(g) + 35.0, 600)
    design = np.column_stack([np.ones(n), X]) if intercept else X
    first = np.r_[np.zeros(c), start]
    E = Y - X @ start[:, None]
    density, means, scales = [], [], []
    for penalty in np.exp(logs):
        K = X @ X.T / penalty + np.diag(1.0 / weight)
        solved = np.linalg.solve(K, np.column_stack([E, np.ones(n)]))
        squares, log_determinant = (E * solved[:, :-1]).sum(axis=0), np.linalg.slogdet(K)[1]
        if intercept:
            total = solved[:, -1].sum()
            squares -= solved[:, :-1].sum(axis=0) ** 2 / total
            log_determinant += np.log(total)
        likelihood = -0.5 * (len(squares) * log_determinant + (n - c) * np.log(squares).sum())
        density.append(likelihood + np.log(penalty * g / (penalty + g) ** 2))
        inverse = np.linalg.inv(
            (design * weight[:, None]).T @ design + np.diag(np.r_[np.zeros(c), np.full(p, penalty)])
        )
        coef = first[:, None] + inverse @ (design * weight[:, None]).T @ E
        means.append((functionals.T @ coef).T)
        scales.append(np.sqrt(squares[:, None] / (n - c) * np.sum(functionals * (inverse @ functionals), axis=0)))
    density = np.exp(np.array(density) - max(density))
    return density / density.sum(), np.array(means), np.array(scales)


@pytest.mark.filterwarnings("ignore::ridgeway.errors.PriorWarning")
@pytest.mark.parametrize("kind", ["square_root", "moments"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "p", "signal", "n_targets"), [(12, 3, 1.0, 1), (12, 3, 0.1, 2), (6, 8, 1.0, 1)])
def test_the_average_is_that_of_a_dense_grid(rng, n, p, signal, n_targets, intercept, kind):
    X, weight, start = rng.normal(size=(n, p)) + 1.0, rng.uniform(0.5, 2.0, size=n), rng.normal(size=p)
    Y = X @ (start[:, None] + signal * rng.normal(size=(p, n_targets))) + rng.normal(size=(n, n_targets))
    model = learned(X, Y, weight, weights=EVIDENCE, fit_intercept=intercept, initial_coef=start, information=kind)
    ours = retrospect.summary(model, level=0.9)
    c = int(intercept)
    shares, means, scales = by_brute_force(X, Y, weight, start, intercept, np.eye(p + c))
    mean = np.tensordot(shares, means, axes=1)
    deviation = np.sqrt(np.tensordot(shares, scales**2 + (means - mean) ** 2, axes=1))
    np.testing.assert_allclose(ours.coef, mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.standard_errors, deviation, rtol=1e-7)

    def below(bound):
        return np.tensordot(shares, stats.t.cdf(bound, n - c, loc=means, scale=scales), axes=1)

    np.testing.assert_allclose(below(ours.intervals[..., 0]), 0.05, atol=1e-8)
    np.testing.assert_allclose(below(ours.intervals[..., 1]), 0.95, atol=1e-8)
    np.testing.assert_allclose(ours.p_values, 2.0 * np.minimum(below(0.0), 1.0 - below(0.0)), atol=1e-8)
    x = rng.normal(size=(2, p))
    functionals = np.vstack([np.ones((c, 2)), x.T])
    shares, means, scales = by_brute_force(X, Y, weight, start, intercept, functionals)
    at = retrospect.intervals(model, x, level=0.9)
    np.testing.assert_allclose(below(at.mean_upper.T), 0.95, atol=1e-8)
    conditional = retrospect.summary(retrospect.learn_prior(model).model, level=0.9)
    assert np.abs(conditional.standard_errors / ours.standard_errors - 1.0).max() > 0.01


def test_predictions_and_contrasts_are_averaged_too(rng):
    X = rng.normal(size=(30, 4))
    y = X @ [0.5, -0.2, 0.1, 0.3] + rng.normal(size=30)
    model = learned(X, y, weights=EVIDENCE)
    found, at = retrospect.summary(model), retrospect.intervals(model, X[:3])
    predicted, deviation = model.predict(X[:3], return_std=True)
    np.testing.assert_array_equal(predicted, model.predict(X[:3]))
    mean = np.column_stack([np.ones(3), X[:3]]) @ found.coef
    np.testing.assert_allclose(at.prediction, mean, rtol=1e-9)
    assert (deviation > (at.mean_upper - at.mean_lower) / 4.0).all()
    test = retrospect.contrast(model, [0.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(
        [test.estimate[0], test.standard_errors[0], test.f, test.p_value],
        [found.coef[2], found.standard_errors[2], found.t[2] ** 2, found.p_values[2]],
        rtol=1e-8,
    )
    both = retrospect.contrast(model, np.eye(4)[:2])
    assert both.degrees_of_freedom == (2, 29)
    assert both.f >= max(found.t[1:3] ** 2) / 2.0


def test_without_signal_there_is_a_warning_and_an_interval(rng):
    """The penalty runs to its bound: standard errors do not vanish with it."""
    X = rng.normal(size=(45, 4))
    noise = rng.normal(size=45)
    noise -= X @ np.linalg.lstsq(np.column_stack([X, np.ones(45)]), noise, rcond=None)[0][:4]
    model = learned(X, noise, weights=EVIDENCE)
    with pytest.warns(PriorWarning, match="no signal"):
        found = retrospect.summary(model)
    conditional = retrospect.summary(retrospect.learn_prior(model).model)
    assert conditional.standard_errors[1:].max() < 1e-3 < 0.01 < found.standard_errors[1:].min()
    assert "averaged over the learned penalty" in str(found)
    assert "too narrow" in conditional.assumption


def test_without_noise_there_is_a_warning(rng):
    X = rng.normal(size=(5, 9))
    with pytest.warns(PriorWarning, match="no noise"):
        retrospect.summary(learned(X, 3.0 * X[:, 0], weights=EVIDENCE))


@pytest.mark.filterwarnings("ignore::ridgeway.errors.PriorWarning")
def test_targets_without_noise_or_variation(rng):
    X = rng.normal(size=(20, 3))
    exact = retrospect.summary(learned(X, X @ [1.0, 2.0, 3.0], weights=EVIDENCE))
    np.testing.assert_allclose(exact.intervals[1:], [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], rtol=1e-6)
    for y in (np.full(20, 7.0), np.column_stack([np.full(20, 7.0), rng.normal(size=20)])):
        found = retrospect.summary(learned(X, y, weights=EVIDENCE))
        np.testing.assert_allclose(np.atleast_2d(found.coef)[0], [7.0, 0.0, 0.0, 0.0], atol=1e-9)
        assert np.isfinite(found.intervals).all()


@pytest.mark.filterwarnings("ignore::ridgeway.errors.PriorWarning")
def test_coverage_over_draws_from_the_prior():
    """The control takes the learned penalty as known."""
    averaged = coverage(EVIDENCE, lambda model: model)
    conditional = coverage(Accumulated(), lambda model: retrospect.learn_prior(model).model)
    assert 0.92 < averaged < 0.985
    assert conditional < 0.85


def coverage(policy, learn):
    """Return how often 95 % intervals hold the truth, four slopes and a mean response: neither tail has below 2.5 %."""
    rng = np.random.default_rng(0)
    hits = []
    for _ in range(150):
        X = rng.normal(size=(45, 4))
        coef = np.sqrt(0.03) * rng.normal(size=4)
        y = X @ coef + 1.0 + rng.normal(size=45)
        model = GeneralizedRidge(policy)
        for part in np.split(np.arange(45), 3):
            model.partial_fit(X[part], y[part])
        x = rng.normal(size=4)
        found = learn(model).state_.inference().marginals(np.column_stack([np.eye(4), x]), np.r_[np.zeros(4), 1.0])
        hits.append(found.p_values(np.r_[coef, x @ coef + 1.0])[0] >= 0.05)
    return np.mean(hits)


@pytest.mark.parametrize("kind", ["square_root", "moments"])
@pytest.mark.parametrize("unit", [1e-160, 1e-155, 1e145, 1e149])
def test_units_in_which_penalties_overflow_or_vanish(rng, unit, kind):
    X = rng.normal(size=(20, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=20)
    with pytest.warns(PrecisionWarning, match="squares") if unit < 1.0 else nullcontext():
        model = learned(unit * X, y, weights=EVIDENCE, information=kind)
    with pytest.raises(InferenceError, match="Change their units"):
        retrospect.summary(model)
    near = learned(1e100 * X, y, weights=EVIDENCE, information=kind)
    usual = learned(X, y, weights=EVIDENCE, information=kind)
    found, want = retrospect.summary(near).intervals[1:], retrospect.summary(usual).intervals[1:]
    np.testing.assert_allclose(1e100 * found, want, rtol=1e-6)


def test_quantiles_of_a_mixture(rng):
    shares = rng.dirichlet(np.ones(5))
    mixture = Marginals(shares, rng.normal(size=(5, 2, 3)), rng.uniform(0.01, 3.0, size=(5, 2, 3)), 4)
    for level in (0.5, 0.95, 0.9999):
        for bound, share in zip(mixture.bounds(level), (0.5 - level / 2.0, 0.5 + level / 2.0), strict=True):
            reached = np.tensordot(shares, stats.t.cdf(bound, 4, loc=mixture.means, scale=mixture.scales), axes=1)
            np.testing.assert_allclose(reached, share, rtol=1e-9)
