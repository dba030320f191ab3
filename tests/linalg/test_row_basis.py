"""As many rows as a matrix has rank, and how they are reached."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeway.linalg import row_basis


@given(seed=st.integers(0, 10_000), n=st.integers(1, 9), p=st.integers(1, 5), rank=st.integers(0, 5))
def test_they_say_what_the_matrix_says(seed, n, p, rank):
    rng = np.random.default_rng(seed)
    rank = min(rank, n, p)
    A = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p)) * 10.0 ** rng.uniform(-3, 3, size=p)
    rows, basis = row_basis(A, size=min(n, p))
    assert rows.shape == (rank, p)
    np.testing.assert_allclose(basis.T @ basis, np.eye(rank), atol=1e-13)
    np.testing.assert_allclose(basis @ rows, A, rtol=0, atol=1e-12 * max(np.abs(A).max(), 1.0))
    right = rng.normal(size=n)
    left = np.linalg.lstsq(A, right, rcond=1e-10)
    expected = np.square(right - A @ left[0]).sum()
    np.testing.assert_allclose(np.square(right - basis @ (basis.T @ right)).sum(), expected, atol=1e-9)


@pytest.mark.parametrize(("offset", "rank"), [(0.0, 2), (1e6, 1)])
def test_a_column_that_is_rounding_beside_its_offset_is_dropped(offset, rank):
    A = np.array([[1.0, 0.0], [0.0, 1e-11]])
    rows, _ = row_basis(A, size=2, offset=np.array([0.0, offset]))
    assert len(rows) == rank
