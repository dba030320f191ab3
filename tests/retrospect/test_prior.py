"""The learned prior, beside the marginal likelihood of the pooled rows itself."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from states import learned, without_rows

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.errors import InferenceError
from ridgeway.information import evidence_estimate
from ridgeway.weights import Accumulated


def marginal(X, y, weight, start, prior_variance, noise_variance, intercept):
    """Return the log density of y, rows and all: N(X·start, X·E_0·Xᵀ + σ²/weight), the intercept flat."""
    covariance = X @ prior_variance @ X.T + np.diag(noise_variance / weight)
    y = y - X @ start
    if not intercept:
        return multivariate_normal(np.zeros(len(y)), covariance).logpdf(y)
    ones = np.ones(len(y))
    solved = np.linalg.solve(covariance, np.column_stack([ones, y]))
    precision, shift = ones @ solved[:, 0], ones @ solved[:, 1]
    quadratic = y @ solved[:, 1] - shift**2 / precision
    determinant = np.linalg.slogdet(covariance)[1] + np.log(precision)
    return -0.5 * (quadratic + determinant + (len(y) - 1) * np.log(2 * np.pi))


def problem(rng, n, p):
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2.0, size=p) + 1.0
    Y = X @ rng.normal(size=(p, 2)) + (1.5 if n > p else 6.0) * rng.normal(size=(n, 2))
    return X, Y, rng.uniform(0.5, 2.0, size=n)


def best(objective, x0):
    found = [
        minimize(
            objective,
            x0 + step,
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 20000, "maxfev": 20000},
        )
        for step in (0.0, 0.7)
    ]
    return -min(result.fun for result in found)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["square_root", "moments"])
@pytest.mark.parametrize(("n", "p"), [(25, 1), (25, 6), (40, 50)])
def test_one_penalty_is_the_direct_optimum(rng, n, p, kind, intercept):
    X, Y, weight = problem(rng, n, p)
    start = rng.normal(size=p)
    model = learned(X, Y, weight, information=kind, fit_intercept=intercept, initial_coef=start)
    found = retrospect.learn_prior(model)

    def deviance(logs):
        penalty, *noise = np.exp(logs)
        values = [
            marginal(X, Y[:, k], weight, start, s * np.eye(p) / penalty, s, intercept) for k, s in enumerate(noise)
        ]
        return -sum(values)

    at = np.log([found.prior, *found.noise_variance])
    np.testing.assert_allclose(-deviance(at), found.log_evidence, rtol=1e-9)
    assert abs(best(deviance, at + 0.3) - found.log_evidence) < 1e-6 * abs(found.log_evidence)
    assert deviance(at + 0.01) > -found.log_evidence + 1e-6
    mean = intercept * (weight @ X) / weight.sum()
    A = weight[:, None] * (X - mean)
    away = np.linalg.solve(A.T @ (X - mean) + found.prior * np.eye(p), A.T @ (Y - (X @ start)[:, None]))
    starts = np.column_stack([start, start])
    estimate = evidence_estimate(model.information_, starts)
    np.testing.assert_allclose(estimate, starts + away, atol=1e-7 * np.abs(away).max())


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
@pytest.mark.parametrize("kind", ["square_root", "moments"])
def test_a_feature_that_is_always_zero_is_held_at_the_start(rng, kind):
    X = rng.normal(size=(30, 3)) * [1.0, 0.0, 2.0]
    y, start = X @ [1.0, 2.0, 3.0] + rng.normal(size=30), np.array([1.0, 5.0, 1.0])
    model = learned(X, y, information=kind, initial_coef=start)
    rest = learned(X[:, [0, 2]], y, information=kind, initial_coef=start[[0, 2]])
    found, without = (retrospect.learn_prior(one) for one in (model, rest))
    np.testing.assert_allclose(found.model.coef_[1], 5.0, rtol=1e-12)
    np.testing.assert_allclose(found.model.coef_[[0, 2]], without.model.coef_, rtol=1e-5)


@pytest.mark.parametrize("kind", ["square_root", "moments"])
def test_features_that_never_vary_leave_noise_alone(rng, kind):
    X, y = np.full((20, 2), 3.0), rng.normal(size=20)
    found = retrospect.learn_prior(learned(X, y, information=kind))
    noise = np.var(y, ddof=1)
    np.testing.assert_allclose(found.noise_variance, noise, rtol=1e-12)
    exact = marginal(X, y, np.ones(20), np.zeros(2), np.eye(2), noise, True)
    np.testing.assert_allclose(found.log_evidence, exact, rtol=1e-9)


def test_the_policy_is_empirical_bayes_on_the_pooled_rows(rng):
    """After every task, in whatever pieces: the ridge on all rows with the penalty that maximises their evidence."""
    X, Y, weight = problem(rng, 36, 7)
    policy = Accumulated(prior="evidence")
    model = GeneralizedRidge(policy)
    for stop in (8, 20, 36):
        part = slice(0 if stop == 8 else {20: 8, 36: 20}[stop], stop)
        model = without_rows(model.partial_fit(X[part], Y[part], weight[part]))
        pooled = GeneralizedRidge().fit(X[:stop], Y[:stop], weight[:stop])
        found = retrospect.learn_prior(pooled)
        ridge = GeneralizedRidge(Accumulated(prior=found.prior)).fit(X[:stop], Y[:stop], weight[:stop])
        np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-6)
        np.testing.assert_allclose(found.model.coef_, ridge.coef_, rtol=1e-9)
        np.testing.assert_allclose(model.predict(X), ridge.predict(X), rtol=1e-6)
    other = GeneralizedRidge(policy).fit(X[:9], Y[:9])
    merged = model.merge(other)
    pooled = GeneralizedRidge(policy).fit(np.vstack([X, X[:9]]), np.vstack([Y, Y[:9]]), np.r_[weight, np.ones(9)])
    np.testing.assert_allclose(merged.coef_, pooled.coef_, rtol=1e-6)
    np.testing.assert_allclose(merged.remove(X[:9], Y[:9]).coef_, model.coef_, rtol=1e-6)


def test_posterior_summary_is_the_posterior(rng):
    """Under a prior: mean, covariance and degrees of freedom of the normal-gamma posterior, by brute force."""
    X, Y, weight = problem(rng, 12, 4)
    y, P = Y[:, 0], np.diag([1.0, 2.0, 3.0, 0.5])
    model = learned(X, y, weight, weights=Accumulated(prior=P))
    design = np.column_stack([np.ones(12), X])
    precision = (design * weight[:, None]).T @ design
    precision[1:, 1:] += P
    coef = np.linalg.solve(precision, design.T @ (weight * y))
    squares = weight @ (y - design @ coef) ** 2 + coef[1:] @ P @ coef[1:]
    covariance = squares / 11 * np.linalg.inv(precision)
    found = retrospect.summary(model)
    assert found.posterior
    assert found.degrees_of_freedom == 11
    np.testing.assert_allclose(found.coef, coef, rtol=1e-9)
    np.testing.assert_allclose(found.standard_errors, np.sqrt(np.diag(covariance)), rtol=1e-9)
    assert "Posterior" in str(found)
    partly = retrospect.summary(learned(X, y, weight, weights=Accumulated(prior=[1.0, 2.0, 0.0, 0.0])))
    assert partly.degrees_of_freedom == 9
    assert partly.assumption.startswith("Credible")
    hat = np.trace(np.linalg.solve(precision, (design * weight[:, None]).T @ design))
    np.testing.assert_allclose(found.aic + 2 * found.log_likelihood, 2 * hat, rtol=1e-9)


def test_targets_without_noise_or_variation(rng):
    X = rng.normal(size=(20, 3))
    exact = learned(X, X @ [1.0, 2.0, 3.0], weights=Accumulated("evidence"))
    np.testing.assert_allclose(exact.coef_, [1.0, 2.0, 3.0], rtol=1e-6)
    constant = learned(X, np.full(20, 7.0), weights=Accumulated("evidence"))
    np.testing.assert_allclose(constant.predict(X), 7.0)
    both = learned(X, np.column_stack([np.zeros(20), X[:, 0] + rng.normal(size=20)]), weights=Accumulated("evidence"))
    alone = learned(X, both.predict(X)[:, 1] * 0 + (X[:, 0]), weights=Accumulated("evidence"))
    assert np.isfinite(both.coef_).all()
    assert np.isfinite(alone.coef_).all()
    found = retrospect.learn_prior(learned(X, np.column_stack([np.zeros(20), rng.normal(size=20)])))
    assert np.isfinite(found.model.coef_).all()


def test_the_interpolation_peak_is_removed():
    """n_1 + … + n_4 = p: the error of H̃ explodes and the learned prior keeps it low (bar: ten times lower)."""
    errors = {"plain": [], "evidence": [], "optimum": []}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        w = rng.normal(size=100)
        priors = {"plain": 0.0, "evidence": "evidence", "optimum": 1.0}
        models = {name: GeneralizedRidge(Accumulated(prior), fit_intercept=False) for name, prior in priors.items()}
        for _ in range(4):
            X = rng.normal(size=(25, 100))
            y = X @ w + rng.normal(size=25)
            for model in models.values():
                model.partial_fit(X, y)
        for name, model in models.items():
            errors[name].append(np.square(model.coef_ - w).sum())
    mean = {name: np.mean(values) for name, values in errors.items()}
    assert mean["plain"] > 10.0 * mean["evidence"]
    assert mean["evidence"] < 1.5 * mean["optimum"]


def test_too_few_rows():
    with pytest.raises(InferenceError, match="noise from signal"):
        retrospect.learn_prior(GeneralizedRidge().fit([[1.0], [2.0]], [1.0, 2.0]))
    model = GeneralizedRidge(Accumulated("evidence"), fit_intercept=False).fit([[1.0, 2.0]], [1.0])
    with pytest.raises(InferenceError, match="1 row"):
        _ = model.coef_


@pytest.mark.parametrize("information", ["square_root", "moments"])
def test_a_constant_target_says_nothing_about_the_prior(information):
    """Whatever its value: what weighted centring leaves of it is rounding."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, -0.5, 0.0] + rng.normal(size=60)
    weight = rng.uniform(0.2, 2.0, 60)
    penalties = []
    for constant in (0.0, 0.1, 12.3):
        model = GeneralizedRidge(information=information)
        model.fit(X, np.column_stack([y, np.full(60, constant)]), sample_weight=weight)
        penalties.append(retrospect.learn_prior(model).prior)
    np.testing.assert_allclose(penalties[1:], penalties[0], rtol=1e-9)
