"""The one door for data: whatever a user passes leaves here as a checked `Task`, or as a typed error."""

from ridgeway._checks import LARGEST
from ridgeway.data._addresses import is_address, stamp_of
from ridgeway.data._class_labels import coded_labels
from ridgeway.data._classes import Classes, Label, class_name, joined_classes, listed_classes
from ridgeway.data._columns import (
    Categories,
    Numbers,
    as_labels,
    as_numbers,
    index_columns,
    is_number,
    kind_of,
    label_of,
)
from ridgeway.data._csv_tables import CsvFormat
from ridgeway.data._encoder import READERS, Encoder, source_value
from ridgeway.data._encoding import MISSING, OTHER, Encoding, MissingRule, UnknownRule
from ridgeway.data._file_rows import Progress, check_file, refuse_not_finite, rows_in_memory, tasks_in
from ridgeway.data._inferred import inferred, refuse_stray_text
from ridgeway.data._keep import Keep, checked_keep
from ridgeway.data._offset_column import OffsetColumn, checked_offset_column
from ridgeway.data._open import expand, open_groups, open_stream, open_table, part_names
from ridgeway.data._raw_tasks import raw_tasks
from ridgeway.data._rebased import Rebased, new_references, rebased
from ridgeway.data._row_blocks import Block, RowBatch, checked_rows, cut
from ridgeway.data._schema import InformationKind, Schema, WeightKind, check_columns, checked_schema, listed
from ridgeway.data._tables import Table
from ridgeway.data._target_family import FamilyName, MemoryKind, TargetFamily, checked_family
from ridgeway.data._task import Task, dense, is_sparse
from ridgeway.data._terms import Term, column_term, parse_terms
from ridgeway.data._united import differences, united
from ridgeway.data._validation import (
    check_offset,
    check_rows,
    check_single_target,
    check_tasks,
    check_values,
    columns_of_a_model,
)
from ridgeway.data._widening import Widening, widened_schema, widening
from ridgeway.data._writer import writer

__all__ = [
    "LARGEST",
    "MISSING",
    "OTHER",
    "READERS",
    "Block",
    "Categories",
    "Classes",
    "CsvFormat",
    "Encoder",
    "Encoding",
    "FamilyName",
    "InformationKind",
    "Keep",
    "Label",
    "MemoryKind",
    "MissingRule",
    "Numbers",
    "OffsetColumn",
    "Progress",
    "Rebased",
    "RowBatch",
    "Schema",
    "Table",
    "TargetFamily",
    "Task",
    "Term",
    "UnknownRule",
    "WeightKind",
    "Widening",
    "as_labels",
    "as_numbers",
    "check_columns",
    "check_file",
    "check_offset",
    "check_rows",
    "check_single_target",
    "check_tasks",
    "check_values",
    "checked_family",
    "checked_keep",
    "checked_offset_column",
    "checked_rows",
    "checked_schema",
    "class_name",
    "coded_labels",
    "column_term",
    "columns_of_a_model",
    "cut",
    "dense",
    "differences",
    "expand",
    "index_columns",
    "inferred",
    "is_address",
    "is_number",
    "is_sparse",
    "joined_classes",
    "kind_of",
    "label_of",
    "listed",
    "listed_classes",
    "new_references",
    "open_groups",
    "open_stream",
    "open_table",
    "parse_terms",
    "part_names",
    "raw_tasks",
    "rebased",
    "refuse_not_finite",
    "refuse_stray_text",
    "rows_in_memory",
    "source_value",
    "stamp_of",
    "tasks_in",
    "united",
    "widened_schema",
    "widening",
    "writer",
]
