"""The identities of the paper and of pooled least squares, for every shape, rank and scale (bar: to 1e-10)."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from problems import assert_same_model, difficulty, sequences

from ridgeway import ContinualRidge, EarlyStopping, GeneralizedRidge, MinimumNorm, Oracle, weights
from ridgeway.errors import RemovalError

pytestmark = pytest.mark.filterwarnings("ignore::ridgeway.errors.PrecisionWarning")

KINDS = {"square_root": 1e-10, "moments": 1e-5}
"""Each kind of information, and the smallest equilibrated singular value that it is asked to tell from zero."""


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=150)
@given(data=st.data())
def test_accumulated_equals_the_oracle_after_every_task(kind, data):
    sequence = data.draw(sequences(most_tasks=30, collinear=9 if kind == "square_root" else 4))
    model = GeneralizedRidge(information=kind, fit_intercept=sequence.fit_intercept)
    oracle = Oracle(fit_intercept=sequence.fit_intercept)
    for number, task in enumerate(sequence.tasks, start=1):
        model.partial_fit(*task)
        oracle.partial_fit(*task)
        X, y, weight = sequence.pooled(number)
        d = difficulty(X, weight, sequence.fit_intercept)
        if d.smallest > 10 * KINDS[kind] * d.magnified:
            assert model.rank_ == oracle.rank_
            assert_same_model(model, oracle, X, y, weight, squared=kind == "moments")


def test_the_comparison_can_fail():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    oracle = Oracle().fit(X, y)
    for wrong in (
        GeneralizedRidge(weights.Accumulated(prior=1e-7)).fit(X, y),
        GeneralizedRidge(weights.Accumulated(decay=1 - 1e-8)).fit(X, y, tasks=np.arange(40) // 20),
        GeneralizedRidge().fit(X * [1.0, 1.0, 1 + 1e-8], y),
        GeneralizedRidge().fit(X, y, np.where(np.arange(40) == 7, 1 + 1e-6, 1.0)),
    ):
        with pytest.raises(AssertionError):
            assert_same_model(wrong, oracle, X, y, None, squared=False)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=80)
@given(data=st.data())
def test_order_and_cutting_do_not_matter(kind, data):
    sequence = data.draw(sequences(collinear=3))
    X, y, weight = sequence.pooled()
    d = difficulty(X, weight, sequence.fit_intercept)
    assume(d.smallest > 10 * KINDS[kind] * d.magnified)
    whole = GeneralizedRidge(information=kind, fit_intercept=sequence.fit_intercept).fit(X, y, weight)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    order = rng.permutation(len(X))
    labels = np.sort(rng.integers(0, data.draw(st.integers(1, 9)), len(X)))
    part = None if weight is None else weight[order]
    cut = GeneralizedRidge(information=kind, fit_intercept=sequence.fit_intercept)
    cut.fit(X[order], y[order], part, tasks=labels)
    assert cut.n_tasks_ == len(set(labels))
    assert_same_model(cut, whole, X, y, weight, squared=kind == "moments")


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=80)
@given(data=st.data())
def test_merge_is_associative_and_equals_learning_together(kind, data):
    sequence = data.draw(sequences(most_tasks=5, collinear=3))
    assume(len(sequence.tasks) >= 3)
    X, y, weight = sequence.pooled()
    prior = data.draw(st.sampled_from([0.0, 0.5]))
    d = difficulty(X, weight, sequence.fit_intercept, prior)
    assume(d.smallest > 10 * KINDS[kind] * d.magnified)
    policy = weights.Accumulated(prior=prior)
    together = GeneralizedRidge(policy, information=kind, fit_intercept=sequence.fit_intercept)
    alone = []
    for task in sequence.tasks:
        together.partial_fit(*task)
        alone.append(
            GeneralizedRidge(policy, information=kind, fit_intercept=sequence.fit_intercept).partial_fit(*task)
        )
    left = right = None
    for model in alone:
        left = model if left is None else left.merge(model)
    for model in reversed(alone):
        right = model if right is None else model.merge(right)
    for merged in (left, right):
        assert (merged.n_tasks_, merged.n_samples_seen_) == (together.n_tasks_, together.n_samples_seen_)
        assert_same_model(merged, together, X, y, weight, squared=kind == "moments", prior=prior)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=150)
@given(data=st.data())
def test_remove_after_add_equals_never_or_is_refused(kind, data):
    sequence = data.draw(sequences(most_tasks=4, collinear=2))
    assume(len(sequence.tasks) >= 2)
    *kept, gone = sequence.tasks
    never = GeneralizedRidge(information=kind, fit_intercept=sequence.fit_intercept)
    for task in kept:
        never.partial_fit(*task)
    model = GeneralizedRidge(information=kind, fit_intercept=sequence.fit_intercept)
    for task in (kept[0], gone, *kept[1:]):
        model.partial_fit(*task)
    before = model.coef_
    X, _, weight = sequence.pooled(len(kept))
    d = difficulty(X, weight, sequence.fit_intercept)
    if never.rank_ < X.shape[1]:
        with pytest.raises(RemovalError, match=r"full rank|nothing would remain"):
            model.remove(*gone)
        np.testing.assert_array_equal(model.coef_, before)
    else:
        assume(d.smallest > 1e-3)
        model = model.remove(*gone)
        assert (model.n_tasks_, model.n_samples_seen_) == (never.n_tasks_, never.n_samples_seen_)
        scale = np.where(np.isfinite(d.norms), d.norms, 0.0)
        lost = 10.0**model.digits_lost_
        difference = np.abs((model.coef_ - never.coef_) * scale).max()
        assert difference <= 1e-13 * lost * d.magnified * d.condition**2 * max(np.abs(never.coef_ * scale).max(), 1.0)


@settings(max_examples=80)
@given(sequences(most_tasks=4), st.booleans())
def test_minimum_norm_is_the_limit_of_continual_ridge(sequence, dual):
    X, _, weight = sequence.tasks[0]
    minimum_norm = MinimumNorm(fit_intercept=sequence.fit_intercept)
    ridge = [ContinualRidge(penalty, fit_intercept=sequence.fit_intercept) for penalty in (0.0, 1e-300)]
    tasks = [(X[:3], y[:3], None if w is None else w[:3]) for X, y, w in sequence.tasks] if dual else sequence.tasks
    for X, y, weight in tasks:
        minimum_norm.partial_fit(X, y, weight)
        for model in ridge:
            model.partial_fit(X, y, weight)
            assert_allclose(model.coef_, minimum_norm.coef_, rtol=1e-8)


@pytest.mark.parametrize("shape", [(5, 9), (9, 5), (7, 7)])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_continual_ridge_tends_to_minimum_norm(shape, fit_intercept):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    exact = MinimumNorm(fit_intercept=fit_intercept).fit(X, y).coef_
    errors = [
        np.linalg.norm(ContinualRidge(10.0**-k, fit_intercept=fit_intercept).fit(X, y).coef_ - exact)
        for k in (4, 8, 12)
    ]
    assert errors[1] < errors[0] * 1e-3
    assert errors[2] < 1e-9 * np.linalg.norm(exact)


@settings(max_examples=60)
@given(sequences(most_tasks=5), st.floats(1e-3, 1e3))
def test_continual_ridge_solves_its_definition(sequence, penalty):
    """The definition, by brute force on the stacked rows."""
    model = ContinualRidge(penalty, fit_intercept=sequence.fit_intercept)
    policy = GeneralizedRidge(weights.Isotropic(penalty), fit_intercept=sequence.fit_intercept)
    last = None
    for X, y, weight in sequence.tasks:
        last = np.zeros((X.shape[1], *y.shape[1:])) if last is None else last
        w = np.ones(len(X)) if weight is None else weight
        center = sequence.fit_intercept
        A = np.sqrt(w / w.sum())[:, None] * (X - center * (w @ X) / w.sum())
        b = np.sqrt(w / w.sum()).reshape(-1, *[1] * (y.ndim - 1)) * (y - center * (w @ y) / w.sum())
        p = X.shape[1]
        stacked = np.vstack([A, np.sqrt(penalty) * np.eye(p)])
        right = np.concatenate([b - A @ last, np.zeros((p, *y.shape[1:]))])
        last = last + np.linalg.lstsq(stacked, right, rcond=1e-18)[0]
        model.partial_fit(X, y, weight)
        policy.partial_fit(X, y, weight)
        scale = np.linalg.norm(stacked, axis=0)
        size = np.abs(last.T * scale).max() + np.abs(y).max()
        tolerance = 1e-12 + 1e-14 * np.linalg.cond(stacked) ** 2
        if tolerance < 1e-4:
            assert_allclose(model.coef_ * scale, last.T * scale, atol=tolerance * size)
        np.testing.assert_array_equal(model.coef_, policy.coef_)
        assert model.rank_ == p


@settings(max_examples=60)
@given(sequences(most_tasks=5, deficient=False), st.sampled_from([0.0, 0.7]))
def test_explicit_with_the_practical_weight_matrix_equals_accumulated(sequence, prior):
    p = sequence.tasks[0][0].shape[1]
    matrices, information = [], prior * np.eye(p)
    for X, _, weight in sequence.tasks:
        w = np.ones(len(X)) if weight is None else weight
        matrices.append(information / w.sum())
        information = information + (w[:, None] * X).T @ X
    explicit = GeneralizedRidge(weights.Explicit(matrices), fit_intercept=False)
    accumulated = GeneralizedRidge(weights.Accumulated(prior=prior), fit_intercept=False)
    for number, task in enumerate(sequence.tasks, start=1):
        explicit.partial_fit(*task)
        accumulated.partial_fit(*task)
        X, y, weight = sequence.pooled(number)
        if difficulty(X, weight, False, prior).smallest > 1e-3:
            assert_same_model(explicit, accumulated, X, y, weight, squared=True, prior=prior)


@pytest.mark.parametrize("prior", ["scalar", "vector", "matrix"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_prior_is_counted_once_and_spares_the_intercept(prior, kind, fit_intercept):
    rng = np.random.default_rng(8)
    p = 6
    start = rng.normal(size=p)
    F = rng.normal(size=(p, p))
    value, P = {
        "scalar": (2.0, 2.0 * np.eye(p)),
        "vector": (np.arange(p), np.diag(np.arange(p))),
        "matrix": (F.T @ F, F.T @ F),
    }[prior]
    model = GeneralizedRidge(
        weights.Accumulated(prior=value), information=kind, fit_intercept=fit_intercept, initial_coef=start
    )
    Xs, ys = rng.normal(size=(3, 4, p)) + 5.0, rng.normal(size=(3, 4)) + 100.0
    for X, y in zip(Xs, ys, strict=True):
        model.partial_fit(X, y)
    X, y = Xs.reshape(-1, p), ys.ravel()
    A, b = (X - X.mean(axis=0), y - y.mean()) if fit_intercept else (X, y)
    expected = np.linalg.solve(A.T @ A + P, A.T @ b + P @ start)
    assert_allclose(model.coef_, expected, rtol=1e-10)
    intercept = y.mean() - X.mean(axis=0) @ expected if fit_intercept else 0.0
    assert_allclose(model.intercept_, intercept, rtol=1e-10)
    assert model.rank_ == p


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_decay_is_that_of_online_ewc(kind, fit_intercept):
    rng = np.random.default_rng(9)
    p, decay, P = 4, 0.8, np.diag([1.0, 2.0, 0.0, 3.0])
    start = rng.normal(size=p)
    model = GeneralizedRidge(
        weights.Accumulated(prior=np.diag(P), decay=decay),
        information=kind,
        fit_intercept=fit_intercept,
        initial_coef=start,
    )
    seen, now, J, last = [], [], P, start
    for t in range(5):
        X, y = rng.normal(size=(6, p)) + 1.0, rng.normal(size=6) + 3.0
        model.partial_fit(X, y)
        seen.append((X, y))
        now = [decay ** (t - s) for s in range(t + 1) for _ in range(6)]
        J = decay * J
        if not fit_intercept:  # the recursion of the paper's H_t, step by step
            last = np.linalg.solve(J + X.T @ X, J @ last + X.T @ y)
            J = J + X.T @ X
            assert_allclose(model.coef_, last, rtol=1e-9)
    X, y, w = np.vstack([X for X, _ in seen]), np.concatenate([y for _, y in seen]), np.array(now)
    if fit_intercept:
        X, y = X - w @ X / w.sum(), y - w @ y / w.sum()
    fade = decay**5 * P
    assert_allclose(model.coef_, np.linalg.solve((w[:, None] * X).T @ X + fade, (w * y) @ X + fade @ start), rtol=1e-9)
    assert_allclose(model.information_.total_weight, w.sum(), rtol=1e-14)
    assert_allclose(model.information_.log_weight, np.log(w).sum(), rtol=1e-12)


@settings(max_examples=60)
@given(sequences(most_tasks=3, deficient=False, scaled=False), st.integers(0, 99))
def test_doubling_a_weight_equals_repeating_the_row(sequence, seed):
    X, y, _ = sequence.pooled()
    d = difficulty(X, None, sequence.fit_intercept)
    assume(d.smallest > 1e-3)
    double = np.random.default_rng(seed).integers(0, 3, len(X)).astype(float)
    double[0] = 2.0
    again = np.repeat(np.arange(len(X)), double.astype(int))
    for model in (
        GeneralizedRidge(),
        GeneralizedRidge(information="moments"),
        MinimumNorm(),
        ContinualRidge(0.3),
        EarlyStopping(n_steps=5),
        Oracle(),
    ):
        model.set_params(fit_intercept=sequence.fit_intercept)
        weighted = model.fit(X, y, double).coef_
        repeated = model.fit(X[again], y[again]).coef_
        d = difficulty(X[again], None, sequence.fit_intercept)
        if d.smallest > 1e-3:
            scale = np.where(np.isfinite(d.norms), d.norms, 0.0)
            size = max(np.abs(repeated * scale).max(), np.abs(y).max())
            assert_allclose(weighted * scale, repeated * scale, atol=1e-11 * d.condition**2 * d.magnified * size)
