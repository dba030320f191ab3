"""The coefficients of tasks among random effects: the equations of Henderson, and their risk beside the Bayes risk."""

import numpy as np
import pytest
from grouped import drawn, learned_by_task
from scipy import stats

from ridgeway import retrospect
from ridgeway.errors import InferenceError
from ridgeway.research.theory import FixedDesignProblem
from ridgeway.weights import Accumulated


def henderson(design, y, labels, weight, D, noise, tasks, vary):
    """Return β + b of each task and their error covariances, from the equations of β and all b = L·u together."""
    p, q, k = design.shape[1], len(vary), len(tasks)
    values, vectors = np.linalg.eigh(D)
    L = vectors * np.sqrt(np.maximum(values, 0.0))  # D may be singular
    Z = np.zeros((len(y), q * k))
    for g, task in enumerate(tasks):
        Z[labels == int(task), g * q : (g + 1) * q] = design[labels == int(task)][:, vary] @ L
    W = np.column_stack([design, Z])
    left = (W.T * weight) @ W / noise
    left[p:, p:] += np.eye(q * k)
    inverse = np.linalg.inv(left)
    found = inverse @ (W.T @ (weight * y)) / noise
    places = np.eye(p)[:, vary]
    sums = [np.hstack([np.eye(p), *(places @ L * (g == h) for h in range(k))]) for g in range(k)]
    return np.array([s @ found for s in sums]), np.array([s @ inverse @ s.T for s in sums])


@pytest.mark.parametrize("n_tasks", [30, 7])
@pytest.mark.parametrize("effects", [("intercept", 0, 1), ("intercept", 1), ("intercept",), (1,)], ids=str)
def test_the_equations_of_henderson(rng, effects, n_tasks):
    X, Y, labels, weight = drawn(rng, n_tasks=n_tasks, p=2, targets=2, deviations=(1.0, 1.0))
    slopes = rng.normal(size=(n_tasks, 2))
    Y = Y + X[:, [1]] * slopes[labels]
    ours = retrospect.random_effects(learned_by_task(X, Y, labels, weight), effects)
    design = np.column_stack([np.ones(len(X)), X])
    vary = [0 if effect == "intercept" else effect + 1 for effect in effects]
    for k in range(2):
        coef, errors = henderson(
            design, Y[:, k], labels, weight, ours.covariance[k], ours.noise_variance[k], ours.tasks, vary
        )
        np.testing.assert_allclose(ours.task_coef[k], coef, rtol=1e-6, atol=1e-6)
        deviations = np.sqrt(np.diagonal(errors, axis1=1, axis2=2))
        np.testing.assert_allclose(ours.task_errors[k], deviations, rtol=1e-6)
        half = stats.norm.ppf(0.975) * deviations
        np.testing.assert_allclose(ours.task_intervals[k, :, :, 1] - ours.task_coef[k], half, rtol=1e-6)
        np.testing.assert_allclose(ours.task_intervals[k].mean(axis=-1), ours.task_coef[k])
    same = [j for j in range(3) if j not in vary]
    np.testing.assert_array_equal(
        ours.task_coef[..., same], np.broadcast_to(ours.coef[:, None, same], ours.task_coef[..., same].shape)
    )


