"""Digits of `square_root` beside a Householder QR of all rows, in many orders of the rows: part of docs/accuracy.md."""

import numpy as np
from scipy.linalg.lapack import dgels

from benchmarks.nist import Array, digits, exact_least_squares
from ridgeway import GeneralizedRidge

ORDERS = 40
Design = tuple[Array, Array, bool, int]
"""X, y, whether an intercept is fitted, and how many rows at the end are learned last, as a task of their own."""


def lauchli(p: int, gap: float) -> Design:
    """Return a row of ones above gap·I: columns that differ only in the last digits."""
    X = np.vstack([np.ones(p), gap * np.eye(p)])
    return X, X.sum(axis=1), False, 0


def vandermonde(degree: int) -> Design:
    """Return the powers of forty points in [0, 1]."""
    x = np.linspace(0.0, 1.0, 40)
    noise = np.random.default_rng(degree).normal(size=40)
    return np.vander(x, degree + 1, increasing=True)[:, 1:], np.cos(4.0 * x) + 0.1 * noise, True, 0


def hilbert(p: int) -> Design:
    """Return thirty rows of the Hilbert matrix."""
    X = 1.0 / (np.arange(1.0, 31.0)[:, None] + np.arange(p))
    return X, X.sum(axis=1) + 1e-3 * np.random.default_rng(p).normal(size=30), False, 0


def large_last(p: int, n_large: int, intercept: bool) -> Design:
    """Return forty rows, of which the last few are 10⁷ times larger than the others."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, p))
    y = X @ np.arange(1.0, p + 1.0) + rng.normal(size=40)
    X[-n_large:] *= 1e7
    y[-n_large:] *= 1e7
    return X, y, intercept, n_large


DESIGNS: dict[str, Design] = {
    **{f"Läuchli, {p} columns, gap {gap:g}": lauchli(p, gap) for p in (5, 8) for gap in (1e-3, 1e-5, 1e-7)},
    **{f"Vandermonde, degree {degree}": vandermonde(degree) for degree in (8, 10, 12)},
    **{f"Hilbert, {p} columns": hilbert(p) for p in (5, 7, 9)},
    "a task of 10 rows 10⁷ times larger, last": large_last(3, 10, False),
    "a task of 1 row 10⁷ times larger, last": large_last(3, 1, False),
    "a task of 2 rows 10⁷ times larger, last": large_last(6, 2, False),
    "the same with an intercept": large_last(6, 2, True),
}


def in_orders(design: Design, n_orders: int = ORDERS) -> Array:
    """Return the digits of `square_root`, task by task, and of the QR, (n_orders, 2), against rational arithmetic."""
    X, y, intercept, n_last = design
    exact = exact_least_squares(X, y, fit_intercept=intercept)
    first = len(X) - n_last
    tasks = np.r_[np.arange(first) * 3 // first, np.full(n_last, 3)]
    found = []
    for seed in range(n_orders):
        rng = np.random.default_rng(seed)
        rows = np.r_[rng.permutation(first), first + rng.permutation(n_last)]
        rows_of_all = (np.column_stack([np.ones(len(X)), X]) if intercept else X)[rows]
        pooled = dgels(rows_of_all, y[rows])[1][: rows_of_all.shape[1]]
        model = GeneralizedRidge(fit_intercept=intercept).fit(X[rows], y[rows], tasks=tasks)
        own = np.r_[model.intercept_, model.coef_] if intercept else model.coef_
        found.append([digits(own, exact), digits(pooled, exact)])
    return np.array(found)


def order_table() -> list[str]:
    """Return the table: the median and the least digits over the orders, and by how much the median is below."""
    lines = ["| design | `square_root`, median (least) | Householder QR, median (least) | deficit of the median |"]
    lines += ["|---|---:|---:|---:|"]
    deficits = []
    for name, design in DESIGNS.items():
        found = in_orders(design)
        (own, pooled), (least, least_pooled) = np.median(found, axis=0), found.min(axis=0)
        deficits.append(pooled - own)
        lines.append(f"| {name} | {own:.1f} ({least:.1f}) | {pooled:.1f} ({least_pooled:.1f}) | {pooled - own:.1f} |")
    return [*lines, f"| **all: median, worst** | | | **{np.median(deficits):.1f}, {max(deficits):.1f}** |"]
