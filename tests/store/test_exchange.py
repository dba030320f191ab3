"""Out and back again: safetensors with a digest of its own, predictions, and the tables that are read."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv as pacsv
from pyarrow import feather, parquet
from safetensors import safe_open
from safetensors.numpy import save_file
from store.tables import read_rows

from ridgeway import GeneralizedRidge, store
from ridgeway.errors import (
    DamagedStoreError,
    FeatureMismatchError,
    InvalidDataError,
    InvalidParameterError,
    StoreError,
)
from ridgeway.store import _exchange, _generations

FEATURES = ["a", "b"]


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(50, 2))
    return pd.DataFrame(X, columns=FEATURES).assign(y=X @ [1.0, 2.0] + rng.normal(size=50))


@pytest.fixture(params=["square_root", "moments"])
def made(request, tmp_path, rows):
    made = store.create(
        tmp_path / "made.rw", features=FEATURES, target="y", prior=[1.0, 2.0], information=request.param
    )
    made.absorb("one", rows[FEATURES][:30], rows["y"][:30])
    made.absorb("two", rows[FEATURES][30:], rows["y"][30:])
    return made


def test_export_and_import_are_bitwise(made, tmp_path):
    made.export(tmp_path / "m.safetensors")
    back = store.import_arrays(tmp_path / "m.safetensors", tmp_path / "back.rw")
    assert back.ledger() == made.ledger()
    assert back.schema == made.schema
    assert back.model().coef_.tobytes() == made.model().coef_.tobytes()
    back.check()
    assert [entry.columns for entry in back.snapshot().ledger] == [entry.columns for entry in made.snapshot().ledger]
    assert back.file_id != made.file_id
    for name, array in made.snapshot().arrays.items():
        assert back.snapshot().arrays[name].tobytes() == array.tobytes()
    with safe_open(tmp_path / "m.safetensors", framework="numpy") as file:
        manifest = json.loads(file.metadata()["ridgeway"])
        assert np.isfinite(file.get_tensor("matrix")).all()
    assert manifest["format"] == 2
    empty = store.create(tmp_path / "empty.rw", features=FEATURES, target="y")
    empty.export(tmp_path / "empty.safetensors")
    assert store.import_arrays(tmp_path / "empty.safetensors", tmp_path / "again.rw").history() == ()
    assert not list(tmp_path.glob(".*"))


def test_an_altered_export_is_refused(made, tmp_path, rng):
    path = tmp_path / "m.safetensors"
    made.export(path)
    content = path.read_bytes()
    refused = 0
    for place in rng.integers(len(content), size=200):
        altered = bytearray(content)
        altered[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(altered)
        try:
            back = store.import_arrays(path, tmp_path / "back.rw")
        except StoreError:
            refused += 1
            assert not (tmp_path / "back.rw").exists()
        else:  # a flipped bit that says the same, such as another blank
            assert back.model().coef_.tobytes() == made.model().coef_.tobytes()
            back.path.unlink()
    assert refused > 190
    path.write_bytes(content[:-100])
    with pytest.raises(DamagedStoreError, match="not an intact safetensors"):
        store.import_arrays(path, tmp_path / "back.rw")


def test_what_is_no_export(made, tmp_path, monkeypatch):
    save_file({"x": np.ones(3)}, tmp_path / "x.safetensors")
    with pytest.raises(StoreError, match="was not made by `ridgeway export`"):
        store.import_arrays(tmp_path / "x.safetensors", tmp_path / "back.rw")
    with pytest.raises(StoreError, match="there is no file"):
        store.import_arrays(tmp_path / "none.safetensors", tmp_path / "back.rw")
    with pytest.raises(InvalidParameterError, match=r"exports end with \.safetensors or \.csv"):
        made.export(tmp_path / "m.rw")
    with pytest.raises(StoreError, match="cannot be written"):
        made.export(tmp_path / "none" / "m.safetensors")
    with monkeypatch.context() as patch:
        patch.setattr(_exchange, "TOTAL_ONLY", 5)
        made.export(tmp_path / "m.safetensors")
    with pytest.raises(StoreError, match="an export of format 5"):
        store.import_arrays(tmp_path / "m.safetensors", tmp_path / "back.rw")
    monkeypatch.setattr(_generations, "MEMORY_BUDGET", 10)
    with pytest.raises(StoreError, match="beyond the budget of 10"):
        store.import_arrays(tmp_path / "m.safetensors", tmp_path / "back.rw")
    monkeypatch.undo()
    (tmp_path / "m.safetensors").unlink()
    made.export(tmp_path / "m.safetensors")
    with pytest.raises(StoreError, match="exists already"):
        store.import_arrays(tmp_path / "m.safetensors", made.path)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_predictions(made, rows, tmp_path, suffix):
    rows.assign(person="x").to_parquet(tmp_path / "new.parquet")
    seen = []
    out = tmp_path / f"p.{suffix}"
    done = made.predict_file(tmp_path / "new.parquet", out, progress=lambda *rows: seen.append(rows))
    assert done == (50, 0)
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "arrow": feather.read_feather}[suffix]
    found = read(out)
    assert list(found.columns) == ["predicted_y"]
    expected = made.model().predict(rows[FEATURES])
    assert np.allclose(found["predicted_y"], expected, rtol=1e-14)
    assert seen == [(50, 50)]


def test_predictions_of_several_targets(tmp_path, rows):
    made = store.create(tmp_path / "m.rw", features=FEATURES, target=["y", "z"])
    both = rows.assign(z=2 * rows["y"])
    made.absorb("a", both[FEATURES], both[["z", "y"]])
    both[FEATURES].to_csv(tmp_path / "new.csv", index=False)
    made.predict_file(tmp_path / "new.csv", tmp_path / "p.parquet")
    found = parquet.read_table(tmp_path / "p.parquet").to_pandas()
    assert np.allclose(found["predicted_z"], 2 * found["predicted_y"])
    model = GeneralizedRidge().fit(both[FEATURES], both[["y", "z"]])
    assert np.allclose(found, model.predict(both[FEATURES]), rtol=1e-12)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_no_rows_have_no_predictions(made, rows, tmp_path, suffix):
    rows[:0].to_csv(tmp_path / "new.csv", index=False)
    assert made.predict_file(tmp_path / "new.csv", tmp_path / f"p.{suffix}") == (0, 0)
    assert made.predict_file(tmp_path / "new.csv", tmp_path / f"\udcff.{suffix}") == (0, 0)  # a name that is not UTF-8
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[suffix]
    assert read(tmp_path / f"p.{suffix}").columns.tolist() == ["predicted_y"]
    assert len(read(tmp_path / f"p.{suffix}")) == 0


def test_predictions_that_cannot_be_made_leave_nothing(made, rows, tmp_path):
    rows.to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(InvalidParameterError, match="is an input of this call"):
        made.predict_file(tmp_path / "new.csv", tmp_path / "new.csv")
    with pytest.raises(InvalidParameterError, match="is an input of this call"):
        made.predict_file(tmp_path / "new.csv", made.path)
    with pytest.raises(InvalidDataError, match="a data file ends in"):
        made.predict_file(tmp_path / "new.csv", tmp_path / "p.xlsx")
    rows.drop(columns="a").to_csv(tmp_path / "less.csv", index=False)
    with pytest.raises(FeatureMismatchError, match=r"has no column 'a'\. It has: .*\. Rename or add columns\.$"):
        made.predict_file(tmp_path / "less.csv", tmp_path / "p.csv")
    rows.assign(a=None).to_csv(tmp_path / "nulls.csv", index=False)
    with pytest.raises(InvalidDataError, match="column 'a' has at least 50 missing values"):
        made.predict_file(tmp_path / "nulls.csv", tmp_path / "p.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["less.csv", "made.rw", "new.csv", "nulls.csv"]


def test_no_file_is_replaced(made, rows, tmp_path, monkeypatch):
    rows.to_csv(tmp_path / "new.csv", index=False)
    calls = {
        "c.csv": made.export,
        "m.safetensors": made.export,
        "p.parquet": lambda out: made.predict_file(tmp_path / "new.csv", out),
    }
    for name, call in calls.items():
        out = tmp_path / name
        out.symlink_to(tmp_path / "nowhere")
        with pytest.raises(StoreError, match=r"exists already\. Choose another name, or remove the file first\."):
            call(out)
        assert out.is_symlink()
        out.unlink()
        call(out)
    monkeypatch.setattr(
        "ridgeway._files.os.path.lexists", lambda path: False
    )  # as if made by another process meanwhile
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for name, call in calls.items():
        with pytest.raises(StoreError, match="exists already"):
            call(tmp_path / name)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_system_without_links(made, tmp_path, monkeypatch):
    def refuse(one, two):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("ridgeway._files.os.link", refuse)
    made.export(tmp_path / "c.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.csv", "made.rw"]


def test_the_schema_of_a_file(rows, tmp_path):
    rows.assign(name="x").to_parquet(tmp_path / "d.parquet")
    assert [*store.encoding_of(tmp_path / "d.parquet", leave_out=["y", "name"]).features] == FEATURES
    words = [f"{letter}-{number}" for number in range(25) for letter in "ab"]
    rows.assign(name=words).to_csv(tmp_path / "d.csv", index=False)
    assert len(store.encoding_of(tmp_path / "d.csv", leave_out=["y"]).features) == len(FEATURES) + 49
    with pytest.raises(FeatureMismatchError, match="has no column 'z'"):
        store.encoding_of(tmp_path / "d.parquet", leave_out=["z"])


def test_rows_by_the_schema(made, rows, tmp_path):
    rows[["y", "b", "a"]].to_csv(tmp_path / "d.csv", index=False)
    (block,) = read_rows(tmp_path / "d.csv", made.schema)
    assert block.X.tolist() == rows[FEATURES].to_numpy().tolist()
    assert block.y[:, 0].tolist() == rows["y"].tolist()
    assert block.sample_weight is None
    rows.to_csv(tmp_path / "e.csv", index=False)
    with pytest.raises(FeatureMismatchError):
        list(read_rows(tmp_path / "e.csv", store.create(tmp_path / "n.rw", features=["b"], target="y").schema))


def test_whole_numbers_truths_decimals_and_categories_are_numbers(made, tmp_path):
    table = pa.table(
        {
            "a": pa.array([1, 2, 3, 4], pa.int32()),
            "b": pa.array([True, False, True, True]),
            "y": pa.array([1.5, 2.5, 2.5, 1.5]).dictionary_encode(),
        }
    )
    parquet.write_table(table, tmp_path / "d.parquet")
    (block,) = read_rows(tmp_path / "d.parquet", made.schema)
    assert block.X.tolist() == [[1.0, 1.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    assert block.y[:, 0].tolist() == [1.5, 2.5, 2.5, 1.5]


def test_task_columns_of_numbers_and_dates(made, tmp_path, rows):
    for number, labels in enumerate([np.full(50, 2.0), pd.Timestamp("2020-01-01").date(), 7]):
        rows.assign(a=rows["a"] + number, when=labels).to_parquet(tmp_path / "d.parquet")
        made.absorb_table(tmp_path / "d.parquet", task_column="when")
    assert [record.task_id for record in made.history()] == ["one", "two", "2", "2020-01-01", "7"]


@pytest.mark.parametrize(
    ("values", "label"),
    [
        ([2019.0], "2019"),
        ([1e16], "10000000000000000"),
        ([Decimal("2019.00")], "2019"),
        (["2019", "2019.0"], "2019"),
        ([-0.0, 0.0], "0"),
        ([True], "true"),
        ([pd.Timestamp("2019-01-01")], "2019-01-01"),
        ([pd.Timestamp("2019-01-01").date()], "2019-01-01"),
        (["007"], "007"),
        (["1e5"], "1e5"),
        (["1.2.3"], "1.2.3"),
    ],
)
def test_a_task_has_the_same_id_and_digest_in_every_kind_of_file(made, tmp_path, rows, values, label):
    rows = rows.assign(a=rows["a"] + 1.0, when=values * (len(rows) // len(values)))
    rows.to_csv(tmp_path / "pandas.csv", index=False)
    rows.to_parquet(tmp_path / "d.parquet", index=False)
    pacsv.write_csv(pa.Table.from_pandas(rows, preserve_index=False), tmp_path / "arrow.csv")
    for name, already in [("pandas.csv", False), ("d.parquet", True), ("arrow.csv", True)]:
        (outcome,) = made.absorb_table(tmp_path / name, task_column="when")
        assert (outcome.record.task_id, outcome.already) == (label, already)


@pytest.mark.parametrize(
    "value", [0.5, 1e-5, np.inf, pd.Timestamp("2019-01-01 10:00"), pd.Timestamp("2019-01-01", tz="UTC")]
)
def test_values_with_several_spellings_make_no_task_id_in_any_kind_of_file(made, tmp_path, rows, value):
    rows = rows.assign(when=value)
    rows.to_csv(tmp_path / "d.csv", index=False)
    rows.to_parquet(tmp_path / "d.parquet", index=False)
    for name in ("d.csv", "d.parquet"):
        with pytest.raises(InvalidDataError, match="cannot name a task"):
            made.absorb_table(tmp_path / name, task_column="when")


@pytest.mark.parametrize("prior", [np.float32([1.0, 2.0]), np.array([1, 2]), np.array(1.0)])
def test_what_could_not_be_read_again_is_not_imported(made, tmp_path, prior):
    made.export(tmp_path / "m.safetensors")
    with safe_open(tmp_path / "m.safetensors", framework="numpy") as file:
        notes, names = file.metadata(), file.keys()
        arrays = {name: file.get_tensor(name) for name in names} | {"prior": prior}
    notes["digest"] = _exchange._digest(notes["ridgeway"].encode(), arrays)
    save_file(arrays, tmp_path / "other.safetensors", metadata=notes)
    with pytest.raises(DamagedStoreError, match="Export it again"):
        store.import_arrays(tmp_path / "other.safetensors", tmp_path / "back.rw")
    assert not (tmp_path / "back.rw").exists()