def test_the_risk_is_close_to_the_bayes_risk():
    """w_g ~ N(w, D): the optimum is tr((S_g/σ² + D⁻¹)⁻¹), which `research.theory` gives for the best prior σ²·D⁻¹."""
    rng = np.random.default_rng(5)
    n_tasks, n, p, noise = 60, 12, 3, 2.0
    root = np.array([[0.8, 0.0, 0.0], [0.5, 0.6, 0.0], [-0.3, 0.2, 0.4]])
    D, center = root @ root.T, np.array([1.0, -2.0, 0.5])
    X = rng.normal(size=(n_tasks, n, p))
    optimum = 0.0
    for rows in X:
        problem = FixedDesignProblem([rows], noise_variance=noise, signal=D)
        risk = problem.expected_error(Accumulated(prior=noise * np.linalg.inv(D))).total[0]
        np.testing.assert_allclose(risk, np.trace(np.linalg.inv(rows.T @ rows / noise + np.linalg.inv(D))))
        optimum += risk / n_tasks
    risks = {"effects": [], "alone": [], "pooled": []}
    labels = np.repeat(np.arange(n_tasks), n)
    for _ in range(30):
        coefs = center + rng.normal(size=(n_tasks, p)) @ root.T
        y = np.einsum("gij,gj->gi", X, coefs) + np.sqrt(noise) * rng.normal(size=(n_tasks, n))
        model = learned_by_task(X.reshape(-1, p), y.ravel(), labels, fit_intercept=False)
        found = retrospect.random_effects(model, range(p))
        order = np.array(found.tasks, dtype=int)
        alone = retrospect.tasks(model).coef
        for name, coef in (("effects", found.task_coef), ("alone", alone), ("pooled", model.coef_)):
            risks[name].append(np.mean(np.sum((coef - coefs[order]) ** 2, axis=1)))
    means = {name: np.mean(values) for name, values in risks.items()}
    error = np.std(risks["effects"]) / np.sqrt(30)
    assert optimum - 3.0 * error < means["effects"] < 1.1 * optimum  # as docs/differing-tasks.md says
    assert means["alone"] > 1.9 * optimum
    assert means["pooled"] > 3.9 * optimum


def test_coverage_is_about_the_level():
    rng = np.random.default_rng(6)
    covered = []
    for _ in range(20):
        slopes = 1.0 + 0.7 * rng.normal(size=40)
        labels = np.repeat(np.arange(40), 6)
        X = rng.normal(size=(240, 1))
        y = 2.0 + slopes[labels] * X[:, 0] + rng.normal(size=240)
        found = retrospect.random_effects(learned_by_task(X, y, labels), ["intercept", 0])
        order = np.array(found.tasks, dtype=int)
        ends = found.task_intervals[:, 1]
        covered.append(np.mean((ends[:, 0] <= slopes[order]) & (slopes[order] <= ends[:, 1])))
    assert 0.92 < np.mean(covered) < 0.98


def test_a_large_task_keeps_its_own_estimate_and_a_small_one_gets_the_common_one(rng):
    sizes = np.r_[4000, 1, np.full(30, 20)]
    labels = np.repeat(np.arange(len(sizes)), sizes)
    slopes = rng.normal(size=len(sizes))
    X = rng.normal(size=(len(labels), 1))
    y = slopes[labels] * X[:, 0] + 3.0 * rng.normal(size=len(labels))
    model = learned_by_task(X, y, labels)
    found, alone = retrospect.random_effects(model, ["intercept", 0]), retrospect.tasks(model)
    large, small = found.tasks.index("0"), found.tasks.index("1")
    assert abs(found.task_coef[large, 1] - alone.coef[large, 1]) < 0.02
    assert abs(found.task_coef[small, 1] - found.coef[1]) < 0.5
    assert np.isnan(alone.coef[small]).any()


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
def test_terms_that_the_rows_do_not_determine_have_no_error(rng):
    X, y, labels, _ = drawn(rng, p=2)
    plain = retrospect.random_effects(learned_by_task(X, y, labels), ["intercept", 0])
    found = retrospect.random_effects(learned_by_task(np.column_stack([X, X[:, 1]]), y, labels), ["intercept", 0])
    assert found.not_estimable == ("x1", "x2")
    assert np.isinf(found.task_errors[:, 2:]).all()
    assert np.isinf(found.task_intervals[:, 2:]).all()
    np.testing.assert_allclose(found.task_errors[:, :2], plain.task_errors[:, :2], rtol=1e-6)


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
def test_refused(rng):
    X, y, labels, _ = drawn(rng, p=2)
    with pytest.raises(InferenceError, match="collinear"):
        retrospect.random_effects(learned_by_task(np.column_stack([X, X[:, 0]]), y, labels), ["intercept", 0, 1, 2])
    with pytest.raises(InferenceError, match="from 1 task;"):
        retrospect.random_effects(learned_by_task(X, y, 0 * labels))
    with pytest.raises(InferenceError, match="too few to tell the noise"):
        retrospect.random_effects(learned_by_task(X[:9], y[:9], np.arange(9) // 3), ["intercept", 0, 1])
