"""Where the parts of a task begin and end: row ranges of files or partitions, cut at the chunks of the digest."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from itertools import accumulate, repeat
from typing import Any, NamedTuple

import numpy as np

from ridgeway.data import (
    CsvFormat,
    Schema,
    Table,
    as_numbers,
    check_file,
    open_groups,
    open_table,
    stamp_of,
    tasks_in,
    united,
)
from ridgeway.errors import InvalidDataError
from ridgeway.store import CHUNK_ROWS, PartLearner

PART_ENTRIES = 2**25
"""Numbers in a part, about. Row groups of one file are put together until they have that many."""
ROWS_PER_COLUMN = 4
"""The rows of such a part per column, at least: learning them takes longer than merging what they leave."""
COUNTED_ROWS = 2**16
"""Rows that are counted at a time."""


class FilePiece(NamedTuple):
    """Rows that are read together.

    Attributes
    ----------
    source : str
        The path or address of a file, or what messages call a partition.
    stamp : str
        What changes when the file changes.
    groups : tuple of int, or None
        The first row group and the one after the last; None for the whole file or partition.
    n_rows : int
        Rows that are learned: those with weight 0, or with missing values that are dropped, do not count.
    """

    source: str
    stamp: str
    groups: tuple[int, int] | None
    n_rows: int

    def __str__(self) -> str:
        return (
            self.source if self.groups is None else f"{self.source}, row groups {self.groups[0]}–{self.groups[1] - 1}"
        )


class Survey(NamedTuple):
    """What is known of a file or partition before it is learned: its pieces, the schema that it needs, rows dropped."""

    pieces: list[FilePiece]
    schema: Schema
    dropped: Counter[tuple[str, ...]]


class RowRange(NamedTuple):
    """Rows of a task that one worker learns: `n_rows` of some pieces, after `skip` rows of the first of them."""

    first: int
    pieces: tuple[FilePiece, ...]
    skip: int
    n_rows: int


def surveyed(source: str, schema: Schema, csv: CsvFormat | None, data: Any = None) -> Survey:
    """Count the rows of a file or partition. The rows are read only if the number cannot be known otherwise."""
    stamp = stamp_of(source) if data is None else ""
    table = open_table(source, csv=csv) if data is None else open_table(data, source=source)
    check_file(table, schema, ())
    spans: list[tuple[int, int] | None] = [None]
    n_rows, groups = [table.n_rows], table.group_rows
    if groups is not None:
        ends = _ends(groups, max(ROWS_PER_COLUMN * schema.width, PART_ENTRIES // schema.width))
        cut = list(zip([0, *ends[:-1]], ends, strict=True))
        spans, n_rows = [*cut], [sum(groups[start:stop]) for start, stop in cut]
    dropped, pieces, grown = Counter[tuple[str, ...]](), list[FilePiece](), schema
    for span, known in zip(spans, n_rows, strict=True):
        piece = FilePiece(source, stamp, span, 0)
        count, grown = _counted(_opened(piece, csv, data), grown, known, dropped)
        pieces.append(piece._replace(n_rows=count))
    return Survey(pieces, grown, dropped)


def _ends(groups: Sequence[int], enough: int) -> list[int]:
    """Return where row groups are divided, so that each range but the last has enough rows."""
    ends, rows = list[int](), 0
    for number, n_rows in enumerate(groups, start=1):
        rows += n_rows
        if rows >= enough:
            ends.append(number)
            rows = 0
    return ends if ends and ends[-1] == len(groups) else [*ends, len(groups)]


def _counted(table: Table, schema: Schema, known: int | None, dropped: Counter[tuple[str, ...]]) -> tuple[int, Schema]:
    """Return how many rows of a table are learned, and the schema, which they may widen."""
    rules = schema.raw
    if rules is not None and (rules.missing != "refuse" or rules.unknown == "widen"):
        count = 0
        with closing(tasks_in(table, schema, "", dropped=dropped, ahead=False)) as blocks:
            for _, block in blocks:
                count, schema = count + len(block.X), block.schema
        return count, schema
    weight = schema.weight_column
    if weight is None and known is not None:
        return known, schema
    name = schema.columns[0] if weight is None else weight
    batches = table.batches([name], rows=COUNTED_ROWS)
    if weight is None:
        return sum(map(len, batches)), schema
    return sum(int(np.count_nonzero(as_numbers(b.column(0), name, table.source))) for b in batches), schema


def _opened(piece: FilePiece, csv: CsvFormat | None, data: Any) -> Table:
    if data is not None:
        return open_table(data, source=piece.source)
    if piece.groups is None:
        return open_table(piece.source, csv=csv)
    return open_groups(piece.source, range(*piece.groups), threads=False)


def schema_of_all(surveys: Sequence[Survey], schema: Schema) -> Schema:
    """Return the schema that all files need; its columns do not depend on their order."""
    for survey in surveys:
        if survey.schema != schema:
            schema = united(schema, survey.schema)[0]
    return schema


def planned(pieces: Sequence[FilePiece]) -> list[RowRange]:
    """Return the parts of a task, one for each piece.

    A part begins with the first chunk of the digest that begins in its piece, and ends with the last such chunk, whose
    rows may be in the next pieces. So every chunk is in one part, and the digest is that of the whole table.
    """
    starts = [0, *accumulate(piece.n_rows for piece in pieces)]
    parts = []
    for number, start in enumerate(starts[:-1]):
        begin, end = (min(-(-place // CHUNK_ROWS) * CHUNK_ROWS, starts[-1]) for place in starts[number : number + 2])
        if begin < end:
            last = bisect_left(starts, end)
            parts.append(RowRange(number, tuple(pieces[number:last]), begin - start, end - begin))
    return parts


def learned(part: RowRange, schema: Schema, csv: CsvFormat | None, data: Sequence[Any] | None = None) -> dict[str, Any]:
    """Return what a part of a task leaves, as arrays; `data` are the partitions, if it is not of files."""
    learner, skip, left = PartLearner(schema), part.skip, part.n_rows
    for piece, given in zip(part.pieces, repeat(None) if data is None else data, strict=data is not None):
        table = _opened(piece, csv, given)
        with closing(tasks_in(table, schema, "", ahead=False)) as blocks:
            while left and (found := next(blocks, None)) is not None:
                block = found[1].cut(slice(skip, skip + left))
                skip, left = max(0, skip - len(found[1].X)), left - len(block.X)
                if len(block.X):
                    learner.add(block)
    if left or (data is None and any(stamp_of(piece.source) != piece.stamp for piece in part.pieces)):
        raise InvalidDataError("the rows changed while they were read. Absorb files that nobody writes to.")
    return learner.finish().to_arrays()
