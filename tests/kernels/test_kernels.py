"""The fast kernels against the plain ones, function by function, over shapes, ranks and scales."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from ridgeway.kernels import Mean, _lapack, _reference, _tall, _threads, _tridiagonal

BOTH = [_reference, _lapack]
UPDATES = ["factor_update", "comoment_update"]
SIZES = st.integers(1, 12)
SEEDS = st.integers(0, 2**32 - 1)


def squared(update, name):
    """Return the co-moments that an update stands for, and check its form."""
    assert not np.tril(update.matrix, -1).any()
    return update.matrix.T @ update.matrix if name == "factor_update" else update.matrix + np.triu(update.matrix, 1).T


def compare(name, past, X, y, weight, *, centered):
    """Update the factor of some rows by both kernels."""
    rng = np.random.default_rng(1)
    width = X.shape[1] + y.shape[1]
    R = np.asfortranarray(np.triu(rng.normal(size=(width, width)))) * np.sqrt(past.weight)
    matrix = R if name == "factor_update" else np.asfortranarray(np.triu(R.T @ R))
    before = matrix.copy()
    plain, fast = (getattr(kernel, name)(matrix, past, X, y, weight, centered=centered) for kernel in BOTH)
    assert_array_equal(matrix, before)
    scale = np.sqrt(squared(plain, name).diagonal())
    gap = np.abs(squared(fast, name) - squared(plain, name))
    assert (gap <= 1e-12 * scale * scale[:, None]).all()
    assert_allclose(fast.squares, plain.squares, rtol=1e-9, atol=1e-12 * (scale**2).max())
    assert fast.mean.weight == plain.mean.weight
    apart = (fast.mean.high - plain.mean.high) + (fast.mean.low - plain.mean.low)
    assert (np.abs(apart) <= 1e-13 * scale / np.sqrt(plain.mean.weight) + 1e-300).all()
    return plain, fast


@given(
    n=st.integers(1, 60),
    p=SIZES,
    k=st.integers(1, 3),
    seed=SEEDS,
    weighted=st.booleans(),
    centered=st.booleans(),
    offset=st.sampled_from([0.0, 5.0, 1e8]),
    scale=st.sampled_from([1e-9, 1.0, 1e6]),
    rank=st.integers(0, 12),
)
@example(n=40, p=3, k=1, seed=0, weighted=True, centered=True, offset=1e8, scale=1.0, rank=2)
@pytest.mark.parametrize("name", UPDATES)
def test_updates(name, n, p, k, seed, weighted, centered, offset, scale, rank):
    rng = np.random.default_rng(seed)
    X = scale * (rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p)) + offset * centered)
    y, weight = rng.normal(size=(n, k)), rng.uniform(0.1, 3.0, n) if weighted else None
    high = scale * offset + np.zeros(p + k)
    past = Mean(float(rng.integers(0, 3)), high * centered, np.zeros(p + k))
    compare(name, past, X, y, weight, centered=centered)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(_tall, "ENTRIES", 40)
    monkeypatch.setattr(_lapack, "ONE_PASS", 40)
    monkeypatch.setattr(_tall, "TALL", 2)


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("n", [20, 21, 100, 333])
@pytest.mark.parametrize("kind", ["plain", "weighted", "float32", "sparse", "sorted", "columns", "strided"])
def test_blocks(name, centered, n, kind, small_blocks, monkeypatch, rng):
    monkeypatch.setattr(_threads, "_cores", lambda: 3)
    X, y = rng.normal(size=(n, 4)) + 7.0, rng.normal(size=(n, 2))
    weight = rng.uniform(0.5, 2.0, n) if kind == "weighted" else None
    other_forms = {"float32": X.astype(np.float32), "sparse": sparse.csr_array(X), "sorted": np.sort(X, axis=0)}
    other_forms |= {"columns": np.asfortranarray(X), "strided": np.repeat(X, 2, axis=1)[:, ::2]}
    X = other_forms.get(kind, X)
    past = Mean(3.0, np.full(6, 2.0) * centered, np.zeros(6))
    plain, fast = compare(name, past, X, y, weight, centered=centered)
    other = getattr(_lapack, name)(plain.matrix * 0.0, past, X[:-1], y[:-1], None, centered=centered)
    assert np.abs(squared(other, name) - squared(fast, name)).max() > 1e-3


@pytest.mark.parametrize("name", UPDATES)
def test_rows_far_from_the_first_ones_lose_no_digits(name, small_blocks, rng):
    X = rng.normal(size=(600, 3))
    X[:: 600 // _tall.SAMPLE] += 1e9  # all rows whose mean stands in for the mean
    far = X[:, 0] < 1e8
    y = rng.normal(size=(600, 1))
    update = getattr(_lapack, name)(
        np.zeros((4, 4), order="F"), Mean.of_nothing(4), X[far], y[far], None, centered=True
    )
    rows = np.hstack([X, y])[far]
    want = (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0))
    assert_allclose(squared(update, name), want, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("n", [60, 127, 128, 600])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_in_either_order_of_memory(name, n, order, small_blocks, rng):
    X, y = np.array(rng.normal(size=(n, 3)) + 1e6, order=order), rng.normal(size=(n, 2)) - 1e6
    compare(name, Mean.of_nothing(5), X, y, None, centered=True)
    compare(name, Mean(3.0, np.arange(5.0), np.zeros(5)), X[::-1], y, None, centered=True)


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("n", [30, 127, 4000])
@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_same_numbers_in_32_bits_give_the_same_bits(name, n, centered, order, small_blocks, rng):
    narrow = np.array(rng.normal(size=(n, 9)) + 7.0, dtype=np.float32, order=order)
    wide, y = narrow.astype(np.float64), rng.normal(size=(n, 1))
    matrices = [
        getattr(_lapack, name)(np.zeros((10, 10), order="F"), Mean.of_nothing(10), X, y, None, centered=centered).matrix
        for X in (narrow, wide, wide[:, ::-1])
    ]
    assert np.array_equal(matrices[0], matrices[1])
    assert not np.array_equal(matrices[0], matrices[2])


@pytest.mark.parametrize("name", UPDATES)
def test_a_mean_that_is_far_from_the_sample_is_found(name, small_blocks, monkeypatch, rng):
    X, y = rng.normal(size=(600, 3)), rng.normal(size=(600, 1))
    step, done = 600 // _tall.SAMPLE, []
    X[::step] += 1e7
    X[np.arange(600) % step > 0] -= 1e7
    split = _tall._split
    monkeypatch.setattr(_tall, "_split", lambda *arguments: done.append(1) or split(*arguments))
    compare(name, Mean.of_nothing(4), X, y, None, centered=True)
    compare(name, Mean.of_nothing(4), X[:50], y[:50], None, centered=True)
    X[step + 1 :] = rng.normal(size=(599 - step, 3))
    X[::step] += 1e3
    compare(name, Mean.of_nothing(4), X, y, None, centered=True)
    assert len(done) >= 4


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("n", [3, 30, 300])
@pytest.mark.parametrize("centered", [True, False])
def test_a_value_that_is_not_finite_shows_in_the_squares(name, value, n, centered, small_blocks, rng):
    for where in (0, 1):
        rows = [rng.normal(size=(n, 3)), rng.normal(size=(n, 1))]
        zero = np.zeros((4, 4), order="F")
        update = getattr(_lapack, name)(zero, Mean.of_nothing(4), *rows, None, centered=centered)
        assert np.isfinite(update.squares).all()
        rows[where][n // 2, 0] = value
        update = getattr(_lapack, name)(zero, Mean.of_nothing(4), *rows, None, centered=centered)
        assert not np.isfinite(update.squares).all()


@pytest.fixture
def narrow_panels(monkeypatch):
    for name, value in {"WIDE": 2, "PANEL": 3, "STRIP": 2, "ROWS": 7}.items():
        monkeypatch.setattr(_lapack, name, value)
    monkeypatch.setattr(_threads, "_cores", lambda: 3)


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("n", [1, 7, 8, 30])
@pytest.mark.parametrize("p", [1, 2, 5, 9, 14])
@pytest.mark.parametrize("centered", [True, False])
def test_a_wide_matrix_in_panels(name, n, p, centered, narrow_panels, rng):
    X, y = rng.normal(size=(n, p)) + 3.0, rng.normal(size=(n, 2))
    compare(name, Mean(4.0, np.ones(p + 2) * centered, np.zeros(p + 2)), X, y, None, centered=centered)


@pytest.mark.parametrize("name", UPDATES)
def test_no_rows_leave_a_wide_matrix_as_it_is(name, narrow_panels, rng):
    before = np.asfortranarray(np.triu(rng.normal(size=(9, 9))))
    none = np.zeros((0, 8)), np.zeros((0, 1)), None
    after = getattr(_lapack, name)(before, Mean(4.0, np.ones(9), np.zeros(9)), *none, centered=False).matrix
    assert_allclose(after, before, rtol=0.0)


def turned(n_rows, X, y, scale=1.0):
    """Return the factor after rows are added to one of `n_rows` rows: from the plain kernel, and from the fast one."""
    p = X.shape[1]
    R, past = np.zeros((p + 1, p + 1), order="F"), Mean.of_nothing(p + 1)
    R[:n_rows] = scale * np.triu(np.random.default_rng(0).normal(size=(n_rows, p + 1)))
    return [kernel.factor_update(R, past, scale * X, scale * y, None, centered=False).matrix for kernel in BOTH]


@pytest.mark.parametrize("n_rows", [0, 1, 4, 11])
@pytest.mark.parametrize("n", [1, 3, 9])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e150])
def test_a_wide_factor_of_few_rows_has_no_more(n_rows, n, scale, narrow_panels, rng):
    signs, sizes = rng.choice([-1.0, 1.0], size=(n, 31)), rng.uniform(0.5, 2.0, size=(n, 31))
    X, y = np.hsplit(signs * sizes, [30])  # in a column of tiny entries, rounding would look like more rows
    plain, fast = turned(n_rows, X, y, scale)
    assert not fast[n_rows + n + (n > 7) + 1 :].any()  # a row for each part stands for the distance between means
    assert fast[n_rows + n - 1].any()
    assert_allclose(np.abs(fast), np.abs(plain), rtol=1e-9, atol=1e-11 * scale)


@pytest.mark.parametrize("zeros", [slice(0, 20), slice(3, 6), slice(5, 30, 2)])
@pytest.mark.parametrize("small", [1.0, 1e-9])
def test_columns_of_zeros_leave_more_of_the_rows(zeros, small, narrow_panels, rng):
    X, y = rng.normal(size=(6, 30)), rng.normal(size=(6, 1))
    X[:, zeros] = 0.0
    X[3:], y[3:] = small * X[3:], small * y[3:]
    plain, fast = turned(0, X, y)
    assert_allclose(fast.T @ fast, plain.T @ plain, rtol=1e-12, atol=1e-12)
    assert_allclose(np.linalg.svd(fast)[1][:6], np.linalg.svd(np.hstack([X, y]))[1], rtol=1e-6)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_row_whose_diagonal_is_zero_counts(swapped, narrow_panels, rng):
    R, other = np.triu(rng.normal(size=(2, 20, 20)))
    R[np.arange(4, 20), np.arange(4, 20)] = 0.0
    other[3:] = 0.0
    both = _lapack.qr_update(*((other, R) if swapped else (R, other)), triangular=True)
    assert_allclose(both.T @ both, R.T @ R + other.T @ other, rtol=1e-11, atol=1e-11)


@given(p=SIZES, m=st.integers(0, 15), seed=SEEDS)
@pytest.mark.parametrize("triangular", [True, False])
@pytest.mark.parametrize("wide", [True, False])
def test_joined_factors(triangular, wide, p, m, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(min(m, p) if triangular else m, p))
    rows = np.triu(rows) if triangular else rows
    R = np.triu(rng.normal(size=(p, p)))
    with pytest.MonkeyPatch.context() as patch:
        if wide:
            patch.setattr(_lapack, "WIDE", 2)
            patch.setattr(_lapack, "PANEL", 3)
            patch.setattr(_lapack, "STRIP", 2)
        plain, fast = (kernel.qr_update(R, rows, triangular=triangular) for kernel in BOTH)
    assert_allclose(np.triu(fast), fast)
    assert_allclose(fast.T @ fast, plain.T @ plain, rtol=1e-11, atol=1e-11)
    assert_allclose(fast.T @ fast, R.T @ R + rows.T @ rows, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("held", [0, 2, 9])
def test_a_factor_of_nothing_changes_nothing(held, monkeypatch, rng):
    monkeypatch.setattr(_lapack, "WIDE", 2)
    R = np.triu(rng.normal(size=(9, 9)))
    R[held:] = 0.0
    for kernel in BOTH:
        found = kernel.qr_update(R, np.zeros((9, 9)), triangular=True)
        assert_allclose(found.T @ found, R.T @ R, rtol=1e-12, atol=1e-12)


def test_entries_off_the_diagonal_count_when_rows_are_compared_with_a_factor():
    R = np.array([[1.0, 1e9, 1.0], [0.0, 1e-3, 1.0], [0.0, 0.0, 1.0]])  # collinear columns
    assert not _lapack._outweighs(np.array([[1.0, 1e9, 1.0]]), R)
    assert _lapack._outweighs(np.array([[1.0, 1e12, 1.0]]), R)
    assert _lapack._outweighs(np.array([[1.0, 1e9, 1.0]]), np.minimum(R, 1.0))


@given(n=st.integers(1, 9), p=SIZES, seed=SEEDS, factor=st.sampled_from([1.0, -2.5]))
def test_products(n, p, seed, factor):
    rng = np.random.default_rng(seed)
    rows, S = rng.normal(size=(n, p)), np.triu(rng.normal(size=(p, p)))
    plain, fast = (kernel.comoments_of(rows, S, factor) for kernel in BOTH)
    assert_allclose(fast, plain, rtol=1e-12, atol=1e-12)
    assert_allclose(plain, S + factor * np.triu(rows.T @ rows), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 2, 1), (200, 90, 4)])
def test_plain_products(shape, rng):
    n, p, k = shape
    A, B = rng.normal(size=(n, p)), rng.normal(size=(p, k))
    for kernel in BOTH:
        assert_allclose(kernel.product(A, B), np.einsum("ij,jk->ik", A, B), rtol=1e-10, atol=1e-12)


@given(p=SIZES, k=st.integers(1, 3), seed=SEEDS, scale=st.sampled_from([1e-7, 1.0, 1e5]))
def test_triangles(p, k, seed, scale):
    rng = np.random.default_rng(seed)
    whole = np.asfortranarray(scale * (np.triu(rng.normal(size=(p + 1, p + 1))) + 2.0 * np.eye(p + 1)))
    R, right = whole[:p, :p], rng.normal(size=(p, k))
    for transposed in (False, True):
        plain, fast = (kernel.solve_triangular(R, right, transposed=transposed) for kernel in BOTH)
        assert_allclose(fast, plain, rtol=1e-9, atol=1e-10 / scale)
        assert_allclose((R.T if transposed else R) @ fast, right, rtol=1e-8, atol=1e-8)
    plain, fast = (kernel.triangle_condition(R) for kernel in BOTH)
    assert plain * 0.999 <= fast <= 10.0 * plain
    assert all(kernel.triangle_condition(np.triu(np.ones((p, p)), 1)) == 0.0 for kernel in BOTH)


@given(p=SIZES, k=st.integers(1, 3), seed=SEEDS)
def test_definite_matrices(p, k, seed):
    rng = np.random.default_rng(seed)
    rows, right = rng.normal(size=(p + 3, p)), rng.normal(size=(p, k))
    S = rows.T @ rows
    factors = [kernel.cholesky(np.triu(S)) for kernel in BOTH]
    assert_allclose(factors[1], factors[0], rtol=1e-9, atol=1e-11)
    assert_allclose(factors[0].T @ factors[0], S, rtol=1e-10, atol=1e-10)
    assert all(kernel.cholesky(-S) is None for kernel in BOTH)
    for U, kernel in zip(factors, BOTH, strict=True):
        assert_allclose(S @ kernel.definite_solve(U, right), right, rtol=1e-6, atol=1e-6)
    plain, fast = (kernel.definite_condition(factors[0], np.linalg.norm(S, 1)) for kernel in BOTH)
    assert plain * 0.999 <= fast <= 10.0 * plain
    assert plain == pytest.approx(1.0 / np.linalg.cond(S, 1), rel=1e-6)


@given(n=SIZES, p=SIZES, seed=SEEDS, rank=SIZES)
def test_decompositions(n, p, seed, rank):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p))
    S = A.T @ A
    for kernel in BOTH:
        for full in (True, False):
            U, s, Vt = kernel.svd(A, full=full)
            assert_allclose((U[:, : len(s)] * s) @ Vt[: len(s)], A, atol=1e-11)
            assert (U.shape, Vt.shape) == (((n, n), (p, p)) if full else ((n, len(s)), (len(s), p)))
        stack = np.stack([A, A[::-1] * 2.0])
        values, right = kernel.right_svds(stack)
        for one, s, Vt in zip(stack, values, right, strict=True):
            assert_allclose((Vt.T * np.square(s)) @ Vt, one.T @ one, atol=1e-10)
            assert_allclose(Vt @ Vt.T, np.eye(min(n, p)), atol=1e-12)
        Q, R = kernel.qr(A)
        assert_allclose(Q @ R, A, atol=1e-11)
        Q, R, order = kernel.pivoted_qr(A)
        assert_allclose(Q @ R, A[:, order], atol=1e-11)
        assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-12)
        values, vectors = kernel.eigen(np.triu(S))
        assert_allclose((vectors * values) @ vectors.T, S, atol=1e-10)
        assert (np.diff(values) >= 0.0).all()
        assert kernel.smallest_eigenvalue(np.triu(S)) == pytest.approx(values[0], abs=1e-10)


@pytest.mark.parametrize("kernel", [_reference, _tridiagonal])
@pytest.mark.parametrize(("size", "rank"), [(1, 1), (1, 0), (2, 2), (3, 2), (9, 9), (9, 4)])
def test_functions_of_a_reduced_matrix(rng, kernel, size, rank):
    """Shifted solves, the pseudo-inverse, the top and gradient steps, against dense matrices."""
    rows = rng.normal(size=(rank, size))
    A, right = rows.T @ rows, rng.normal(size=(size, 3))
    form = kernel.reduce_symmetric(np.asfortranarray(np.triu(A)))

    def solved(shift):
        return form.turn_back(form.solve(shift, form.turn(right), tolerance=1e-14 * size))

    assert form.top == pytest.approx(np.linalg.eigvalsh(A)[-1], abs=1e-12)
    assert_allclose(solved(0.7), np.linalg.solve(A + 0.7 * np.eye(size), right), rtol=1e-10)
    assert_allclose(solved(0.0), np.linalg.pinv(A, hermitian=True) @ right, rtol=1e-8, atol=1e-10)
    rate = 0.5 / max(form.top, 1.0)
    for n_steps in (0, 1, 2, 7, 8):
        coef = np.zeros((size, 3))
        for _ in range(n_steps):
            coef = coef + rate * (right - A @ coef)
        found = form.turn_back(form.descend(rate, n_steps, form.turn(right)))
        assert_allclose(found, coef, rtol=1e-10, atol=1e-12)


def test_means_join_and_part(rng):
    one, two = (rng.normal(size=(n, 3)) + 1e8 for n in (40, 7))
    means = [Mean(float(len(rows)), rows.mean(axis=0), np.zeros(3)) for rows in (one, two)]
    both, gap = means[0].joined(means[1])
    pooled = np.vstack([one, two])
    assert_allclose(both.high, pooled.mean(axis=0), rtol=1e-15)
    scatter = [(rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0)) for rows in (one, two, pooled)]
    assert_allclose(scatter[0] + scatter[1] + np.outer(gap, gap), scatter[2], rtol=1e-6)
    rest, row = both.without(means[1])
    assert_allclose(rest.high + rest.low, means[0].high, rtol=1e-15)
    assert_allclose(np.abs(row), np.abs(gap), rtol=1e-6)
    assert rest.weight == 40.0
