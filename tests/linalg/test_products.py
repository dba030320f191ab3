"""The packed products against plain matrices, for every parity of the width and one width of several strips."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ridgeway.linalg import Products, _products, packed, unpacked

WIDTHS = [1, 2, 3, 4, 5, 8, 13, 300, 301]


def definite(width: int) -> np.ndarray:
    A = np.random.default_rng(width).standard_normal((2 * width + 3, width))
    return A.T @ A


@pytest.mark.parametrize("width", WIDTHS)
def test_packing_loses_and_repeats_nothing(width):
    S = definite(width)
    flat = packed(S)
    assert flat.shape == (width * (width + 1) // 2,)
    assert_array_equal(unpacked(flat, width), np.triu(S))
    assert_array_equal(_products.packed_diagonal(flat, width), np.diag(S))


@pytest.mark.parametrize("width", WIDTHS)
def test_scaling_to_a_unit_diagonal(width):
    S, divisor = definite(width), np.linspace(0.5, 3.0, width)
    expected = np.triu(S / divisor / divisor[:, None])
    np.fill_diagonal(expected, 1.0)
    scaled = _products.packed_scaled(packed(S), divisor)
    assert_allclose(unpacked(scaled, width), expected, rtol=1e-14)
    assert_allclose(_products.scaled_symmetric(np.triu(S), divisor), expected, rtol=1e-14)


@pytest.mark.parametrize("n_targets", [1, 2, 3])
@pytest.mark.parametrize("n_features", [1, 2, 5, 6])
def test_products_of_blocks_add_up(n_features, n_targets):
    rng = np.random.default_rng(n_features)
    blocks = [rng.standard_normal((rows, n_features + n_targets)) for rows in (1, 4, 9)]
    pooled = np.vstack(blocks)
    nothing = Products.zero(n_features, n_targets)
    for add in (Products.plus, Products.plus_narrow):
        total = add(nothing, blocks)
        assert_allclose(total.upper(), np.triu(pooled.T @ pooled), rtol=1e-13)
        assert_array_equal(total.diagonal, np.diag(total.upper()))
        assert_array_equal(Products.from_upper(total.upper(), n_targets).flat, total.flat)
        assert_allclose(total.plus(blocks, -1.0).flat, 0.0, atol=1e-13 * np.abs(total.flat).max())
    assert not nothing.flat.any()
