"""A reference level has rows: chosen among rows that are learned, and changed when the last one goes or on request."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from runner import CliRunner

from ridgeway import store
from ridgeway.cli._commands import commands
from ridgeway.errors import (
    DuplicateTaskError,
    InvalidParameterError,
    MergeError,
    PrecisionWarning,
    RemovalError,
    StoreError,
)
from ridgeway.information import SquareRoot
from ridgeway.store import _forget, _references
from ridgeway.store._part_tree import PartTree

COLUMNS = ["site", "shift", "x"]
EFFECTS = {"a": 0.0, "b": 2.0, "c": 3.0, "d": -1.0, "day": 0.0, "night": 1.5}


def rows(seed, sites="abc", n=60):
    """Return rows of two categories and a number; each level has a row."""
    rng = np.random.default_rng(seed)
    levels = [*sites, *rng.choice([*sites], n - len(sites))]
    table = pd.DataFrame({"site": levels, "shift": rng.choice(["day", "night"], n), "x": rng.normal(size=n) + 5.0})
    table["w"] = rng.integers(1, 4, n).astype(float)
    effects = table["site"].map(EFFECTS) + table["shift"].map(EFFECTS)
    return table.assign(y=effects + 0.5 * table["x"] + rng.normal(size=n), z=rng.normal(size=n), school=levels)


FIRST, LATER, LAST = rows(1), rows(2, "bcd"), rows(3, "bcd")
TASKS = {"first": FIRST, "later": LATER, "last": LAST}


def made(path, tasks, reference="a", **settings):
    """Return a file with some of the tasks."""
    unused = sorted({"w", "z", "y", "school"} - {*settings.get("target", "y")})
    encoding = store.encoding_of(
        pd.concat([FIRST, LATER]), features=COLUMNS, leave_out=[*unused, "y"], references={"site": reference}
    )
    file = store.create(path, features=encoding, **{"target": "y", **settings})
    for name in tasks:
        file.absorb_table(TASKS[name], task_id=name)
    return file


def least_squares(table, reference, weight=None):
    """Return names, coefficients, standard errors and fitted values of pooled least squares, by plain NumPy."""
    columns = {"intercept": np.ones(len(table))}
    for level in sorted({*table["site"]} - {reference}):
        columns[f"site={level}"] = (table["site"] == level).to_numpy(float)
    columns |= {"shift=night": (table["shift"] == "night").to_numpy(float), "x": table["x"].to_numpy()}
    X, y = np.column_stack([*columns.values()]), table["y"].to_numpy()
    root = np.ones(len(table)) if weight is None else np.sqrt(table[weight].to_numpy())
    Q, R = np.linalg.qr(root[:, None] * X)
    coef = np.linalg.solve(R, Q.T @ (root * y))
    noise = np.sum((root * (y - X @ coef)) ** 2) / (len(y) - X.shape[1])
    errors = np.sqrt(noise * np.sum(np.linalg.inv(R) ** 2, axis=1))
    return [*columns], coef, errors, X @ coef


def assert_pooled(file, table, reference, weight=None):
    """The summary and the predictions are those of pooled least squares with this reference; levels may be unknown."""
    names, coef, errors, fitted = least_squares(table, reference, weight)
    found = file.summary()
    places = [found.terms.index(name) for name in names]
    assert_allclose(np.atleast_2d(found.coef)[0, places], coef, rtol=1e-10, atol=1e-11)
    assert_allclose(np.atleast_2d(found.standard_errors)[0, places], errors, rtol=1e-10)
    assert f"site={reference}" not in found.terms
    assert_allclose(file.predict(table).column(0).to_numpy(), fitted, rtol=1e-10)


def assert_same_summary(one, two):
    found, expected = one.summary(), two.summary()
    assert found.terms == expected.terms
    for name in ("coef", "standard_errors", "noise_variance", "r_squared", "log_likelihood"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-11)


# The choice of the first table.


def test_rows_that_are_left_out_have_no_say(tmp_path):
    """The failure that was seen: all rows of `a` have a gap, and all coefficients had infinite errors."""
    table = FIRST.copy()
    table.loc[table["site"] == "a", "x"] = None
    encoding = store.encoding_of(table, features=COLUMNS, leave_out=["y"], missing="drop")
    assert encoding.levels["site"] == ("b", "a", "c")
    file = store.create(tmp_path / "a.rw", features=encoding, target="y")
    file.absorb_table(table, task_id="first")
    assert_pooled(file, table.dropna(), "b")


@pytest.mark.parametrize(
    ("column", "value", "missing"),
    [("y", None, "drop"), ("y", None, "indicator"), ("w", None, "drop"), ("w", 0.0, "refuse"), ("w", 0.0, "drop")],
)
@pytest.mark.parametrize("suffix", ["", ".csv"])
def test_rows_without_a_target_or_a_weight_have_no_say(tmp_path, column, value, missing, suffix):
    table = FIRST.copy()
    table.loc[table["site"] == "a", column] = value
    source = table
    if suffix:
        source = tmp_path / "table.csv"
        table.to_csv(source, index=False)
    options = {"features": COLUMNS, "missing": missing}
    encoding = store.encoding_of(source, target="y", weight_column="w", **options)
    assert encoding.levels["site"][0] == "b"
    assert {"y", "w"} <= {*encoding.ignored}
    whole = store.encoding_of(FIRST, target="y", weight_column="w", **options)
    assert whole.levels["site"][0] == "a"


def test_text_targets_and_a_target_among_others(tmp_path):
    table = FIRST.assign(kind=np.where(FIRST["y"] > 5, "yes", "no"))
    table.loc[table["site"] == "a", "kind"] = None
    assert store.encoding_of(table, features=COLUMNS, target="kind", missing="drop").levels["site"][0] == "b"
    table.loc[table["site"] == "b", "y"] = None
    encoding = store.encoding_of(table, features=COLUMNS, target=["kind", "y"], missing="drop")
    assert encoding.levels["site"] == ("c", "a", "b")
    table["y"] = None  # no row is left: the first in sorted order, as always
    assert store.encoding_of(table, features=COLUMNS, target="y", missing="drop").levels["site"][0] == "a"


def test_hours_that_no_row_has(tmp_path):
    """All hours are levels from the beginning, and 0 need not be among those that occur."""
    clock = pd.date_range("2024-05-01 05:00", periods=60, freq="97min")
    table = pd.DataFrame({"clock": clock, "y": np.arange(60.0) % 7})[clock.hour >= 5]
    encoding = store.encoding_of(table, features="category(hour(clock))", target="y")
    assert encoding.levels["category(hour(clock))"][:3] == ("5", "0", "1")
    file = store.create(tmp_path / "a.rw", features=encoding, target="y")
    file.absorb_table(table, task_id="may")
    means = table.groupby(table["clock"].dt.hour)["y"].mean()
    found = file.summary()
    expected = means - means[5]
    assert_allclose(
        [found.coef[found.terms.index(f"hour(clock)={hour}")] for hour in range(6, 24)], expected[1:], atol=1e-12
    )


def test_a_reference_that_is_named_is_taken_and_said_to_have_no_rows():
    table = FIRST.copy()
    table.loc[table["site"] == "a", "x"] = None
    with pytest.warns(PrecisionWarning, match="has no row with site=a that would be learned"):
        encoding = store.encoding_of(table, features=COLUMNS, target="y", missing="drop", references={"site": "a"})
    assert encoding.levels["site"][0] == "a"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.encoding_of(FIRST, features=COLUMNS, target="y", missing="drop", references={"site": "b"})


# A change on request.

SETTINGS = pytest.mark.parametrize(
    "settings",
    [
        {},
        {"information": "moments"},
        {"weight_column": "w"},
        {"weight_column": "w", "weight_kind": "frequency", "keep": "tasks"},
        {"target": ["y", "z"]},
        {"keep": "tasks"},
        {"keep": "tasks", "information": "moments"},
        {"keep": "tasks", "cluster_column": "school", "min_rows": 1},
    ],
    ids=["plain", "moments", "weights", "frequency", "two targets", "kept", "kept moments", "clusters"],
)


@SETTINGS
def test_changed_is_as_from_the_beginning(tmp_path, settings):
    file = made(tmp_path / "a.rw", ["first", "later"], **settings)
    before = file.predict(FIRST)
    schema = file.change_references({"site": "c", "shift": "night"})
    assert schema == file.schema
    assert (schema.version, schema.encoding.references) == (2, ["site=c", "shift=night"])
    file.check()
    for found, expected in zip(file.predict(FIRST).columns, before.columns, strict=True):
        assert_allclose(found.to_numpy(), expected.to_numpy(), rtol=1e-11)

    other = made(tmp_path / "b.rw", ["first", "later"], "c", **settings)
    other.change_references({"shift": "night"})
    assert_same_summary(file, other)
    file.absorb_table(LAST, task_id="last")
    other.absorb_table(LAST, task_id="last")
    assert_same_summary(file, other)
    file.check()
    file.export(tmp_path / "a.safetensors")
    copy = store.import_arrays(tmp_path / "a.safetensors", tmp_path / "copy.rw")
    copy.check()
    assert_same_summary(copy, other)


@SETTINGS
def test_tasks_are_still_recognised(tmp_path, settings):
    file = made(tmp_path / "a.rw", ["first", "later"], **settings)
    file.change_references({"site": "b"})
    (again,) = file.absorb_table(FIRST, task_id="first")
    assert again.already
    with pytest.raises(DuplicateTaskError, match="are those of task 'first'"):
        file.absorb_table(FIRST, task_id="other")
    file.remove_table(LATER, task_id="later")
    alone = made(tmp_path / "b.rw", ["first"], "b", **settings)
    names = {"features": [name for name in alone.schema.features if name != "site=d"]}
    assert_allclose(file.summary(**names).coef, alone.summary(**names).coef, rtol=1e-9, atol=1e-10)
    assert_allclose(file.summary(**names).standard_errors, alone.summary(**names).standard_errors, rtol=1e-9)


def test_parts_of_many_versions(tmp_path):
    """Parts are changed when they are read: with widenings before, between and after two changes."""
    file = made(tmp_path / "a.rw", ["first"], keep="tasks")
    file.widen(categories={"site": ["e"]})
    file.change_references({"site": "b"})
    file.absorb_table(LATER, task_id="later")
    file.widen(features={"hours": 8.0})
    file.change_references({"site": "c", "shift": "night"})
    file.widen(categories={"shift": ["dawn"]})
    file.absorb_table(LAST.assign(hours=np.arange(60.0)), task_id="last")
    file.check()
    other = made(tmp_path / "b.rw", [], "c", keep="tasks")
    other.change_references({"shift": "night"})
    other.widen(categories={"site": ["e"], "shift": ["dawn"]}, features={"hours": 8.0})
    for name, table in TASKS.items():
        hours = np.arange(60.0) if name == "last" else 8.0
        other.absorb_table(table.assign(hours=hours), task_id=name)
    assert file.schema.features == other.schema.features
    for task in TASKS:
        found, expected = (one.model_by_task().information_.part(task) for one in (file, other))
        assert_allclose(found.moments(), expected.moments(), rtol=1e-10, atol=1e-9)
        assert_allclose(found.mean, expected.mean, rtol=1e-12, atol=1e-14)
    for task in ("first", "later"):
        file.remove(task)
        other.remove(task)
        file.check()
        assert_allclose(file.model().predict(LAST.assign(hours=3.0)), other.model().predict(LAST.assign(hours=3.0)))


@pytest.mark.parametrize("tasks", [["first"], ["first", "later", "last"]])
def test_a_machine_that_rounds_otherwise_finds_the_file_intact(tmp_path, monkeypatch, tasks):
    """The state is the root of the parts, bit for bit, so the root is written again; without that it would differ."""
    file = made(tmp_path / "a.rw", tasks, keep="tasks")
    control = made(tmp_path / "b.rw", tasks, keep="tasks")
    file.change_references({"site": "b"})
    with monkeypatch.context() as patched:
        patched.setattr(PartTree, "renew_root", lambda self: None)
        control.change_references({"site": "b"})
    control.check()
    mapped = SquareRoot.mapped
    monkeypatch.setattr(SquareRoot, "mapped", lambda self, M, shift: mapped(self, M * (1.0 + 2**-52), shift))
    file.check()
    file.widen(categories={"site": ["e"]})
    file.check()
    with pytest.raises(StoreError, match="the state is not the merge of its parts"):
        control.check()


def test_a_removal_may_leave_a_root_that_was_written_before(tmp_path, monkeypatch):
    file = made(tmp_path / "a.rw", ["first", "later"], keep="tasks")
    file.remove("first")  # the root is now the part of the other task
    assert file.schema.encoding.references[0] == "site=b"
    mapped = SquareRoot.mapped
    monkeypatch.setattr(SquareRoot, "mapped", lambda self, M, shift: mapped(self, M * (1.0 + 2**-52), shift))
    file.check()


def test_nothing_learned_yet(tmp_path):
    file = made(tmp_path / "a.rw", [], keep="tasks")
    file.change_references({"site": "d"})
    file.absorb_table(LATER, task_id="later")
    assert_pooled(file, LATER, "d")
    file.check()


@pytest.mark.parametrize(
    ("references", "message"),
    [
        ({}, "no reference level was named"),
        ({"sit": "b"}, r"'sit' is not a category of the model\. Did you mean 'site'\?"),
        ({"site": "a"}, r"'a' is the reference level of 'site' already"),
        ({"site": "z"}, r"'site' has no category 'z' to be its reference"),
        ({"site": "(other)"}, r"'\(other\)' stands for several values of 'site'"),
        ({"site": "e"}, r"no row has site=e"),
    ],
)
def test_wrong_levels_are_refused(tmp_path, references, message):
    file = made(tmp_path / "a.rw", ["first"])
    file.widen(categories={"site": ["e"]})
    before = file.path.read_bytes()
    with pytest.raises(InvalidParameterError, match=message):
        file.change_references(references)
    assert file.path.read_bytes() == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": 1.0}, "because the prior is about differences"),
        ({"fit_intercept": False}, "because without an intercept another reference level is another model"),
        ({"keep": ["tasks", "fourth-moments"]}, "because fourth moments cannot be changed"),
    ],
)
def test_another_model_is_refused(tmp_path, settings, message):
    file = made(tmp_path / "a.rw", ["first"], **settings)
    before = file.path.read_bytes()
    with pytest.raises(InvalidParameterError, match=message):
        file.change_references({"site": "b"})
    assert file.path.read_bytes() == before


def test_products_and_likelihoods_are_refused(tmp_path):
    encoding = store.encoding_of(FIRST, features=["site", "site:x", "shift"], target="y")
    file = store.create(tmp_path / "a.rw", features=encoding, target="y")
    file.absorb_table(FIRST, task_id="first")
    with pytest.raises(InvalidParameterError, match="'site' is part of a product"):
        file.change_references({"site": "b"})
    file.change_references({"shift": "night"})
    late = FIRST.assign(late=FIRST["y"] > 5)
    encoding = store.encoding_of(late, features=COLUMNS, target="late")
    counts = store.create(tmp_path / "b.rw", features=encoding, target="late", family="binomial")
    counts.absorb_table(late, task_id="first")
    with pytest.raises(InvalidParameterError, match="a file of family binomial keeps an expansion"):
        counts.change_references({"site": "b"})
    assert counts.empty_references() == {}


def test_classes(tmp_path):
    frames = {name: table.assign(kind=np.where(table["y"] > 5, "late", "early")) for name, table in TASKS.items()}
    files = []
    for reference in ("a", "c"):
        encoding = store.encoding_of(
            pd.concat(frames.values()), features=COLUMNS, target="kind", references={"site": reference}
        )
        file = store.create(tmp_path / f"{reference}.rw", features=encoding, target="kind", family="multiclass")
        for name, table in frames.items():
            file.absorb_table(table, task_id=name)
        files.append(file)
    files[0].change_references({"site": "c"})
    assert_allclose(files[0].model().coef_, files[1].model().coef_, rtol=1e-9, atol=1e-12)
    files[0].remove_table(frames["first"], task_id="first")
    files[0].check()


# A reference level that loses its last row.

REMOVALS = pytest.mark.parametrize(
    "settings",
    [
        {},
        {"information": "moments"},
        {"weight_column": "w"},
        {"weight_column": "w", "weight_kind": "frequency"},
        {"keep": "tasks"},
        {"keep": "tasks", "information": "moments"},
        {"keep": "tasks", "cluster_column": "school", "min_rows": 1},
    ],
    ids=["plain", "moments", "weights", "frequency", "kept", "kept moments", "clusters"],
)


@REMOVALS
@pytest.mark.parametrize("tasks", [["first", "later"], ["later", "first", "last"]])
def test_the_last_rows_of_a_reference_are_removed(tmp_path, settings, tasks):
    file = made(tmp_path / "a.rw", tasks, **settings)
    if "keep" in settings:
        file.remove("first")
    else:
        file.remove_table(FIRST, task_id="first")
    assert (file.schema.version, file.schema.encoding.levels["site"]) == (2, ("b", "a", "c", "d"))
    assert file.check().n_tasks == len(tasks) - 1
    left = pd.concat([TASKS[name] for name in tasks if name != "first"])
    if settings.get("weight_kind") == "frequency":
        assert_allclose(file.predict(left).column(0), least_squares(left, "b", "w")[3], rtol=1e-9)
    else:
        assert_pooled(file, left, "b", settings.get("weight_column"))
    assert file.empty_references() == {}
    held = file.model().information_
    assert held.peak[file.schema.features.index("site=a")] == 0.0
    file.describe()
    (again,) = file.absorb_table(FIRST, task_id="first")  # and back: an ordinary level
    assert not again.already
    assert_same_summary(file, made(tmp_path / "b.rw", tasks, "b", **settings))
    file.check()


@pytest.mark.parametrize("settings", [{}, {"keep": "tasks"}])
def test_others_keep_their_reference(tmp_path, settings):
    """A level that keeps a row, a level that had none, and a file from which everything is removed."""
    file = made(tmp_path / "a.rw", ["first", "later"], **settings)
    file.absorb_table(rows(4), task_id="more")
    file.remove_table(FIRST, task_id="first")
    assert file.schema.version == 1
    assert_pooled(file, pd.concat([LATER, rows(4)]), "a")
    empty = made(tmp_path / "b.rw", ["first"], **settings)
    empty.remove_table(FIRST, task_id="first")
    assert empty.schema.version == 1
    if settings:
        never = made(tmp_path / "c.rw", ["later", "last"], **settings)  # rows of `a` may still come
        never.remove("last")
        assert never.schema.version == 1


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"prior": 1.0, "keep": "tasks"}, "It stays the reference, because the prior is about differences from it."),
        ({"keep": ["tasks", "fourth-moments"]}, "It stays the reference, because fourth moments cannot be changed"),
    ],
)
def test_another_model_is_not_chosen(tmp_path, settings, reason):
    file = made(tmp_path / "a.rw", ["first", "later"], **settings)
    file.remove_table(FIRST, task_id="first")
    expected = made(tmp_path / "b.rw", ["later"], **settings)
    assert file.schema.version == 1
    warnings.simplefilter("ignore", PrecisionWarning)  # of collinear columns, without a prior
    assert_allclose(file.model().predict(LATER[COLUMNS]), expected.model().predict(LATER[COLUMNS]), rtol=1e-9)
    assert file.empty_references()["site=a"].startswith(reason)


def test_with_a_prior_and_without_parts_the_rows_are_not_removed(tmp_path):
    file = made(tmp_path / "a.rw", ["first", "later"], prior=1.0)
    said = r"would not clearly have full rank.* no row has site=a, which is a reference level\. It stays the reference"
    with pytest.raises(RemovalError, match=said):
        file.remove_table(FIRST, task_id="first")
    assert len(file.history()) == 2


def test_without_an_intercept_a_reference_needs_no_rows(tmp_path):
    file = made(tmp_path / "a.rw", ["first", "later"], fit_intercept=False)
    file.remove_table(FIRST, task_id="first")
    assert file.schema.version == 1
    assert file.empty_references() == {}
    assert np.isfinite(file.summary(features=["site=b", "site=c", "site=d", "x"]).standard_errors).all()


@pytest.mark.parametrize("information", ["square_root", "moments"])
@pytest.mark.parametrize("rare", ["a", "c"])
def test_one_row_in_a_million(tmp_path, information, rare):
    """It counts: the reference stays while there is one, and goes with it, also if it was not always the reference."""
    rng = np.random.default_rng(5)
    sites = rng.choice(["b", "d", "e"], 1_000_000)
    many = pd.DataFrame({"site": sites, "y": rng.normal(size=1_000_000)})
    one, two = (pd.DataFrame({"site": [rare] + ["b"] * 9, "y": rng.normal(size=10)}) for _ in range(2))
    encoding = store.encoding_of(pd.concat([many[:99], one]), target="y", references={"site": rare})
    file = store.create(tmp_path / "a.rw", features=encoding, target="y", information=information)
    file.absorb_table(many, task_id="many")
    file.absorb_table(one, task_id="one")
    file.absorb_table(two, task_id="two")
    assert file.empty_references() == {}
    file.remove_table(two, task_id="two")
    assert file.schema.encoding.levels["site"][0] == rare
    if rare == "c":
        file.change_references({"site": "d"})
    file.remove_table(one, task_id="one")
    assert file.schema.encoding.levels["site"][0] == ("b" if rare == "a" else "d")
    means = many.groupby("site")["y"].mean()
    found = file.summary()
    first = file.schema.encoding.levels["site"][0]
    for level in {"b", "d", "e"} - {first}:
        assert_allclose(found.coef[found.terms.index(f"site={level}")], means[level] - means[first], rtol=1e-8)


def test_rounding_would_keep_a_rare_level(tmp_path, monkeypatch):
    """The control: without an allowance for the rounding of large means, one row in 10⁵ is not seen to go."""
    rng = np.random.default_rng(5)
    many = pd.DataFrame({"site": rng.choice(["b", "d", "e"], 100_000), "y": rng.normal(size=100_000)})
    one = pd.DataFrame({"site": ["a"] + ["b"] * 9, "y": rng.normal(size=10)})
    monkeypatch.setattr(_references, "SHARE_OF_ROUNDING", 0.0)
    monkeypatch.setattr(_forget, "SHARE_OF_ROUNDING", 0.0)
    file = store.create(
        tmp_path / "a.rw", features=store.encoding_of(pd.concat([many[:9], one]), target="y"), target="y"
    )
    file.absorb_table(many, task_id="many")
    file.absorb_table(one, task_id="one")
    with pytest.raises(RemovalError):
        file.remove_table(one, task_id="one")


# A merge.


@pytest.mark.parametrize("settings", [{}, {"keep": "tasks"}])
def test_a_merge_whose_reference_no_row_has(tmp_path, settings):
    one = made(tmp_path / "a.rw", ["later"], **settings)
    two = made(tmp_path / "b.rw", ["last"], "b", **settings)
    both = one.merge(two, tmp_path / "both.rw")
    assert both.schema.encoding.levels["site"][0] == "b"
    assert_pooled(both, pd.concat([LATER, LAST]), "b")
    both.check()
    (again,) = both.absorb_table(LATER, task_id="later")
    assert again.already
    seen = one.merge(made(tmp_path / "c.rw", ["first"], "b", **settings), tmp_path / "seen.rw")
    assert_pooled(seen, pd.concat([LATER, FIRST]), "a")
    with pytest.raises(MergeError):
        both.merge(two, tmp_path / "twice.rw")


def test_files_with_a_change_are_merged(tmp_path):
    one = made(tmp_path / "a.rw", ["first"], keep="tasks")
    one.change_references({"site": "c"})
    two = made(tmp_path / "b.rw", ["later"], keep="tasks")
    two.change_references({"site": "b", "shift": "night"})
    for files, reference in (((one, two), "c"), ((two, one), "b")):
        both = files[0].merge(files[1], tmp_path / f"both-{reference}.rw")
        expected = made(tmp_path / f"expected-{reference}.rw", ["first", "later"], reference, keep="tasks")
        if reference == "b":
            expected.change_references({"shift": "night"})
        assert_same_summary(both, expected)
        both.check()
        both.remove("first")
        both.check()


# The commands.


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words, code=0):
        result = CliRunner().invoke(commands, [*words])
        assert result.exit_code == code, result.output
        return result

    return run


def test_the_command(tmp_path, run):
    file = made(tmp_path / "a.rw", ["first", "later"])
    assert run("reference", "a.rw", "site=c").stdout == "a.rw: coefficients are now differences from site=c\n"
    assert '"references": {\n    "shift": "night"' in run("reference", "a.rw", "shift=night", "--json").stdout
    assert "differences from a reference: site=c, shift=night." in run("summary", "a.rw").stdout
    assert "a.rw" in run("show", "a.rw").stdout
    run("check", "a.rw")
    FIRST.to_csv("first.csv", index=False)
    run("predict", "a.rw", "first.csv", "--out", "found.csv")
    assert_allclose(pd.read_csv("found.csv")["predicted_y"], file.predict(FIRST).column(0), rtol=1e-12)
    assert run("reference", "a.rw", "site=c", code=2).stderr.startswith(
        "ridgeway reference: 'c' is the reference level of 'site' already."
    )
    assert "must have the form NAME=VALUE" in run("reference", "a.rw", "site", code=2).stderr


def intercept(summary):
    """Return the line of the intercept."""
    return next(line for line in summary.splitlines() if line.startswith("intercept"))


def test_what_remove_and_summary_say(tmp_path, run):
    FIRST.to_csv("first.csv", index=False)
    made(tmp_path / "a.rw", ["first", "later"])
    found = run("remove", "a.rw", "first.csv", "--task", "first")
    assert found.stdout.splitlines()[1:] == ["No row has site=a any more. The reference is now site=b."]
    assert " inf " not in intercept(run("summary", "a.rw").stdout)
    made(tmp_path / "b.rw", ["first", "later"], prior=1.0, keep="tasks")
    found = run("remove", "b.rw", "first.csv", "--task", "first")
    said = "No row has site=a, which is a reference level. It stays the reference, because the prior is about"
    assert said in found.stdout
    assert said in " ".join(run("summary", "b.rw").stdout.split())
    made(tmp_path / "c.rw", ["later"])
    said = run("summary", "c.rw").stdout
    assert "`ridgeway reference` chooses another" in " ".join(said.split())
    assert " inf " in intercept(said)
    run("reference", "c.rw", "site=b")
    assert " inf " not in intercept(run("summary", "c.rw").stdout)


def test_what_init_says(run):
    table = FIRST[[*COLUMNS, "y"]].copy()
    table.loc[table["site"] == "a", "x"] = None
    table.to_csv("first.csv", index=False)
    options = ["--from", "first.csv", "--target", "y", "--missing", "drop"]
    assert "site: 3 categories, reference 'b'" in run("init", "a.rw", *options).stdout
    found = run("init", "b.rw", *options, "--reference", "site=a")
    assert "site: 3 categories, reference 'a'" in found.stdout
    assert "first.csv has no row with site=a that would be learned" in found.stderr
