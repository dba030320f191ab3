"""The target column of a table, if its values are classes: what they are, and which of them occur."""

from typing import Any

import numpy as np

from ridgeway.data._classes import KINDS, Classes
from ridgeway.data._columns import EXACT, Categories, Kind, Numbers, is_number, kind_of
from ridgeway.data._schema import Schema
from ridgeway.data._tables import Table
from ridgeway.data._target_family import LABEL_KINDS
from ridgeway.errors import InvalidDataError, InvalidDataTypeError

WORDS: dict[str | None, str] = {kind: KINDS[label] for label, kind in LABEL_KINDS.items()}
REMEDY = "The labels of classes are text, whole numbers or bools."


def label_kind(table: Table, schema: Schema) -> Kind | None:
    """Return what the labels of a table are, None if the target is not a class; raise if they are of another type.

    A CSV file does not say. There, numbers are text if some of the known classes are numbers written as text.
    """
    if schema.family is None or not schema.family.has_classes:
        return None
    (name,), known = schema.targets, schema.family.label_kind
    given = table.types([name])[name]
    kind = kind_of(given)
    if kind not in LABEL_KINDS.values():
        raise InvalidDataTypeError(f"{table.source}: column {name!r} has type {given}. {REMEDY}")
    as_written = table.types_as_written([name])[name] != given
    numerals = as_written and known == "text" and any(is_number(str(label)) for label in schema.family.classes)
    if known in (None, kind) or numerals or str(given) == "null":
        return known or kind
    raise InvalidDataError(
        f"{table.source}: column {name!r} has labels that are {WORDS[kind]}; the classes so far are {WORDS[known]}, "
        f"such as {schema.family.classes[0]!r}. Convert the labels to the same type."
    )


def classes_in(column: Any, kind: Kind | None, name: str, source: str) -> Classes:
    """Return the classes of the rows of a column without gaps, or raise if a value is not a label."""
    if isinstance(column, Categories):
        return tuple(column.names[code] for code in np.unique(column.codes))
    values: Numbers = column
    found = np.unique(values.values)
    wrong = found[(found != np.round(found)) | ~(np.abs(found) < EXACT)]
    if len(wrong):
        raise InvalidDataError(
            f"{source}: column {name!r} has {wrong[0]:g}, which is not the label of a class. {REMEDY} For numbers, "
            "start a file of family gaussian."
        )
    return tuple(bool(value) if kind == "boolean" else int(value) for value in found)
