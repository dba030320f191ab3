"""Arrow data from anywhere: batch by batch, as often as it can be read, and never less than was sent."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ridgeway.data import open_stream, open_table
from ridgeway.errors import InvalidDataError, InvalidDataTypeError

TABLE = pa.table({"x": [1.0, 2.0, 3.0], "word": ["a", None, "b"], "n": [7, 8, 9]})


class Relation:
    """What a query is: each call of `__arrow_c_stream__` runs it again."""

    def __init__(self, make):
        self.make = make

    def __arrow_c_stream__(self, requested_schema=None):
        return self.make().__arrow_c_stream__(requested_schema)


class OneBatch:
    """Arrow data of one batch that is not a pyarrow object."""

    def __arrow_c_array__(self, requested_schema=None):
        return TABLE.to_batches()[0].__arrow_c_array__(requested_schema)


def rows(table, columns=("word", "x", "n")):
    return pa.Table.from_batches(table.batches(columns, rows=2)).to_pylist()


EXPECTED = TABLE.select(["word", "x", "n"]).to_pylist()
AGAIN = {
    "table": TABLE,
    "batch": TABLE.to_batches()[0],
    "relation": Relation(TABLE.to_reader),
    "one batch": OneBatch(),
    "polars": pl.from_arrow(TABLE),
    "pandas": TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "mapping": dict(zip(TABLE.column_names, TABLE.columns, strict=True)),
}


@pytest.mark.parametrize("kind", AGAIN)
def test_what_can_be_read_again(kind):
    table = open_table(AGAIN[kind])
    types = table.types(["n", "word"])
    assert types["n"] == pa.int64()
    assert types["word"] in (pa.string(), pa.large_string())
    assert table.columns == ["x", "word", "n"]
    assert rows(table) == rows(table) == EXPECTED
    assert table.read(["x"]).to_pydict() == {"x": [1.0, 2.0, 3.0]}
    assert {len(batch) for batch in table.batches(["x"], rows=2)} == {2, 1}


def test_a_reader_is_read_once():
    table = open_table(TABLE.to_reader(), source="the query")
    assert (table.n_rows, table.types(["x"])) == (None, {"x": pa.float64()})
    assert rows(table) == EXPECTED
    with pytest.raises(InvalidDataError, match=r"the query can be read only once. Write it to a file"):
        rows(table)


def test_a_stream_that_changes_is_not_read_as_if_it_were_the_same():
    """pyarrow reads a reader that is used up as an empty one."""
    reader = TABLE.to_reader()
    table = open_table(Relation(lambda: reader))
    assert rows(table) == EXPECTED
    with pytest.raises(InvalidDataError, match="can be read only once"):
        rows(table)


def test_a_column_is_not_the_number_of_rows():
    relation = Relation(TABLE.to_reader)
    relation.height = "a column"
    table = open_table(relation)
    assert table.n_rows is None
    assert rows(table) == EXPECTED


def test_categories_of_polars():
    frame = pl.DataFrame({"c": pl.Series(["u", None, "u"], dtype=pl.Categorical)})
    table = open_table(frame)
    assert table.types(["c"])["c"].value_type == pa.string()
    assert table.read(["c"]).column("c").to_pylist() == ["u", None, "u"]
    assert table.n_rows == 3


def broken():
    yield TABLE.to_batches()[0]
    raise ValueError("the connection was lost")


@pytest.mark.parametrize("wrap", [lambda reader: reader, lambda reader: Relation(lambda: reader)])
def test_a_stream_that_breaks_in_the_middle(wrap):
    table = open_table(wrap(pa.RecordBatchReader.from_batches(TABLE.schema, broken())), source="the query")
    with pytest.raises(InvalidDataError, match=r"the query cannot be read: .*the connection was lost"):
        rows(table)


def test_a_stream_that_cannot_be_opened():
    def closed():
        raise RuntimeError("connection already closed")

    with pytest.raises(InvalidDataError, match="the query cannot be read: connection already closed"):
        open_table(Relation(closed), source="the query")


def test_arrow_data_that_is_not_a_table():
    for data in (pa.array([1]), pl.Series([1]), [1]):
        with pytest.raises(InvalidDataTypeError, match="cannot"):
            open_table(data)


def test_damaged_batches_are_refused():
    offsets = pa.py_buffer(np.array([0, 99, 1], np.int32))
    bad = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"a")])
    batch = pa.RecordBatch.from_arrays([bad], ["word"])
    table = open_table(pa.RecordBatchReader.from_batches(batch.schema, [batch]))
    with pytest.raises(InvalidDataError, match="cannot be read"):
        list(table.batches(["word"], rows=2))


def test_memory_of_a_long_stream_is_bounded():
    """Two million rows are 32 MB; a batch of 10,000 is 160 kB."""

    def batches():
        for _ in range(200):
            yield pa.record_batch({"x": pa.nulls(10_000, pa.float64()), "y": pa.nulls(10_000, pa.float64())})

    schema = pa.schema([("x", pa.float64()), ("y", pa.float64())])
    for keep, bounded in ((False, True), (True, False)):  # the second is a control
        table = open_table(pa.RecordBatchReader.from_batches(schema, batches()))
        before, most, kept, done = pa.total_allocated_bytes(), 0, [], 0
        for batch in table.batches(["x", "y"], rows=4096):
            done += len(batch)
            kept += [batch] if keep else []
            most = max(most, pa.total_allocated_bytes() - before)
        assert done == 2_000_000
        assert (most < 2_000_000) == bounded


def ipc(new, table=TABLE):
    sink = io.BytesIO()
    with new(sink, table.schema) as out:
        out.write_table(table, max_chunksize=2)
    return sink.getvalue()


class Trickle(io.RawIOBase):
    """A pipe that gives a few bytes at a time, and cannot go back."""

    def __init__(self, content):
        self.content = io.BytesIO(content)

    def read(self, size=-1):
        return self.content.read(min(size, 5))


CSV = b"x,word,n\n1,a,7\n2,,8\n3,b,9\n"


@pytest.mark.parametrize("pipe", [io.BytesIO, Trickle])
@pytest.mark.parametrize("content", [ipc(pa.ipc.new_stream), ipc(pa.ipc.new_file), CSV], ids=["stream", "file", "csv"])
def test_a_pipe(content, pipe):
    table = open_stream(pipe(content))
    assert (table.source, table.n_rows, table.columns) == ("standard input", None, ["x", "word", "n"])
    assert table.types(["word", "n"]) == table.types(["word", "n"]) == {"word": pa.string(), "n": pa.int64()}
    assert rows(table) == EXPECTED
    with pytest.raises(InvalidDataError, match="standard input can be read only once"):
        rows(table)


def test_a_pipe_that_was_cut_off():
    """Also between two messages, which Arrow takes for the end."""
    content = ipc(pa.ipc.new_stream)
    refused = 0
    for end in range(8, len(content), 4):
        with pytest.raises(InvalidDataError, match=r"standard input (was cut off|cannot be read)"):
            rows(open_stream(io.BytesIO(content[:end])))
        refused += 1
    assert refused > 100
    assert len(list(pa.ipc.open_stream(content[:-8]))) == 2  # pyarrow itself does not notice


def test_a_stream_in_a_file_that_was_cut_off(tmp_path):
    path, content = tmp_path / "d.arrow", ipc(pa.ipc.new_stream)
    path.write_bytes(content)
    assert rows(open_table(path)) == EXPECTED
    path.write_bytes(content[:-8])
    with pytest.raises(InvalidDataError, match=r"d.arrow was cut off"):
        rows(open_table(path))


def test_pipes_that_cannot_be_read():
    with pytest.raises(InvalidDataError, match="standard input is empty"):
        open_stream(io.BytesIO())
    with pytest.raises(InvalidDataError, match="is a Parquet file, which cannot be read from a pipe"):
        open_stream(io.BytesIO(b"PAR1...."))
