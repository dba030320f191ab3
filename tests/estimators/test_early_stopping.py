"""Early stopping: its definition step by step, the closed form, and Theorem (early stopping) in both directions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from ridgeway import EarlyStopping, GeneralizedRidge, MinimumNorm, weights
from ridgeway.errors import InvalidParameterError
from ridgeway.weights import _gradient


def descend(X, y, coef, rate, n_steps):
    """The paper's algorithm, as it stands."""
    for _ in range(n_steps):
        coef = coef - rate @ (X.T @ (X @ coef - y)) / len(X)
    return coef


def positive_definite(rng, p):
    F = rng.normal(size=(p, p))
    return F @ F.T + 0.1 * np.eye(p)


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 6), st.integers(0, 40), st.booleans(), st.booleans())
def test_definition_and_closed_form(seed, n, p, n_steps, matrix, fit_intercept):
    rng = np.random.default_rng(seed)
    model = EarlyStopping(n_steps=n_steps, fit_intercept=fit_intercept, initial_coef=rng.normal(size=p))
    coef, matrices = model.initial_coef, []
    for _ in range(3):
        X, y = rng.normal(size=(n, p)) + 1.0, rng.normal(size=n)
        A, b = (X - X.mean(axis=0), y - y.mean()) if fit_intercept else (X, y)
        rate = positive_definite(rng, p) if matrix else np.eye(p)
        largest = np.abs(np.linalg.eigvals(rate @ A.T @ A / n)).max()
        rate = rate * rng.uniform(0.05, 1.9) / max(largest, 1e-3)
        matrices.append(rate)
        model.set_params(learning_rate=matrices if matrix else [r[0, 0] for r in matrices])
        model.partial_fit(X, y)
        coef = descend(A, b, coef, rate, n_steps)
        assert_allclose(model.coef_, coef, rtol=1e-9, atol=1e-10)
        assert_allclose(model.intercept_, (y.mean() - X.mean(axis=0) @ model.coef_) * fit_intercept, atol=1e-12)


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("shape", [(40, 60), (60, 40)])
@pytest.mark.parametrize("targets", [(), (3,)])
def test_plain_steps_and_closed_form_give_the_same(monkeypatch, matrix, shape, targets):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=shape), rng.normal(size=(shape[0], *targets))
    rate = positive_definite(rng, shape[1]) if matrix else None
    if matrix:
        rate /= np.abs(np.linalg.eigvals(rate @ X.T @ X / len(X))).max()
    answers = []
    for few in (1, 10**9):
        monkeypatch.setattr(_gradient, "STEPS_PER_SIDE", few)
        answers.append(EarlyStopping(rate, n_steps=2).fit(X, y, np.linspace(0.5, 2, len(X))).coef_)
    assert_allclose(answers[0], answers[1], rtol=1e-11)


@pytest.mark.parametrize("n_steps", [1, 3, 50])
def test_early_stopping_equals_generalized_ridge(n_steps):
    """Thm (early stopping): λ_j = γ_j(1 − s_jγ_j)^m / (1 − (1 − s_jγ_j)^m), and back."""
    rng = np.random.default_rng(2)
    p = 5
    rates, matrices, tasks = [], [], []
    for _ in range(4):
        X, y = rng.normal(size=(9, p)), rng.normal(size=9)
        gamma, U = np.linalg.eigh(X.T @ X / 9)
        s = rng.uniform(0.1, 0.9, p) / gamma
        left = (1 - s * gamma) ** n_steps
        rates.append(U @ np.diag(s) @ U.T)
        matrices.append(U @ np.diag(gamma * left / (1 - left)) @ U.T)
        tasks.append((X, y))
    stopped = EarlyStopping(rates, n_steps, fit_intercept=False)
    regularized = GeneralizedRidge(weights.Explicit(matrices), fit_intercept=False)
    for X, y in tasks:
        assert_allclose(stopped.partial_fit(X, y).coef_, regularized.partial_fit(X, y).coef_, rtol=1e-10)

    # Back: for a given H_t, s_j = (1 − (λ_j/(γ_j + λ_j))^(1/m))/γ_j.
    stopped, regularized = EarlyStopping(n_steps=n_steps, fit_intercept=False), GeneralizedRidge(fit_intercept=False)
    rates, matrices = [], []
    for X, y in tasks:
        gamma, U = np.linalg.eigh(X.T @ X / 9)
        penalty = rng.uniform(0.2, 5.0, p)
        rates.append(U @ np.diag((1 - (penalty / (gamma + penalty)) ** (1 / n_steps)) / gamma) @ U.T)
        matrices.append(U @ np.diag(penalty) @ U.T)
        stopped.set_params(learning_rate=rates).partial_fit(X, y)
        regularized.set_params(weights=weights.Explicit(matrices)).partial_fit(X, y)
        assert_allclose(stopped.coef_, regularized.coef_, rtol=1e-10)


