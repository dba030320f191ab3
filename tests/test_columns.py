"""pandas' index is told from the columns of a table, whatever a file's metadata hold."""

import pandas as pd
import pyarrow as pa
import pytest

from ridgeway.data import index_columns


def test_the_index_is_what_pandas_itself_takes_back():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [5.0, 6.0]})
    for kept in (["a"], ["c", "a"], []):
        table = pa.Table.from_pandas(frame.set_index(kept) if kept else frame)
        assert sorted(index_columns(table.column_names, table.schema.metadata)) == sorted(kept)
        assert not kept or sorted(table.to_pandas().index.names) == sorted(kept)


@pytest.mark.parametrize(
    "notes",
    [b"", b"no json", b"\xff", b"[]", b"7", b"{}", b'{"index_columns": 7}', b'{"index_columns": [7]}', b"[" * 10**5],
)
def test_metadata_that_say_nothing_are_no_harm(notes):
    assert index_columns(["a", "b"], {b"pandas": notes}) == []
    assert index_columns(["", "b", "__index_level_12__"], {b"pandas": notes}) == ["", "__index_level_12__"]
    assert index_columns(["b", "Unnamed: 0", "index_level"]) == []
