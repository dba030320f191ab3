"""Every type of Arrow is read, with the right values, or refused in words: in memory, in files and in streams."""

from datetime import date, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import compute, parquet

from ridgeway import store
from ridgeway.errors import InvalidDataError, InvalidDataTypeError

NUMBERS = [1, 2, 3, 1, 2, 5]
TEXT = ["a", "b", "c", "a", "b", "d"]
DAYS = [date(2020, month, 1) for month in NUMBERS]
Z = [0.5, 0.1, 0.2, 0.7, 0.8, 0.9]
Y = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0]


def encoded(values, indices="int32"):
    """Return an array as a dictionary, with its values in their order of appearance."""
    places = [NUMBERS.index(number) for number in NUMBERS]
    return pa.DictionaryArray.from_arrays(pa.array(places, indices), values)


def in_runs(values):
    return pa.RunEndEncodedArray.from_arrays(pa.array(range(1, 7), "int32"), values)


def numeric():
    """Return arrays of the numbers, by name."""
    names = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
    arrays = {name: pa.array(NUMBERS, name) for name in names}
    arrays["float16"] = pa.array(np.array(NUMBERS, dtype=np.float16))
    for name in ("decimal32", "decimal64", "decimal128", "decimal256"):
        if hasattr(pa, name):  # the first two need pyarrow 18
            arrays[name] = pa.array([Decimal(number) for number in NUMBERS], getattr(pa, name)(5, 2))
    dictionaries = {f"dictionary of {name}": encoded(values) for name, values in arrays.items()}
    dictionaries["uint8 into a dictionary"] = encoded(arrays["float64"], "uint8")
    return arrays | dictionaries


def textual():
    arrays = {name: pa.array(TEXT, getattr(pa, name)()) for name in ("string", "large_string", "string_view")}
    return arrays | {f"dictionary of {name}": encoded(values) for name, values in arrays.items()}


def dated():
    zoned = compute.assume_timezone(pa.array(DAYS, "date32").cast(pa.timestamp("us")), "Europe/Berlin")
    arrays = {"date32": pa.array(DAYS, "date32"), "date64": pa.array(DAYS, "date64"), "zoned": zoned}
    arrays |= {f"timestamp in {unit}": pa.array(DAYS, "date32").cast(pa.timestamp(unit)) for unit in ("s", "ms", "us")}
    arrays["timestamp in ns"] = arrays["timestamp in us"].cast(pa.timestamp("ns"))
    dictionaries = {f"dictionary of {name}": encoded(values) for name, values in arrays.items() if name != "zoned"}
    utc = compute.assume_timezone(arrays["timestamp in us"], "UTC")  # Parquet loses other zones of dictionaries
    return arrays | dictionaries | {"dictionary of zoned": encoded(utc)}


def unusable():
    """Return arrays that are neither numbers, nor text, nor dates."""
    as_bytes = [text.encode() for text in TEXT]
    lists = [[float(number)] for number in NUMBERS]
    numbers = pa.array(NUMBERS, "float64")
    selected = pa.array([0] * 6, "int8")
    arrays = {
        "time32": pa.array([time(number) for number in NUMBERS], pa.time32("s")),
        "time64": pa.array([time(number) for number in NUMBERS], pa.time64("us")),
        "duration": pa.array([timedelta(number) for number in NUMBERS], pa.duration("s")),
        "interval": pa.array([(1, number, 3) for number in NUMBERS], pa.month_day_nano_interval()),
        "binary": pa.array(as_bytes, pa.binary()),
        "large_binary": pa.array(as_bytes, pa.large_binary()),
        "fixed_size_binary": pa.array(as_bytes, pa.binary(1)),
        "binary_view": pa.array(as_bytes, pa.binary_view()),
        "list": pa.array(lists),
        "large_list": pa.array(lists, pa.large_list(pa.float64())),
        "fixed_size_list": pa.array(lists, pa.list_(pa.float64(), 1)),
        "list_view": pa.array(lists, pa.list_view(pa.float64())),
        "large_list_view": pa.array(lists, pa.large_list_view(pa.float64())),
        "struct": pa.array([{"a": number} for number in NUMBERS]),
        "map": pa.array([[("a", number)] for number in NUMBERS], pa.map_(pa.string(), pa.int64())),
        "sparse union": pa.UnionArray.from_sparse(selected, [numbers]),
        "dense union": pa.UnionArray.from_dense(selected, pa.array(range(6), "int32"), [numbers]),
        "runs of numbers": in_runs(numbers),
        "runs of text": in_runs(pa.array(TEXT)),
        "extension": pa.ExtensionArray.from_storage(
            pa.fixed_shape_tensor(pa.float64(), [1]), pa.array(lists, pa.list_(pa.float64(), 1))
        ),
    }
    arrays |= {f"dictionary of {name}": encoded(arrays[name]) for name in ("time64", "duration", "binary", "list")}
    if hasattr(pa, "bool8"):
        arrays["bool8"] = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0] * 3, "int8"))
        arrays["uuid"] = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16)] * 6, pa.binary(16)))
    return arrays


