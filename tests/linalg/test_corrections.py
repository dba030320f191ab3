"""A weak prior is a small correction: the answer is that of the whole system, or there is none."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeway.linalg import column_squares, solve_by_corrections


def solve(R, rhs, prior, start, offset=0.0):
    return solve_by_corrections(
        np.asfortranarray(R), rhs, prior, start, column_squares(R) + prior, np.full(len(R), offset)
    )


def stacked(R, rhs, prior, start):
    """The same by an SVD of the stacked rows, columns scaled to unit norm."""
    root, norms = np.sqrt(prior), np.sqrt(column_squares(R) + prior)
    rows = np.vstack([R, np.diag(root)]) / norms
    return np.linalg.lstsq(rows, np.vstack([rhs, root[:, None] * start]), rcond=None)[0] / norms[:, None]


def exact(R, rhs, prior, start):
    """The same in rational arithmetic, by Gauss-Jordan elimination of (RᵀR + P)w = Rᵀ·rhs + P·start."""
    p = len(R)
    A = [[Fraction(int(v)) for v in row] for row in R]
    S = [[sum(A[m][i] * A[m][j] for m in range(p)) for j in range(p)] for i in range(p)]
    b = [sum(A[m][i] * int(rhs[m, 0]) for m in range(p)) + Fraction(prior[i]) * int(start[i, 0]) for i in range(p)]
    for i in range(p):
        S[i][i] += Fraction(prior[i])
    for i in range(p):
        for j in range(p):
            if i != j:
                share = S[j][i] / S[i][i]
                S[j] = [x - share * y for x, y in zip(S[j], S[i], strict=True)]
                b[j] -= share * b[i]
    return np.array([float(b[i] / S[i][i]) for i in range(p)])


def random_system(seed, p, k, weak):
    """A system with columns of any units, and a prior that is `weak` beside the weakest direction."""
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.normal(size=(p + 3, p)), mode="r")
    units = 10.0 ** rng.uniform(-3, 3, size=p)
    prior = rng.uniform(0.5, 1.0, size=p) * weak * np.linalg.svd(R)[1][-1] ** 2 * units**2
    return R * units, rng.normal(size=(p, k)), prior, rng.normal(size=(p, k)) / units[:, None]


def test_it_is_the_answer_of_rational_arithmetic():
    R = np.array([[20.0, 3.0, -5.0], [0.0, 11.0, 2.0], [0.0, 0.0, 17.0]])
    rhs, prior, start = np.array([[3.0], [-7.0], [40.0]]), np.array([0.5, 1.0, 2.0]), np.array([[1.0], [-2.0], [3.0]])
    found = solve(R, rhs, prior, start)
    np.testing.assert_allclose(found.coef[:, 0], exact(R, rhs, prior, start), rtol=4e-16)
    assert found.rank == 3
    other = exact(R, rhs, prior * [1.0, 1.0 + 1e-9, 1.0], start)  # a control: such a change would be noticed
    assert np.abs(found.coef[:, 0] / other - 1.0).max() > 1e-12


@given(seed=st.integers(0, 10_000), p=st.integers(1, 8), k=st.integers(1, 3), digits=st.floats(1.3, 6.0))
def test_a_weak_prior_is_found_in_any_units(seed, p, k, digits):
    R, rhs, _, start = system = random_system(seed, p, k, 10.0**-digits)
    found = solve(*system)
    assert found is not None
    expected, norms = stacked(*system), np.sqrt(column_squares(R))[:, None]
    condition = np.linalg.cond(R / norms[:, 0])
    scale = (norms * (np.abs(expected) + np.abs(start))).max() + np.abs(rhs).max()
    assert (norms * np.abs(found.coef - expected)).max() < 1e-15 * p * condition * scale * 10


@given(seed=st.integers(0, 10_000), p=st.integers(1, 8), k=st.integers(1, 3), strength=st.floats(1.0, 1e6))
def test_a_prior_that_is_not_weak_is_left_to_others(seed, p, k, strength):
    """No column's sum of squares exceeds a quarter of its prior."""
    R, rhs, prior, start = random_system(seed, p, k, 1.0)
    R = R / np.sqrt(strength * 4.0 * column_squares(R) / prior)
    assert solve(R, rhs, prior, start) is None


@pytest.mark.parametrize("share", [1e-6, 1e-9, 1e-12, 1e-15, 1e-18, 0.0])
@pytest.mark.parametrize("strong", [1e-10, 1e-8, 1e-3])
@pytest.mark.parametrize("weak", [0.1, 0.32, 3.0, 1e3, 1e6])
def test_a_weak_direction_that_y_hardly_points_to_is_not_missed(share, strong, weak):
    """M has the eigenvalues `strong` and `weak`, and only a share of y points in the second direction."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        U, V = (np.linalg.qr(rng.normal(size=(2, 2)))[0] for _ in range(2))
        singular = np.array([strong, weak]) ** -0.5
        Q, R = np.linalg.qr((U * singular) @ V)
        rhs, prior, start = Q.T @ U @ np.array([[1.0], [share]]), np.ones(2), np.zeros((2, 1))
        found = solve(R, rhs, prior, start)
        assert found is None or weak < 1.0 or share < 1e-15
        if found is not None:
            expected = stacked(R, rhs, prior, start)
            condition = np.sqrt((1.0 + 1.0 / strong) / (1.0 + 1.0 / weak))
            assert np.linalg.norm(found.coef - expected) < 4e-15 * condition * np.linalg.norm(expected)


@pytest.mark.parametrize("last", [0.0, 1e-300, 1e-12])
def test_a_singular_factor_is_left_to_others(last):
    R = np.array([[1.0, 1.0], [0.0, last]])
    assert solve(R, np.ones((2, 1)), np.full(2, 1e-3), np.zeros((2, 1))) is None


def test_columns_that_are_rounding_beside_their_offset_are_left_to_others():
    system = np.eye(2), np.ones((2, 1)), np.full(2, 1e-3), np.zeros((2, 1))
    assert solve(*system) is not None
    assert solve(*system, offset=1e14) is None


@pytest.mark.parametrize("scale", [1e-155, 1e-140, 1e-125, 1e140])
def test_tiny_and_huge_targets_keep_their_digits(scale):
    """The squares of tiny corrections would be zero, so that they looked settled."""
    R, prior, start = np.array([[30.0, 2.0], [0.0, 20.0]]), np.ones(2), np.zeros((2, 1))
    rhs = np.array([[3.0], [5.0]])
    found = solve(R, rhs * scale, prior, start)
    if scale > 1e-130:
        np.testing.assert_allclose(found.coef / scale, stacked(R, rhs, prior, start), rtol=1e-14)
    else:
        assert found is None


def test_targets_and_starts_of_zero():
    R, prior = np.diag([3.0, 5.0]), np.array([0.1, 0.2])
    for rhs, start in (
        (np.zeros((2, 1)), np.zeros((2, 1))),
        (np.zeros((2, 2)), np.eye(2)),
        (np.eye(2), np.zeros((2, 2))),
        (3.0 * np.eye(2), np.diag([1.0, 0.6])),  # the start is the answer
    ):
        np.testing.assert_allclose(
            solve(R, rhs, prior, start).coef, stacked(R, rhs, prior, start), rtol=1e-14, atol=1e-16
        )
