"""Cumulative scores: beside the rows themselves."""

import numpy as np
import pytest
from scipy.stats import kstest

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.errors import InferenceError
from ridgeway.information import ByTask, Moments

KINDS = ["by_task", ByTask(Moments)]


def rows(rng, n_tasks=9, n=8, p=2, jump=0.0, targets=1):
    labels = np.repeat(np.arange(n_tasks), n)
    X = rng.normal(size=(len(labels), p)) + 2.0
    y = X.sum(axis=1) + jump * (labels >= n_tasks // 2) * X[:, 0]
    y = y[:, None] + rng.normal(size=(len(labels), targets))
    return X, y[:, 0] if targets == 1 else y, labels


def expected_path(X, y, weight, labels, fit_intercept, *, pooled=False):
    """Return the path from the rows, with pseudo-inverses."""
    A = np.insert(X, 0, 1.0, axis=1) if fit_intercept else X
    y = y.reshape(len(y), -1)
    root = np.sqrt(weight)[:, None]
    left = y - A @ (np.linalg.pinv(root * A) @ (root * y))
    products, freedom = np.zeros((y.shape[1], y.shape[1])), 0
    for task in [labels >= 0] if pooled else [labels == j for j in np.unique(labels)]:
        own = root[task] * (y[task] - A[task] @ (np.linalg.pinv(root[task] * A[task]) @ (root[task] * y[task])))
        products, freedom = products + own.T @ own, freedom + task.sum() - np.linalg.matrix_rank(A[task])
    noise = np.linalg.inv(products / freedom)
    inverse = np.linalg.pinv(A.T @ (weight[:, None] * A))
    scores = [A[labels == j].T @ (weight[labels == j, None] * left[labels == j]) for j in np.unique(labels)]
    return [np.trace(noise @ S.T @ inverse @ S) for S in np.cumsum(scores, axis=0)]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("targets", [1, 2])
def test_the_path_is_that_of_the_rows(rng, kind, fit_intercept, targets):
    X, y, labels = rows(rng, jump=0.5, targets=targets)
    X[labels < 3, 1] = 1.0  # constant in some tasks
    weight = rng.uniform(0.5, 2.0, size=len(labels))
    model = GeneralizedRidge(information=kind, fit_intercept=fit_intercept).fit(X, y, weight, tasks=labels)
    found = retrospect.cusum(model)
    path = expected_path(X, y, weight, labels, fit_intercept)
    np.testing.assert_allclose(found.path, path, rtol=1e-7, atol=1e-9)
    assert found.maximum == found.path.max()
    assert found.last_before == found.tasks[int(np.argmax(path))]
    assert found.path[-1] == 0.0


def test_tasks_of_one_row_show_their_noise_together(rng):
    X, y, labels = rows(rng, n_tasks=40, n=1, jump=3.0)
    found = retrospect.cusum(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels))
    path = expected_path(X, y, np.ones(40), labels, fit_intercept=True, pooled=True)
    np.testing.assert_allclose(found.path, path, rtol=1e-7, atol=1e-9)
    assert "too small" in found.assumption
    assert abs(int(found.last_before) - 19) <= 3
    assert found.p_value < 0.01


@pytest.mark.parametrize(("n", "targets"), [(4, 1), (1, 1), (4, 2)])
def test_p_values_are_uniform_if_nothing_changes(rng, n, targets):
    X, _, labels = rows(rng, n_tasks=12, n=n, p=1)
    found = []
    for _ in range(200):
        y = X @ np.ones((1, targets)) + rng.normal(size=(len(X), targets)) @ np.triu(np.ones((targets, targets)))
        y = y[:, 0] if targets == 1 else y
        found.append(retrospect.cusum(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels)).p_value)
    assert kstest(found, "uniform").pvalue > 0.01
    assert kstest(np.array(found) ** 1.5, "uniform").pvalue < 0.01  # the control


def test_a_change_is_seen_and_the_order_matters(rng):
    X, y, labels = rows(rng, n_tasks=12, n=20, jump=0.8)
    model = GeneralizedRidge(information="by_task").fit(X, y, tasks=labels)
    found = retrospect.cusum(model)
    assert found.p_value < 0.01
    assert found.last_before == "5"
    mixed = retrospect.cusum(model, order=[0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11])
    assert mixed.maximum < found.maximum / 2
    assert mixed.tasks[:2] == ("0", "6")


def test_it_prints_and_is_a_frame(rng):
    X, y, labels = rows(rng)
    found = retrospect.cusum(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels))
    assert str(found).startswith(f"Cumulative scores of 9 tasks: maximum {found.maximum:.4g} after task")
    assert str(found).endswith(found.assumption)
    assert "<table>" in found._repr_html_()
    assert found.to_frame().loc["3", "path"] == found.path[3]


def test_refusals(rng):
    X, y, labels = rows(rng)
    with pytest.raises(InferenceError, match="only one"):
        retrospect.cusum(GeneralizedRidge(information="by_task").fit(X, y))
    few = labels < 3
    with pytest.raises(InferenceError, match="no degrees of freedom"):
        retrospect.cusum(GeneralizedRidge(information="by_task").fit(X[few][::8], y[few][::8], tasks=labels[few][::8]))
    with pytest.raises(InferenceError, match="without noise"):
        retrospect.cusum(GeneralizedRidge(information="by_task").fit(X, X[:, 0], tasks=labels))
    with pytest.raises(InferenceError, match="without noise"):
        retrospect.cusum(GeneralizedRidge(information="by_task").fit(X[:40], X[:40, 0], tasks=np.arange(40)))