def from_ipc(table, folder):
    with pa.OSFile(f"{folder}/rows.arrow", "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return f"{folder}/rows.arrow"


def from_stream_file(table, folder):
    with pa.OSFile(f"{folder}/stream.arrow", "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return f"{folder}/stream.arrow"


def from_parquet(table, folder):
    parquet.write_table(table, f"{folder}/rows.parquet")
    return f"{folder}/rows.parquet"


FORMS = {
    "memory": lambda table, folder: table,
    "batch": lambda table, folder: table.to_batches()[0],
    "Arrow file": from_ipc,
    "Arrow stream": from_stream_file,
    "Parquet": from_parquet,
}


def rows_with(column):
    return pa.table({"x": column, "z": pa.array(Z), "y": pa.array(Y)})


def forms_of(column, folder):
    """Yield the table with this column in each form that can hold it."""
    for name, make in FORMS.items():
        try:
            yield name, make(rows_with(column), folder)
        except pa.ArrowException:
            assert name == "Parquet"


def learned(table, features, path):
    encoding = store.encoding_of(table, features=features, leave_out=["y"])
    state = store.create(path, features=encoding, target="y")
    state.absorb_table(table, task_id="all")
    return state.model().coef_


def least_squares(*columns):
    design = np.column_stack([*columns, Z, np.ones(6)])
    return np.linalg.lstsq(design, Y, rcond=None)[0][:-1]


@pytest.mark.parametrize("name", numeric())
def test_numbers_are_read_from_columns_of_any_type(name, tmp_path):
    expected = least_squares(NUMBERS)
    for form, table in forms_of(numeric()[name], tmp_path):
        np.testing.assert_allclose(learned(table, None, tmp_path / f"{form}.rw"), expected, rtol=1e-9)
        plain = store.create(tmp_path / f"{form} as it is.rw", features=["x", "z"], target="y")
        plain.absorb_table(table, task_id="all")
        np.testing.assert_allclose(plain.model().coef_, expected, rtol=1e-9)


@pytest.mark.parametrize("name", textual())
def test_categories_are_read_from_text_of_any_type(name, tmp_path):
    expected = least_squares(*(np.array(TEXT) == level for level in "bcd"))
    for form, table in forms_of(textual()[name], tmp_path):
        np.testing.assert_allclose(learned(table, None, tmp_path / f"{form}.rw"), expected, rtol=1e-9)


@pytest.mark.parametrize("name", dated())
def test_dates_are_read_from_columns_of_any_type(name, tmp_path):
    expected = least_squares([(day - date(2020, 1, 1)).days for day in DAYS])
    for form, table in forms_of(dated()[name], tmp_path):
        fitted = learned(table, "days(x, 2020-01-01), z", tmp_path / f"{form}.rw")
        np.testing.assert_allclose(fitted, expected, rtol=1e-9)
        with pytest.raises(InvalidDataTypeError, match=r"column 'x' is a date\. Say how to use it"):
            store.encoding_of(table, leave_out=["y"])


@pytest.mark.parametrize("values", [pa.array([True, False] * 3), encoded(pa.array([True, False] * 3))], ids=str)
def test_booleans_count_as_0_and_1(values, tmp_path):
    expected = least_squares(values.to_pylist())
    for form, table in forms_of(values, tmp_path):
        np.testing.assert_allclose(learned(table, None, tmp_path / f"{form}.rw"), expected, rtol=1e-9)


@pytest.mark.parametrize("name", unusable())
def test_other_types_are_refused_in_words(name, tmp_path):
    column = unusable()[name]
    for form, table in forms_of(column, tmp_path):
        if form == "Parquet" and parquet.read_schema(table).field("x").type != column.type:
            continue  # Parquet has changed the type
        with pytest.raises(InvalidDataTypeError, match=r"column 'x' has type .*(Convert it, or leave it out)"):
            store.encoding_of(table, leave_out=["y"])
        state = store.create(tmp_path / f"{form}.rw", features=["x", "z"], target="y")
        with pytest.raises(InvalidDataTypeError, match=r"column 'x' has type "):
            state.absorb_table(table, task_id="all")
        assert not state.history()


@pytest.mark.parametrize("values", [pa.nulls(6), encoded(pa.nulls(6))], ids=str)
def test_a_column_of_nulls_has_missing_values(values, tmp_path):
    for form, table in forms_of(values, tmp_path):
        state = store.create(tmp_path / f"{form}.rw", features=store.encoding_of(table, leave_out=["y"]), target="y")
        with pytest.raises(InvalidDataError, match=r"column 'x' has (nulls|at least 6 missing values)"):
            state.absorb_table(table, task_id="all")


@pytest.mark.parametrize(
    ("values", "columns"),
    [
        (pd.Categorical(np.array(NUMBERS, dtype=float)), [NUMBERS]),
        (pd.Categorical(NUMBERS), [NUMBERS]),
        (pd.Categorical(TEXT), [np.array(TEXT) == level for level in "bcd"]),
        (pd.array(NUMBERS, dtype="Int64"), [NUMBERS]),
        (pd.array(NUMBERS, dtype="float64[pyarrow]"), [NUMBERS]),
    ],
    ids=["floats", "integers", "text", "Int64", "double[pyarrow]"],
)
def test_a_data_frame_is_read(values, columns, tmp_path):
    table = pd.DataFrame({"x": values, "z": Z, "y": Y})
    np.testing.assert_allclose(learned(table, None, tmp_path / "state.rw"), least_squares(*columns), rtol=1e-9)


def test_a_dictionary_of_floats_with_nulls_has_missing_values(tmp_path):
    indices = pa.array([0, 1, 2, 0, 1, 1], "int8")  # none of them is null
    column = pa.DictionaryArray.from_arrays(indices, pa.array([1.0, 3.0, None]))
    table = rows_with(column)
    encoding = store.encoding_of(table, leave_out=["y"], missing="drop")
    state = store.create(tmp_path / "state.rw", features=encoding, target="y")
    state.absorb_table(table, task_id="all")
    assert state.model().n_samples_seen_ == 5


def test_a_dictionary_of_dictionaries_is_refused():
    column = encoded(encoded(pa.array(NUMBERS, "float64")))
    with pytest.raises(InvalidDataTypeError, match=r"column 'x' has type .*Convert it, or leave it out"):
        store.encoding_of(rows_with(column), leave_out=["y"])
