"""The one door for data: whatever a user passes leaves here as a checked `Task`, or as a typed error."""

from ridgeway._checks import LARGEST
from ridgeway.data._columns import Categories, Numbers, index_columns, is_number
from ridgeway.data._encoded_rows import EncodedRows, encode
from ridgeway.data._encoding import Encoding
from ridgeway.data._file_rows import Progress, check_file, explained, features_of, numbers, read_rows, tasks_in
from ridgeway.data._raw_tasks import raw_tasks
from ridgeway.data._row_blocks import Block, checked_rows, cut
from ridgeway.data._schema import InformationKind, Schema, WeightKind, check_columns, checked_schema, listed
from ridgeway.data._tables import Table, open_table, writer
from ridgeway.data._task import Task, dense, is_sparse
from ridgeway.data._typed import TypedTable
from ridgeway.data._validation import check_rows, check_tasks, check_values, columns_of_a_model

__all__ = [
    "LARGEST",
    "Block",
    "Categories",
    "EncodedRows",
    "Encoding",
    "InformationKind",
    "Numbers",
    "Progress",
    "Schema",
    "Table",
    "Task",
    "TypedTable",
    "WeightKind",
    "check_columns",
    "check_file",
    "check_rows",
    "check_tasks",
    "check_values",
    "checked_rows",
    "checked_schema",
    "columns_of_a_model",
    "cut",
    "dense",
    "encode",
    "explained",
    "features_of",
    "index_columns",
    "is_number",
    "is_sparse",
    "listed",
    "numbers",
    "open_table",
    "raw_tasks",
    "read_rows",
    "tasks_in",
    "writer",
]
