"""Digits in many orders of the rows, beside a Householder QR of all of them: references in rational arithmetic."""

import numpy as np
import pytest

from benchmarks.row_orders import DESIGNS, in_orders
from ridgeway.kernels import _lapack, _reference

LARGE = [name for name in DESIGNS if "1 row 10⁷" in name or "2 rows 10⁷" in name]


def deficit(name):
    own, pooled = np.median(in_orders(DESIGNS[name]), axis=0)
    return pooled - own


@pytest.mark.filterwarnings("ignore:the columns learned are nearly collinear")
def test_square_root_keeps_the_digits_of_a_qr_of_all_rows():
    deficits = [deficit(name) for name in DESIGNS]
    assert np.median(deficits) <= 0.3
    assert max(deficits) <= 1.0


def test_large_rows_below_small_ones_cost_digits(monkeypatch):
    """The negative control: without sorting, digits of the past are lost."""
    kept = [deficit(name) for name in LARGE]
    monkeypatch.setattr(_lapack, "LARGE", np.inf)
    monkeypatch.setattr(_reference, "qr_update", lambda R, rows, **_: np.linalg.qr(np.vstack([R, rows]), mode="r"))
    assert min(np.array([deficit(name) for name in LARGE]) - kept) > 3.0


@pytest.mark.parametrize("kernel", [_lapack, _reference])
@pytest.mark.parametrize("triangular", [True, False])
def test_the_order_of_two_factors_does_not_matter(rng, kernel, triangular):
    small, large = (np.asfortranarray(np.triu(rng.normal(size=(4, 4)))) for _ in range(2))
    large *= 1e9
    one, two = (kernel.qr_update(*pair, triangular=triangular) for pair in ((small, large), (large, small)))
    np.testing.assert_allclose(np.abs(one), np.abs(two), rtol=1e-12)
