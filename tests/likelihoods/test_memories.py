"""Several tasks: what quadratic and cubic memories keep, against the same written out on the rows."""

import numpy as np
import pytest
from glm_rows import LIKELIHOODS, MODELS, draw, learned, penalized
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from ridgeway import GeneralizedLogistic, weights
from ridgeway.data import Task
from ridgeway.likelihoods import Gaussian, Observed, Polynomial, climb
from ridgeway.weights import AccumulatedLikelihood, Origin


def taylor(family, design, y, centre, order):
    """Return value and gradient of a task's Taylor polynomial at `centre`, row by row, as functions of θ."""
    likelihood, seen = LIKELIHOODS[family], np.asarray(y, dtype=float)[:, None]
    slopes = likelihood.slopes((design @ centre)[:, None], seen)
    first, second, third = slopes.gradient[:, 0], -slopes.curvature[:, 0, 0], slopes.third[:, 0, 0, 0] * (order > 2)
    start = likelihood.value((design @ centre)[:, None], seen).sum()

    def at(theta):
        move = design @ (theta - centre)
        value = start + (first * move + second * move**2 / 2.0 + third * move**3 / 6.0).sum()
        return value, design.T @ (first + second * move + third * move**2 / 2.0)

    return at


def by_rows(family, tasks, prior, order):
    """Return ŵ_t after each task: the past as Taylor polynomials of its rows, each about its own estimate."""
    theta, past, path = np.zeros(tasks[0][0].shape[1] + 1), [], []
    likelihood = LIKELIHOODS[family]
    penalty = prior * np.append(np.ones(len(theta) - 1), 0.0)
    for X, y in tasks:
        design, seen = np.column_stack([X, np.ones(len(X))]), np.asarray(y, dtype=float)[:, None]

        def loss(theta, design=design, seen=seen):
            eta = (design @ theta)[:, None]
            value = likelihood.value(eta, seen).sum() - 0.5 * penalty @ theta**2
            slope = design.T @ likelihood.slopes(eta, seen).gradient[:, 0] - penalty * theta
            parts = [polynomial(theta) for polynomial in past]
            return -value - sum(part[0] for part in parts), -slope - sum(part[1] for part in parts)

        theta = minimize(loss, theta, jac=True, method="BFGS", options={"gtol": 1e-9}).x
        past.append(taylor(family, design, y, theta, order))
        path.append(theta)
    return np.array(path)


@pytest.mark.parametrize(("memory", "order"), [("quadratic", 2), ("cubic", 3)])
@pytest.mark.parametrize("family", MODELS)
@pytest.mark.filterwarnings("ignore:Desired error not necessarily")
def test_the_past_is_the_taylor_polynomials_of_its_rows(family, memory, order):
    rng = np.random.default_rng(2)
    X, y = draw(rng, family, 160, 2)
    X /= X.std(axis=0)
    cuts = [40, 90, 130]
    tasks = list(zip(np.split(X, cuts), np.split(y, cuts), strict=True))
    expected = by_rows(family, tasks, 0.7, order)
    model = MODELS[family](weights.Accumulated(prior=0.7), memory=memory)
    for (rows, seen), there in zip(tasks, expected, strict=True):
        model.partial_fit(rows, seen)
        np.testing.assert_allclose([*model.coef_, model.intercept_], there, atol=2e-6)
    other = by_rows(family, tasks, 0.7, 5 - order)[-1]
    assert np.abs(other - expected[-1]).max() > 1e-5  # the control: the other memory is another estimate


