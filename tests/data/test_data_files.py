"""Several files, patterns, and files that are written."""

from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest

from ridgeway.data import expand, open_table, writer
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("m-2013-10.csv", "m-2013-2.csv", "m-2013-1.csv", "odd[1].csv", "odd1.csv"):
        Path(name).touch()
    Path("m-folder.csv").mkdir()
    return tmp_path


def names(*paths):
    return [str(path) for path in expand(paths)]


def test_patterns_are_sorted_as_people_count(folder):
    months = ["m-2013-1.csv", "m-2013-2.csv", "m-2013-10.csv"]
    assert names("m-*.csv") == months
    assert names("m-2013-?.csv") == months[:2]
    assert names("m-2013-[12].csv") == months[:2]
    assert names(str(folder / "m-*.csv")) == [str(folder / name) for name in months]


def test_paths_keep_their_order_and_count_once(folder):
    assert names("m-2013-2.csv", "m-*.csv", "./m-2013-1.csv") == ["m-2013-2.csv", "m-2013-1.csv", "m-2013-10.csv"]
    assert names("none.csv", "none.csv") == ["none.csv"]  # opening it says that it does not exist
    assert names("odd[1].csv") == ["odd[1].csv"]  # a file of that name


def test_patterns_without_a_file(folder):
    with pytest.raises(InvalidDataError, match=r"no file matches 'x-\*.csv'"):
        expand(["m-*.csv", "x-*.csv"])
    with pytest.raises(InvalidDataError, match="no file matches"):
        expand(["m-fol*"])


def test_standard_input_is_read_alone():
    assert names("-") == names("-", "-") == ["-"]
    with pytest.raises(InvalidParameterError, match=r"'-' \(standard input\) cannot be combined"):
        expand(["-", "a.csv"])


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow"])
def test_columns_of_any_type_are_written(tmp_path, ending):
    table = pa.table(
        {
            "flight": pa.array(["007", None, 'a,"b\t'], pa.string()),
            "n": [2**60, 2, None],
            "when": [datetime(2020, 1, 31, 10), None, None],
            "flag": [True, None, False],
            "site": pa.array(["u", "v", "u"]).dictionary_encode(),
            "predicted": [0.1, None, 3.0],
        }
    )
    path = tmp_path / f"p.{ending}"
    with writer(path, path, table.schema) as write:
        write(table[:2])
        write(table[2:])
    opened = open_table(path)
    kinds = {"flight": pa.string(), "n": pa.int64()}
    found = pa.Table.from_batches(opened.batches(table.column_names, rows=9, kinds=kinds))
    assert found.to_pydict() == table.to_pydict()


def test_columns_that_cannot_be_written(tmp_path):
    table = pa.table({"x": [[1, 2]]})
    refused = pytest.raises(InvalidDataTypeError, match=r"a column cannot be written to .*p\.csv: .*list")
    with refused, writer(tmp_path / "p.csv", tmp_path / "t", table.schema) as write:
        write(table)
