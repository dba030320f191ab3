"""Refuse what conversion to float64 would accept silently: text, dates, masks, rounding, rows in different orders."""

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.data._columns import EXACT, as_numbers
from ridgeway.data._schema import listed
from ridgeway.data._sparse import entries_of
from ridgeway.data._tables import reading
from ridgeway.data._task import is_sparse
from ridgeway.errors import FeatureMismatchError, InvalidDataError, InvalidDataTypeError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

TIMES = ("date", "time", "duration", "period")
WIDE = ("int64", "int128", "decimal")
"""Types of columns that may hold numbers that float64 would round."""
CONVERT = "Encode or convert the column first: a category to one-hot columns, a date to a number of days."


def from_arrow(data: Any, name: str) -> Any:
    """Return pyarrow data as float64, validated; labels as a list; and anything else as it is.

    pyarrow's own conversion to an array replaces the nulls of a dictionary-encoded column with one of its values.
    """
    if type(data).__module__.partition(".")[0] != "pyarrow" or not hasattr(data, "validate"):
        return data
    import pyarrow as pa

    with reading(name):
        data.validate(full=True)
        if name == "tasks":
            return data.to_pylist()
    if not hasattr(data, "column_names"):
        return as_numbers(data, name, name)
    columns = zip(data.column_names, data.columns, strict=True)
    return pa.table([pa.array(as_numbers(column, label, name)) for label, column in columns], data.column_names)


def refuse_non_numbers(data: Any, name: str) -> None:
    """Raise for text, dates, masks, malformed sparse matrices, and numbers that float64 would round."""
    if is_sparse(data):
        if name != "X":
            raise InvalidDataTypeError(f"{name} is sparse; only X may be sparse. Pass {name}.toarray().")
        data = entries_of(data)
    times = [str(kind) for kind in _column_types(data) if any(word in str(kind).lower() for word in TIMES)]
    if times:
        raise InvalidDataTypeError(f"{name} holds dates or times ({times[0]}), not numbers. {CONVERT}")
    if isinstance(data, np.ma.MaskedArray):
        raise InvalidDataTypeError(
            f"{name} is a masked array, and the mask would be ignored. Drop the masked rows, or fill them "
            f"({name}.filled(value)), and pass a plain array."
        )
    for part in _parts(data):
        try:
            array = part if isinstance(part, np.ndarray) else np.asarray(part)
        except (NotImplementedError, OverflowError, TypeError, ValueError):
            return  # ragged or exotic: scikit-learn's own check words this better
        if found := _not_a_number(array):
            raise InvalidDataTypeError(f"{name} holds {found}, not numbers. {CONVERT}")
        if _is_rounded(array):
            raise InvalidDataError(
                f"{name} has integers or decimals beyond 2⁵³, which float64 cannot represent. Change the unit."
            )


def _parts(data: Any) -> Iterator[Any]:
    """Yield the columns of a table that converting the whole table may round, then the whole."""
    for name, kind in zip(column_names(data), _column_types(data), strict=False):
        if any(word in str(kind).lower() for word in WIDE):
            yield data[name]
    yield data


def _not_a_number(array: Any) -> str | None:
    """Return what an array holds instead of numbers."""
    if array.dtype.kind != "O":
        kinds = {"U": "text", "T": "text", "S": "bytes", "M": "dates", "m": "time spans", "V": "records"}
        return kinds.get(array.dtype.kind)
    odd = (str, bytes, date, datetime, timedelta, np.datetime64, np.timedelta64)
    return next((f"{type(value).__name__} values" for value in array.flat if isinstance(value, odd)), None)


def _is_rounded(array: Any) -> bool:
    """Return whether an array has integers or decimals that float64 would round."""
    if array.dtype.kind in "iu":
        return bool(array.itemsize == 8 and array.size and (array.max() > EXACT or array.min() < -EXACT))
    return array.dtype.kind == "O" and any(map(_is_beyond, array.flat))


def _is_beyond(value: Any) -> bool:
    exact = isinstance(value, int | np.integer) or (isinstance(value, Decimal) and value.is_finite())
    return exact and not -EXACT <= value <= EXACT


def column_names(table: Any) -> list[Any]:
    """Return the names of a table's columns; none for an array."""
    return list(getattr(table, "column_names", getattr(table, "columns", [])))


def _column_types(data: Any) -> list[Any]:
    """Return the types of a table's columns: pyarrow's schema, or the dtypes of pandas and polars."""
    types = getattr(getattr(data, "schema", None), "types", getattr(data, "dtypes", ()))
    return [types] if isinstance(types, np.dtype) else list(types)


def refuse_shuffled_index(one: Any, other: Any, names: tuple[str, str]) -> None:
    """Refuse two pandas objects with the same labels in different orders: rows would be paired wrongly."""
    left, right = getattr(one, "index", None), getattr(other, "index", None)
    if left is None or right is None or callable(left) or callable(right) or len(left) != len(right):
        return
    if not left.equals(right) and set(left) == set(right):
        raise InvalidDataError(
            f"{names[0]} and {names[1]} have the same index labels in a different order, so their rows would be paired "
            f"wrongly. Pass {names[1]}.loc[{names[0]}.index]."
        )


def refuse_ambiguous_names(estimator: "BaseEstimator", X: Any, *, first: bool) -> None:
    """Refuse two columns of one name, and columns without names if the model knows names."""
    names = column_names(X)
    twice = sorted(str(name) for name, count in Counter(names).items() if count > 1)
    if twice:
        raise FeatureMismatchError(
            f"X has duplicate column names: {', '.join(map(repr, twice))}. Rename or drop them before learning."
        )
    known = None if first else getattr(estimator, "feature_names_in_", None)
    if known is not None and not (names and all(isinstance(name, str) for name in names)):
        raise FeatureMismatchError(
            f"X has no column names, but this model learned the columns {listed(known)}; the columns of an array "
            "could be in any order. Pass a DataFrame with those columns."
        )
