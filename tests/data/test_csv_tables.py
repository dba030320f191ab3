"""CSV: delimiters, decimal commas, encodings, types, and what the message says if one of them is another."""

import io
from datetime import date, datetime

import pyarrow as pa
import pytest
from click.testing import CliRunner

from ridgeway import store
from ridgeway.cli._commands import commands
from ridgeway.data import CsvFormat, _csv_tables, open_stream, open_table
from ridgeway.errors import CsvFormatError, InvalidDataError, InvalidParameterError


@pytest.fixture
def file(tmp_path):
    def written(text, name="d.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return written


def values(table, column, **kinds):
    found = table.batches([column], rows=10, kinds=kinds)
    return [value for batch in found for value in batch.column(column).to_pylist()]


@pytest.mark.parametrize("mark", [";", "|", "\t", ":", " "])
def test_delimiters(file, mark):
    text = f"x{mark}y\n1{mark}2\n"
    path = file(text)
    for table in (open_table(path, csv=CsvFormat(mark)), open_stream(io.BytesIO(text.encode()), csv=CsvFormat(mark))):
        assert table.columns == ["x", "y"]
        assert values(table, "y") == [2.0]


def test_the_default_delimiter_depends_on_the_name(file):
    assert open_table(file("x\ty\n1\t2\n", "d.TSV")).columns == ["x", "y"]
    assert open_table(file("x,y\n1,2\n", "d.tsv"), csv=CsvFormat(",")).columns == ["x", "y"]


@pytest.mark.parametrize(
    ("text", "name", "option"),
    [
        ("x;y\n1;2\n", "d.csv", "';'"),
        ("x|y\n", "d.csv", "'|'"),
        ("x\ty\n", "d.csv", r"$'\t'"),
        ("x,y\n", "d.tsv", "','"),
    ],
)
def test_another_delimiter_is_noticed(file, text, name, option):
    with pytest.raises(CsvFormatError) as caught:
        open_table(file(text, name))
    assert f"Pass --delimiter {option}." in str(caught.value)


def test_one_column_may_be_what_it_is(file):
    assert open_table(file("x;y\n1;2\n"), csv=CsvFormat(",")).columns == ["x;y"]
    assert open_table(file('"x,y"\n1\n')).columns == ["x,y"]
    assert open_table(file("x;y,z\n1,2\n")).columns == ["x;y", "z"]


def test_decimal_commas(file):
    path = file("x;y\n3,14;2\n-,5;1,0\n7;2,5\n")
    table = open_table(path, csv=CsvFormat(";", ","))
    assert table.types(["x"]) == {"x": pa.float64()}
    assert values(table, "x", x=pa.float64()) == [3.14, -0.5, 7.0]
    quoted = open_table(file('x,y\n"3,14",2\n'), csv=CsvFormat(decimal=","))
    assert values(quoted, "x") == [3.14]


def test_decimal_commas_are_noticed(file):
    table = open_table(file("x;y\n4;1\n3,14;2\n"), csv=CsvFormat(";"))
    for read in (
        lambda: table.types(["x"]),
        lambda: values(table, "x"),
        lambda: values(table, "x", x=pa.float64()),
    ):
        with pytest.raises(CsvFormatError, match=r"column 'x' has '3,14', which looks like .* Pass --decimal ','"):
            read()
    assert values(table, "x", x=pa.string()) == ["4", "3,14"]


@pytest.mark.parametrize("text", ["1,234", "a,5", "1,2,3"])
def test_other_commas_are_text(file, text):
    table = open_table(file(f'x,y\n"{text}",2\n'))
    assert table.types(["x"]) == {"x": pa.string()}
    with pytest.raises(InvalidDataError, match="which is not a number"):
        values(table, "x", x=pa.float64())


def test_decimal_commas_after_the_first_block(file, monkeypatch):
    monkeypatch.setattr(_csv_tables, "CSV_BYTES", 100)
    path = file("y;x\n" + "1;1\n" * 100 + "2;2,5\n")
    with pytest.raises(CsvFormatError, match="column 'x' has '2,5'"):
        values(open_table(path, csv=CsvFormat(";")), "x", x=pa.float64())


def test_decimal_points_where_commas_are_expected(file):
    table = open_table(file("x;y\n3.14;2\n"), csv=CsvFormat(";", ","))
    with pytest.raises(CsvFormatError, match=r"'3.14', with a decimal point. Leave out --decimal"):
        values(table, "x", x=pa.float64())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('x,y\n1,2\n"3,14",2\n', "Pass --decimal ','."),
        ("x;y\n1;2\n", "Pass --delimiter ';'."),
        ("x,y\n1,2\nthree,2\n", "column 'x' has 'three', which is not a number"),  # control: another text
    ],
)
def test_the_hint_reaches_the_user(file, tmp_path, text, message):
    state = store.create(tmp_path / "s.rw", features=["x"], target="y").path
    before = state.read_bytes()
    result = CliRunner().invoke(commands, ["absorb", str(state), str(file(text)), "--task", "a"])
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert message in result.stderr
    assert state.read_bytes() == before


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8", "utf-8-sig"])
def test_encodings(file, encoding):
    text = "Größe,Ort\n1,Köln\n2,Bünde\n"
    path = file(text, encoding=encoding)
    style = CsvFormat(charset=encoding)
    for table in (open_table(path, csv=style), open_stream(io.BytesIO(path.read_bytes()), csv=style)):
        assert table.columns == ["Größe", "Ort"]
        assert table.types(["Ort"]) == {"Ort": pa.string()}
        assert values(table, "Ort") == ["Köln", "Bünde"]