@pytest.mark.parametrize("memory", ["quadratic", "cubic"])
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.booleans())
@settings(max_examples=20, deadline=None)
def test_gaussian_rows_are_remembered_exactly(memory, seed, p, intercept):
    """Their log-likelihood is a quadratic: the sequence is the pooled fit, in any order."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, p)) + rng.normal(size=p), rng.normal(size=(60, 1))
    policy = AccumulatedLikelihood(0.5, 1.0, Gaussian(), memory)
    state = policy.start(Origin(np.zeros((p, 1)), centered=intercept))
    for rows in np.split(rng.permutation(60), [7, 20, 41]):
        state = policy.step(state, Task.of(X[rows], y[rows]))
    design = np.column_stack([X, np.ones(60)]) if intercept else X
    prior = np.diag(np.append(np.full(p, 0.5), [0.0] * intercept))
    expected = np.linalg.solve(design.T @ design + prior, design.T @ y)[:, 0]
    found = np.append(state.answer.coef[:, 0], state.answer.intercept[:intercept])
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    covariance = np.linalg.inv(design.T @ design + prior)
    np.testing.assert_allclose(state.covariance(), covariance, rtol=1e-7, atol=1e-10)


def distance(model, pooled):
    return np.max(np.abs(model.coef_ - pooled.coef_) / pooled.standard_errors_)


@pytest.mark.parametrize("family", MODELS)
def test_cubic_is_closer_than_quadratic_than_anchored_than_the_last_task(family):
    kinds = [{"memory": "cubic"}, {"memory": "quadratic"}]
    kinds += [{"weights": weights.Isotropic(0.1)}, {"weights": weights.Zero()}]
    away = []
    for seed in range(10):
        X, y = draw(np.random.default_rng(seed), family, 900, 3)
        X /= X.std(axis=0)
        pooled = MODELS[family]().fit(X, y)
        models = [learned(MODELS[family](**kind), X, y, np.arange(100, 900, 100)) for kind in kinds]
        away.append([distance(model, pooled) for model in models])
    typical = np.median(away, axis=0)
    assert (np.diff(typical) > 0.0).all()
    assert typical[0] < 0.5 * typical[1] < 0.1 * typical[2]


STREAMS = [(100, 5, 2), (200, 5, 2), (200, 10, 3), (400, 10, 3)]
"""Rows of a task, tasks and features."""


@pytest.mark.parametrize(
    ("kind", "typical", "largest"),
    [({"memory": "cubic"}, 0.01, 0.1), ({"memory": "quadratic"}, 0.1, 0.5)],
    ids=["cubic", "quadratic"],
)
@pytest.mark.parametrize("family", MODELS)
def test_streams_end_near_the_pooled_fit(family, kind, typical, largest):
    policy, away, last = weights.Accumulated(prior=0.1), [], []
    for n, n_tasks, p in STREAMS:
        for seed in range(8):
            X, y = draw(np.random.default_rng(seed), family, n * n_tasks, p, size=0.4)
            cuts = np.arange(n, n * n_tasks, n)
            pooled = MODELS[family](policy).fit(X, y)
            away.append(distance(learned(MODELS[family](policy, **kind), X, y, cuts), pooled))
            last.append(distance(MODELS[family](policy).fit(X[-n:], y[-n:]), pooled))
    assert np.median(away) < typical
    assert np.max(away) < largest
    assert np.median(last) > 1.0  # the control


def test_faded_tasks_end_near_the_fading_fit():
    """With decay γ the pooled fit has weights γ^(T − t), and the prior γ^T."""
    for seed in range(8):
        X, y = draw(np.random.default_rng(seed), "binomial", 1200, 2, size=0.4)
        model = learned(GeneralizedLogistic(weights.Accumulated(0.5, decay=0.8), memory="cubic"), X, y, [300, 600, 900])
        faded = 0.8 ** np.repeat([3.0, 2.0, 1.0, 0.0], 300)
        policy = weights.Accumulated(0.5 * 0.8**4)
        assert distance(model, GeneralizedLogistic(policy).fit(X, y, sample_weight=faded)) < 0.01
        assert distance(model, GeneralizedLogistic(policy).fit(X, y)) > 0.02  # the control


@pytest.mark.parametrize("memory", ["quadratic", "cubic"])
@pytest.mark.parametrize("family", MODELS)
def test_merging_adds_the_polynomials(family, memory):
    """The merged past has, everywhere, the value of the sum, whatever X is taken about."""
    rng = np.random.default_rng(5)
    X, y = draw(rng, family, 300, 3)
    X[150:] += 1.0
    policy = weights.Accumulated(prior=0.3)
    one, two = (
        learned(MODELS[family](policy, memory=memory), X[part], y[part], [70]) for part in (slice(150), slice(150, 300))
    )
    both = one.merge(two)
    assert both.n_tasks_ == 4
    assert both.n_samples_seen_ == 300
    for _ in range(5):
        w, b = rng.normal(size=3), rng.normal()
        values = [each.state_.past.at(np.append(w, b + each.state_.about @ w)).value for each in (one, two, both)]
        assert values[2] == pytest.approx(values[0] + values[1], rel=1e-9)
    there = both.state_.held()
    np.testing.assert_allclose(there.gradient, 0.0, atol=1e-7 * np.abs(there.curvature).max())
    pooled = MODELS[family](policy).fit(X, y)
    assert distance(both, pooled) < (0.3 if memory == "cubic" else 1.0)
    backwards = two.merge(one)
    np.testing.assert_allclose(backwards.coef_, both.coef_, rtol=1e-6)
    assert distance(one, pooled) > distance(both, pooled)


@pytest.mark.parametrize("memory", ["quadratic", "cubic"])
@pytest.mark.parametrize("intercept", [True, False])
def test_models_of_three_classes_and_without_an_intercept_are_merged(memory, intercept):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(600, 2))
    y = np.digitize(X @ [1.0, -1.0] + rng.logistic(size=600), [-1.0, 1.0])
    policy = weights.Accumulated(prior=0.3)
    settings_ = {"weights": policy, "memory": memory, "fit_intercept": intercept}
    for labels in (y, y > 0):
        one, two = (GeneralizedLogistic(**settings_).fit(X[i : i + 300], labels[i : i + 300]) for i in (0, 300))
        both, pooled = one.merge(two), GeneralizedLogistic(policy, fit_intercept=intercept).fit(X, labels)
        away = [np.max(np.abs(model.coef_ - pooled.coef_) / pooled.standard_errors_) for model in (both, one)]
        assert away[0] < (0.05 if memory == "cubic" else 0.3) < away[1]
    assert intercept or both.intercept_error_ == both.intercept_ == 0.0


@pytest.mark.parametrize("family", MODELS)
def test_decay_multiplies_what_the_past_says(family):
    """Two tasks under decay γ: the first counts γ, the prior γ². Brute force on the rows, with an exact Taylor past."""
    X, y = draw(np.random.default_rng(6), family, 200, 2)
    model = learned(MODELS[family](weights.Accumulated(prior=1.0, decay=1e-9), memory="cubic"), X, y, [100])
    last = MODELS[family]().fit(X[100:], y[100:])
    np.testing.assert_allclose(model.coef_, last.coef_, atol=1e-5)
    first = MODELS[family](weights.Accumulated(prior=2.0, decay=0.5)).fit(X[:100], y[:100])
    np.testing.assert_allclose(first.coef_, penalized(family, X[:100], y[:100], np.eye(2))[1:], atol=1e-5)


def test_anchored_policies_solve_the_step_of_the_paper():
    """min −(1/n_t)·loglik + ½‖w − ŵ_{t−1}‖²_H, with H as each policy gives it."""
    X, y = draw(np.random.default_rng(7), "binomial", 120, 2)
    matrix = np.array([[0.3, 0.1], [0.1, 0.2]])
    model = GeneralizedLogistic(weights.Explicit(lambda t: matrix), fit_intercept=False).fit(X[:60], y[:60])
    before = model.coef_.copy()
    after = model.partial_fit(X[60:], y[60:]).coef_
    slope = X[60:].T @ (y[60:] - 1.0 / (1.0 + np.exp(-X[60:] @ after))) / 60
    np.testing.assert_allclose(slope, matrix @ (after - before), atol=1e-9)
    assert np.abs(slope).max() > 1e-3


def test_a_policy_of_ones_own_sees_rows_times_the_root_of_their_curvature():
    seen = []

    class Diagonal(weights.PenaltyPolicy):
        def weight(self, memory, rows):
            return 0.0 if memory is None else memory / rows.total_weight

        def remember(self, memory, rows):
            seen.append(rows)
            return np.square(rows.X).sum(axis=0) + (0.0 if memory is None else memory)

    X, y = draw(np.random.default_rng(8), "binomial", 100, 2)
    model = learned(GeneralizedLogistic(Diagonal(), fit_intercept=False), X, y, [50])
    mean = 1.0 / (1.0 + np.exp(-X[50:] @ model.coef_))
    np.testing.assert_allclose(seen[-1].X, np.sqrt(mean * (1.0 - mean))[:, None] * X[50:], rtol=1e-9)
    assert seen[-1].total_weight == 50


def test_steps_stay_where_the_curvature_of_a_cubic_is_positive():
    """A task that contradicts the past: the maximum would be where the cubic is not concave any more."""
    past = Polynomial(np.zeros(1), 0.0, np.zeros(1), np.array([[50.0]]), np.array([[400.0]]))
    X, y = np.ones((30, 1)), np.ones((30, 1))
    task = Observed(LIKELIHOODS["binomial"], Task.of(X, y), None)
    found = climb(task, [past], np.zeros(1), about=None, size=30)
    kept = past.damped(found.share).at(found.theta)
    assert 0.0 < found.share < 1.0
    assert kept.curvature[0, 0] >= 0.1 * 50.0 - 1e-9
    slope = task.expand(found.theta).gradient + kept.gradient
    assert abs(slope[0]) < 1e-6
    wild = np.linspace(0.0, 3.0, 301)
    values = [task.value(np.array([at])) + past.at(np.array([at])).value for at in wild]
    assert values[-1] > values[0] + 100.0  # the control: the sum is unbounded


def test_a_cubic_that_is_not_trusted_is_no_worse_than_a_quadratic():
    """Counts from predictors with heavy tails, whose logarithms are not linear: early estimates are far off."""
    away = {"quadratic": [], "cubic": []}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(3, size=(900, 2))
        y = rng.poisson(np.exp(np.clip(X @ [0.8, -0.5], -8.0, 3.0)))
        pooled = MODELS["poisson"](weights.Accumulated(1.0)).fit(X, y)
        for memory, found in away.items():
            model = learned(MODELS["poisson"](weights.Accumulated(1.0), memory=memory), X, y, [300, 600])
            np.testing.assert_allclose(model.state_.held().gradient, 0.0, atol=1e-5)
            found.append(distance(model, pooled))
    assert np.median(away["cubic"]) < np.median(away["quadratic"])
    assert np.max(away["cubic"]) < 1.5 * np.max(away["quadratic"])


def test_a_contradicting_stream_stays_finite():
    """Each task pulls the other way, from rows with large predictors."""
    rng = np.random.default_rng(9)
    model = GeneralizedLogistic(weights.Accumulated(prior=0.1), memory="cubic")
    for turn in range(12):
        X = 3.0 * rng.normal(size=(40, 2))
        y = ((-1.0) ** turn * X[:, 0] + 0.3 * rng.normal(size=40) > 0.0).astype(int)
        model.partial_fit(X, y)
        assert np.abs(model.coef_).max() < 20.0
        assert (np.linalg.eigvalsh(model.state_.held().curvature) > 0.0).all()