@pytest.mark.parametrize("n_steps", [1, 4, 30])
def test_any_positive_definite_learning_rate_has_a_weight_matrix(n_steps):
    """H = A^−½ V diag(λ(d)) Vᵀ A^−½ with A^½ΣA^½ = V diag(d) Vᵀ: no shared eigenvectors needed."""
    rng = np.random.default_rng(3)
    p = 4
    stopped = EarlyStopping(n_steps=n_steps, fit_intercept=False)
    regularized = GeneralizedRidge(fit_intercept=False)
    rates, matrices = [], []
    for _ in range(3):
        X, y = rng.normal(size=(7, p)), rng.normal(size=7)
        A = positive_definite(rng, p)
        A = 0.9 * A / np.abs(np.linalg.eigvals(A @ X.T @ X / 7)).max()
        a, W = np.linalg.eigh(A)
        root, inverse = W @ np.diag(np.sqrt(a)) @ W.T, W @ np.diag(1 / np.sqrt(a)) @ W.T
        d, V = np.linalg.eigh(root @ X.T @ X @ root / 7)
        left = (1 - d) ** n_steps
        rates.append(A)
        matrices.append(inverse @ V @ np.diag(d * left / (1 - left)) @ V.T @ inverse)
        stopped.set_params(learning_rate=rates).partial_fit(X, y)
        regularized.set_params(weights=weights.Explicit(matrices)).partial_fit(X, y)
        assert_allclose(stopped.coef_, regularized.coef_, rtol=1e-9)
        wrong = GeneralizedRidge(weights.Explicit([1.001 * matrices[0]]), fit_intercept=False)
        assert not np.allclose(
            wrong.fit(X, y).coef_, EarlyStopping(rates[:1], n_steps, fit_intercept=False).fit(X, y).coef_
        )


def test_many_steps_tend_to_minimum_norm():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(5, 9)), rng.normal(size=5)
    assert_allclose(EarlyStopping(n_steps=10**9).fit(X, y).coef_, MinimumNorm().fit(X, y).coef_, rtol=1e-10)


@pytest.mark.parametrize("n_steps", [1, 100])
@pytest.mark.parametrize("shape", [(20, 20), (8, 20)])
def test_a_diverging_step_size_is_refused_and_the_largest_named(n_steps, shape):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    A = X - X.mean(axis=0)
    most = 2.0 / np.linalg.eigvalsh(A.T @ A / len(A))[-1]
    with pytest.raises(InvalidParameterError, match=f"below 2/γ_max = {most:.9g}"):
        EarlyStopping(1.0001 * most, n_steps).fit(X, y)
    EarlyStopping(0.9999 * most, n_steps).fit(X, y)
    with pytest.raises(InvalidParameterError, match="Multiply the matrix by less than"):
        EarlyStopping(1.0001 * most * np.eye(shape[1]), n_steps).fit(X, y)
    EarlyStopping(0.9999 * most * np.eye(shape[1]), n_steps).fit(X, y)


def test_schedules():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    listed = EarlyStopping([0.1, 0.2], n_steps=[3, 4])
    called = EarlyStopping(lambda t: 0.1 * t, n_steps=lambda t: t + 2)
    stacked = EarlyStopping(np.array([0.1 * np.eye(2), 0.2 * np.eye(2)]), n_steps=np.array([3, 4]))
    for model in (listed, called, stacked):
        model.partial_fit(X, y).partial_fit(X, y)
    assert_allclose(listed.coef_, called.coef_)
    assert_allclose(listed.coef_, stacked.coef_)
    with pytest.raises(AttributeError, match="no rank_"):
        _ = listed.rank_


def test_a_task_of_constant_columns_teaches_nothing():
    model = EarlyStopping(initial_coef=[1.0, 2.0]).fit(np.ones((40, 2)), np.arange(40.0))
    assert_allclose(model.coef_, [1.0, 2.0])