def test_a_file_in_another_encoding(file):
    for text in ("Größe,y\n1,2\n", "x,y\nKöln,2\n"):
        with pytest.raises(
            InvalidDataError, match=r"is not UTF-8 text\. Save it as UTF-8, or pass .* --charset latin-1\."
        ):
            open_table(file(text, encoding="latin-1")).types(["x"])
    with pytest.raises(InvalidDataError, match="is not ASCII text"):
        open_table(file("x,y\nKöln,2\n"), csv=CsvFormat(charset="ascii"))


def test_characters_that_straddle_the_head(file, monkeypatch):
    monkeypatch.setattr(_csv_tables, "CSV_BYTES", 33)
    for encoding in ("utf-8", "utf-16", "latin-1"):
        path = file("x,y\n" + "ö,1\n" * 50, encoding=encoding)
        table = open_table(path, csv=CsvFormat(charset=encoding))
        assert table.types(["x", "y"]) == {"x": pa.string(), "y": pa.int64()}
        assert values(table, "x") == ["ö"] * 50


@pytest.mark.parametrize(
    "wrong",
    [{"delimiter": ";;"}, {"delimiter": ""}, {"delimiter": "a"}, {"delimiter": '"'}, {"delimiter": "\n"},
     {"delimiter": "é"}, {"delimiter": 5}, {"decimal": ";"}, {"decimal": None}, {"charset": "klingon"},
     {"charset": "base64"}, {"charset": "a\0b"}, {"charset": None}],
)  # fmt: skip
def test_formats_that_do_not_exist(wrong):
    with pytest.raises(
        InvalidParameterError, match=f"the {'decimal mark' if 'decimal' in wrong else next(iter(wrong))}"
    ):
        CsvFormat(**wrong)


def test_inferred_types(file):
    table = open_table(
        file("n,x,b,d,t,z,s,e\n1,1.5,true,2020-01-31,2020-01-31 10:00:00,2020-01-31T10:00:00Z,a,\n2,,False,,,,NA,\n")
    )
    types = table.types(table.columns)
    assert [str(types[name]) for name in table.columns] == [
        "int64", "double", "bool", "date32[day]", "timestamp[s]", "timestamp[s, tz=UTC]", "string", "null",
    ]  # fmt: skip
    assert values(table, "d") == [date(2020, 1, 31), None]
    assert values(table, "t") == [datetime(2020, 1, 31, 10), None]
    assert values(table, "s") == ["a", None]
    assert values(table, "n") == [1.0, 2.0]
    assert values(table, "n", n=pa.int64()) == [1, 2]
    assert values(table, "n", n=pa.string()) == ["1", "2"]


def test_what_the_first_block_does_not_show(file, monkeypatch):
    monkeypatch.setattr(_csv_tables, "CSV_BYTES", 100)
    table = open_table(file("n,s\n" + "1,\n" * 100 + "1.5,late\n"))
    assert table.types(["n", "s"]) == {"n": pa.int64(), "s": pa.null()}
    assert values(table, "n")[-1] == 1.5
    assert values(table, "s", s=pa.string())[-2:] == [None, "late"]
    with pytest.raises(InvalidDataError, match="cannot be read: In CSV column #1"):  # control
        values(table, "s")


@pytest.mark.parametrize("spelling", ["true,false", "True,False", "TRUE,FALSE", "1,0"])
def test_booleans(file, spelling):
    yes, no = spelling.split(",")
    table = open_table(file(f"b,y\n{yes},1\n{no},1\n,1\n"))
    assert values(table, "b", b=pa.bool_()) == [True, False, None]
    assert values(table, "b", b=pa.float64()) == [1.0, 0.0, None]


@pytest.mark.parametrize("gap", ["", "NA", "NaN", "null", "N/A"])
def test_missing_values(file, gap):
    table = open_table(file(f"x,s,y\n{gap},{gap},1\n1,a,1\n"))
    (batch,) = table.batches(["x", "s"], rows=9, kinds={"x": pa.float64(), "s": pa.string()})
    assert batch.to_pydict() == {"x": [None, 1.0], "s": [None, "a"]}


def test_types_of_a_pipe_lose_no_rows(monkeypatch):
    monkeypatch.setattr(_csv_tables, "CSV_BYTES", 100)
    lines = [f"{i},a{i}" for i in range(500)]
    table = open_stream(io.BytesIO("\n".join(["n,s", *lines]).encode()))
    assert table.types(["n"]) == {"n": pa.int64()}
    assert values(table, "n", n=pa.float64()) == list(range(500))
