"""Class labels of rows in memory, checked."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._text import counted
from ridgeway.data._classes import KINDS, Classes, CodedLabels, Label, joined_classes, listed_classes, refuse_rounded
from ridgeway.data._refusals import refuse_shuffled_index
from ridgeway.data._task import is_sparse
from ridgeway.data._validation import is_missing, typed_errors
from ridgeway.errors import InvalidDataError, InvalidDataTypeError

REMEDY = "Pass one class label per row: text, whole numbers or bools."


def coded_labels(
    y: Any, known: Classes = (), declared: Any = None, beside: Mapping[str, Any] | None = None
) -> CodedLabels:
    """Check labels, and return them with all classes that are known, declared or found, or raise.

    Parameters
    ----------
    y : one label per row
    known : the classes so far, whose type the others take
    declared : labels of classes that may come later, or None
    beside : what else the user passed, by name; rows of pandas objects must be in the same order

    Examples
    --------
    >>> coded_labels(["dog", "cat", "dog"], known=("bird",)).columns
    array([[0., 0., 1.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    for name, other in (beside or {}).items():
        refuse_shuffled_index(other, y, (name, "y"))
    classes = known if declared is None else joined_classes(known, tuple(_found(declared, "classes")[0]), "classes")
    found, positions = _found(y, "y")
    classes = joined_classes(classes, tuple(found))
    place = {label: number for number, label in enumerate(classes)}
    return CodedLabels(classes, np.array([place[label] for label in found], dtype=np.intp)[positions])


def _found(labels: Any, name: str) -> tuple[list[Label], NDArray[np.intp]]:
    """Return the labels that occur, ascending, and the place of each row's label among them."""
    array = _as_array(labels, name)
    if not array.size:
        raise InvalidDataError(f"{name} has 0 sample(s). {REMEDY}")
    kind = array.dtype.kind
    if kind == "O":
        array = _plain(array.tolist(), name)
    elif kind == "f":
        _refuse_fractions(array, name)
        array = array + 0.0  # no −0
    elif kind not in "biuUT":
        raise InvalidDataTypeError(f"Unknown label type: {name} has dtype {array.dtype}. {REMEDY}")
    found, positions = np.unique(array, return_inverse=True)
    if kind in "fu":
        refuse_rounded(found.tolist(), name)
    return found.tolist(), positions


def _as_array(labels: Any, name: str) -> NDArray[Any]:
    """Return labels as an array with one axis, or raise."""
    from sklearn.utils.validation import column_or_1d

    if labels is None:
        raise InvalidDataError(f"a classifier requires y to be passed, but the target y is None. {REMEDY}")
    if is_sparse(labels) or isinstance(labels, np.ma.MaskedArray):
        raise InvalidDataTypeError(f"{name} is sparse or masked. {REMEDY}")
    if hasattr(labels, "to_pylist"):
        labels = labels.to_pylist()
    try:
        array = np.asarray(labels, dtype=object if isinstance(labels, list | tuple) else None)
    except ValueError:
        raise InvalidDataTypeError(f"{name} is ragged. {REMEDY}") from None
    with typed_errors(None):
        return np.asarray(column_or_1d(array, warn=True))


def _plain(values: Iterable[Any], name: str) -> NDArray[Any]:
    """Return labels that came as objects as an array of one plain type, or raise."""
    plain: list[Any] = [value.item() if isinstance(value, np.generic) else value for value in values]
    missing = sum(is_missing(value) for value in plain)
    if missing:
        raise InvalidDataError(
            f"Input {name} contains NaN: {counted(missing, 'missing label')}. Label or drop those rows."
        )
    types = {type(value) if type(value) in KINDS else _ancestor(value, name) for value in plain}
    if len({KINDS[kind] for kind in types}) > 1:
        examples: list[Any] = [next(value for value in plain if isinstance(value, kind)) for kind in types]
        raise InvalidDataError(f"{name} has labels of different types, such as {listed_classes(examples)}. {REMEDY}")
    if any(isinstance(value, str) and value.endswith("\0") for value in plain):
        raise InvalidDataError(f"{name} has text that ends with a null character, which NumPy drops. Remove it.")
    if str not in types:
        refuse_rounded(plain, name)
    array = np.array(plain, dtype=str if str in types else None)
    if float in types:
        _refuse_fractions(array, name)
    return array + 0.0 if float in types else array


def _ancestor(value: Any, name: str) -> type:
    """Return the type that a label of a derived type stands for, or raise."""
    for kind in KINDS:
        if isinstance(value, kind):
            return kind
    raise InvalidDataTypeError(f"Unknown label type: {name} has {type(value).__name__} values. {REMEDY}")


def _refuse_fractions(array: NDArray[Any], name: str) -> None:
    """Raise for floats that are not whole numbers: probabilities and other targets of a regression."""
    from sklearn.utils.validation import assert_all_finite

    with typed_errors(None):
        assert_all_finite(array, input_name=name)
    broken = array[array != np.round(array)]
    if len(broken):
        raise InvalidDataError(
            f"Unknown label type: continuous. {name} has {broken[0]:g}, which is not the label of a class. {REMEDY} "
            "For targets that are numbers, use GeneralizedRidge."
        )
