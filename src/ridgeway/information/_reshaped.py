"""The same rows with other columns: new ones that were constant, another order, linear functions of the features."""

from dataclasses import replace
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import LARGEST, Array
from ridgeway._text import counted
from ridgeway.errors import InvalidParameterError
from ridgeway.kernels import pivoted_qr, solve_triangular
from ridgeway.linalg import EPS, empty_triangle, tolerance


def varying_columns(held: Any) -> NDArray[np.bool_]:
    """Return which columns ever varied by more than their last bit; all features or all targets if none did.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.information import SquareRoot, varying_columns
    >>> task = Task.of(np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([[3.0], [4.0]]))
    >>> held = SquareRoot.empty(2, 1, centered=True).add(task)
    >>> varying_columns(held).tolist()  # two features and the target
    [True, False, True]
    """
    found = np.sqrt(held.peak) > EPS * np.sqrt(held.total_weight) * np.abs(held.mean)
    for part in (found[: held.n_features], found[held.n_features :]):
        part |= not part.any()
    return np.asarray(found)


def places_of(features: NDArray[np.intp], targets: NDArray[np.intp], held: Any) -> NDArray[np.intp]:
    """Return the old place of each feature and target among all columns, −1 for a new one, or raise."""
    for what, places, number in (("feature", features, held.n_features), ("target", targets, held.n_targets)):
        if not np.array_equal(np.sort(places[places != -1]), np.arange(number)):
            raise InvalidParameterError(
                f"each of the {number} {what}s must keep one place among the new columns; got {places.tolist()}. Pass "
                "the position of each old one once, and -1 for new ones."
            )
    return np.concatenate([features, np.where(targets < 0, -1, targets + held.n_features)])


def checked_past(past: Array, new: NDArray[np.bool_], *, centered: bool) -> Array:
    """Return what new columns were in every past row, 0 for the others, or raise if the past cannot be completed.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.information import checked_past
    >>> checked_past(np.array([7.0, 3.0]), np.array([False, True]), centered=True)
    array([0., 3.])
    >>> checked_past(np.array([7.0, 3.0]), np.array([False, True]), centered=False)
    Traceback (most recent call last):
    ...
    ridgeway.errors.InvalidParameterError: without an intercept a new column must ...
    """
    if past.shape != new.shape:
        raise InvalidParameterError(f"expected {len(new)} past values, one per column; got {past.size}. Pass all.")
    values = np.where(new, past, 0.0)
    if not (np.abs(values) <= LARGEST).all():
        raise InvalidParameterError(
            f"a past value must be a finite number of at most {LARGEST:g}; got {past[new].tolist()}. Pass the value "
            "that the new column had in every past row."
        )
    if values.any() and not centered:
        raise InvalidParameterError(
            f"without an intercept a new column must have been 0 in every past row; got {values[values != 0.0][0]:g}. "
            "Subtract this value from the column, or start a new model with an intercept."
        )
    return values


def spread_triangle(triangle: Array, places: NDArray[np.intp], width: int) -> Array:
    """Return an upper triangle with its rows and columns at ascending places among zeros, without a copy in between."""
    wide = empty_triangle(width)
    for column, place in enumerate(places):
        wide[places[: column + 1], place] = triangle[: column + 1, column]
    return wide


def with_targets(held: Any, targets: NDArray[np.intp]) -> Any:
    """Return information with some of its targets, at these places, and with new ones (−1) that were 0.

    O(p²), and columns that keep their order keep their bits, unless a target is left out that varied: then O(p³).
    """
    p, kept = held.n_features, np.sort(targets[targets >= 0])
    gone = p + np.setdiff1d(np.arange(held.n_targets), kept)
    if len(gone):
        held = _without_constant(held, gone) or held._restricted(np.r_[:p, p + kept], p)
    places = np.where(targets < 0, -1, np.searchsorted(kept, targets))
    return held.widened(np.arange(p), places, np.zeros(p + len(targets)))


def _without_constant(held: Any, gone: NDArray[np.intp]) -> Any:
    """Return information without targets that never varied, or None if one did."""
    if held.matrix[gone].any() or held.matrix[:, gone].any():
        return None
    arrays = {name: np.delete(getattr(held, name), gone) for name in ("mean", "mean_low", "peak")}
    matrix = np.asfortranarray(np.delete(np.delete(held.matrix, gone, axis=0), gone, axis=1))
    return replace(held, n_targets=held.n_targets - len(gone), matrix=matrix, **arrays)


def checked_map(matrix: Array, shift: Array, held: Any) -> None:
    """Raise unless x·matrix + shift is a function of the features that information can follow."""
    if matrix.ndim != 2 or len(matrix) != held.n_features or shift.shape != matrix.shape[1:]:
        raise InvalidParameterError(
            f"a map of {counted(held.n_features, 'feature')} needs a matrix with as many rows and a shift with one "
            f"entry per column; got shapes {matrix.shape} and {shift.shape}."
        )
    if not (np.isfinite(matrix).all() and np.isfinite(shift).all()):
        raise InvalidParameterError("a map of the features must be finite; got infinite or missing entries.")
    if shift.any() and not held.centered:
        raise InvalidParameterError(
            "without an intercept the features cannot be shifted: the rows are gone. Start a new model with an "
            "intercept."
        )


def less_rounding(rows: Array, sizes: Array, least: float) -> Array:
    """Return C such that the columns of rows·C are those of `rows`, less the directions that are rounding.

    Large columns may cancel and leave their rounding in a small one, which then passes for a direction of its own. A
    column that is a combination of others but for that is replaced by the combination, and by zeros if it is constant.

    Parameters
    ----------
    rows : ndarray of shape (n, q)
    sizes : ndarray of shape (q,), the norms that the rounding of each column is a share of
    least : the share that may be rounding
    """
    _, T, order = pivoted_qr(rows / np.where(sizes > 0.0, sizes, np.inf))
    rank = int(np.count_nonzero(np.abs(T.diagonal()) > least))
    kept, others, combined = order[:rank], order[rank:], T[:rank, rank:]
    combined = combined * (np.square(combined).sum(axis=0) > least**2)
    shares = solve_triangular(np.asfortranarray(T[:rank, :rank]), combined)
    C = np.zeros((len(order), len(order)))
    C[kept, kept] = 1.0
    C[np.ix_(kept, others)] = shares / sizes[kept, None] * sizes[others]
    return C


def mapped_mean(held: Any, matrix: Array, shift: Array, constant: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return the means of x·matrix + shift as sums of two numbers: exact if the entries are 0 and ±1.

    A mean that is rounding beside its terms is 0 if the feature is `constant`: rows of 0 would make it vary.
    """
    p = held.n_features
    terms = np.vstack([matrix * held.mean[:p, None], matrix * held.mean_low[:p, None], shift]).T
    rounding = constant & (np.abs(terms.sum(axis=1)) <= tolerance(p) * np.abs(terms).sum(axis=1))
    high = np.where(rounding, 0.0, [fsum(row) for row in terms])
    low = np.where(rounding, 0.0, [fsum([*row, -total]) for row, total in zip(terms, high, strict=True)])
    return np.concatenate([high, held.mean[p:]]), np.concatenate([low, held.mean_low[p:]])
