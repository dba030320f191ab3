"""Files that keep fourth moments: errors under unequal variances, as if the rows were there."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from store.kept import FEATURES, content, made_of, n_nodes, rows_of, sql

from ridgeway import retrospect, store
from ridgeway.data import Keep, _schema
from ridgeway.errors import InvalidDataError, InvalidParameterError, InvalidStateError, MergeError
from ridgeway.information import FourthMoments, _with_fourth

FOURTH = ("tasks", "fourth-moments")


def noisy(number, n=60):
    """Return rows whose noise grows with a feature, and their weights."""
    X, y = rows_of(number, n=n)
    rng = np.random.default_rng([7, number])
    return X, y + X[:, 0] ** 2 * rng.normal(size=n), rng.integers(1, 4, size=n).astype(float)


def filled(path, numbers, **settings):
    settings = {"keep": FOURTH, "weight_column": "w"} | settings
    made = made_of(path, (), **settings)
    for number in numbers:
        made.absorb(f"t{number}", *noisy(number))
    return made


def pooled(numbers, kind="HC1", **settings):
    """Return White's errors from all rows, by another package; `columns` changes the rows."""
    X, y, weight = (np.concatenate(parts) for parts in zip(*map(noisy, numbers), strict=True))
    return by_statsmodels(X, y, weight, kind, **settings)


def by_statsmodels(X, y, weight, kind="HC1", *, fit_intercept=True):
    X = np.insert(X, 0, 1.0, axis=1) if fit_intercept else X
    return sm.WLS(y, X, weights=weight).fit(cov_type=kind)


def errors(made, kind="HC1"):
    return retrospect.heteroscedastic(made.model_by_task(), kind)


def same(found, expected):
    np.testing.assert_allclose(found.standard_errors, expected.bse, rtol=1e-8)
    np.testing.assert_allclose(found.covariance, expected.cov_params(), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_errors_are_those_of_all_rows(tmp_path, kind, fit_intercept):
    made = filled(tmp_path / "a.rw", range(6), information=kind, fit_intercept=fit_intercept)
    made.check()
    for hc in ("HC0", "HC1"):
        same(errors(made, hc), pooled(range(6), hc, fit_intercept=fit_intercept))
    classical = made.summary().standard_errors
    assert not np.allclose(classical, errors(made).standard_errors, rtol=0.05)


def test_without_its_fourth_moments_a_task_is_missed(tmp_path, monkeypatch):
    """A control: the comparison above can fail."""
    monkeypatch.setattr(
        _with_fourth.WithFourth, "add", lambda part, task: super(_with_fourth.WithFourth, part).add(task)
    )
    made = filled(tmp_path / "a.rw", range(3))
    with pytest.raises(AssertionError):
        same(errors(made), pooled(range(3)))


def test_a_removed_task_was_never_there(tmp_path, kind):
    made = filled(tmp_path / "a.rw", range(5), information=kind)
    (gone,) = [
        part for part in made.model_by_task().information_.fourth() if part.fourth[0] == (noisy(3)[2] ** 2).sum()
    ]
    assert gone.fourth[12:20].tobytes() in made.path.read_bytes()
    made.remove("t3")
    assert gone.fourth[12:20].tobytes() not in made.path.read_bytes()
    assert content(made) == content(filled(tmp_path / "b.rw", (4, 2, 0, 1), information=kind))
    made.check()
    same(errors(made), pooled((0, 1, 2, 4)))
    for number in (0, 1, 2):
        made.remove(f"t{number}")
    same(errors(made), pooled((4,)))  # the root is a part
    made.check()
    made.remove("t4")
    assert n_nodes(made) == 0
    made.absorb("t1", *noisy(1))
    assert content(made) == content(filled(tmp_path / "c.rw", (1,), information=kind))


def test_a_table_of_many_blocks_and_several_tasks(tmp_path, monkeypatch):
    monkeypatch.setattr(_schema, "BLOCK_ENTRIES", 1)
    X, y, weight = noisy(0, n=4000)
    frame = pd.DataFrame(X, columns=FEATURES).assign(y=y, w=weight, task=np.arange(4000) % 7 // 3)
    made = filled(tmp_path / "a.rw", ())
    assert made.schema.block_rows == 1024
    made.absorb_table(frame, task_column="task")
    made.check()
    same(errors(made), by_statsmodels(X, y, weight))


def test_frequency_weights(tmp_path):
    made = filled(tmp_path / "a.rw", (), weight_kind="frequency")
    tasks = [noisy(number) for number in range(3)]
    for number, (X, y, weight) in enumerate(tasks):
        made.absorb(str(number), X, y, weight - 1.0)
    made.check()
    often = np.concatenate([weight for _, _, weight in tasks]).astype(int) - 1
    X, y = (np.repeat(np.concatenate([task[part] for task in tasks]), often, axis=0) for part in (0, 1))
    same(errors(made), by_statsmodels(X, y, np.ones(len(y))))


def test_clusters(tmp_path):
    made = filled(tmp_path / "a.rw", (), cluster_column="g")
    for number in range(3):
        made.absorb(f"t{number}", *noisy(number), clusters=np.array(list("abc"))[np.arange(60) % 3])
    made.check()
    same(errors(made), pooled(range(3)))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_widening(tmp_path, kind, fit_intercept):
    """Parts that were written under the old schema get the new columns when they are read."""
    was = 2.0 if fit_intercept else 0.0
    made = filled(tmp_path / "a.rw", range(4), information=kind, fit_intercept=fit_intercept)
    made.widen(features={"d": was})
    made.check()
    (X, y, weight), d = noisy(9), np.random.default_rng(1).normal(size=60)
    made.absorb("new", np.column_stack([X, d]), y, weight)
    made.check()
    tasks = [(np.column_stack([rows, np.full(60, was)]), *rest) for rows, *rest in map(noisy, range(4))]
    tasks.append((np.column_stack([X, d]), y, weight))
    for gone in (None, 2):
        if gone is not None:
            made.remove(f"t{gone}")
            made.check()
        rest = [task for number, task in enumerate(tasks) if number != gone]
        expected = by_statsmodels(*map(np.concatenate, zip(*rest, strict=True)), fit_intercept=fit_intercept)
        same(errors(made), expected)
    made.widen(targets={"z": was})
    made.check()
    np.testing.assert_allclose(errors(made).standard_errors[0], expected.bse, rtol=1e-8)


def test_new_categories_come_with_the_rows(tmp_path):
    tables = []
    for number, letters in enumerate(["xy", "xyz", "wxz"]):
        X, y, _ = noisy(number)
        tables.append(pd.DataFrame({"x": X[:, 0], "g": [letters[i % len(letters)] for i in range(60)], "y": y}))
    encoding = store.encoding_of(tables[0], leave_out=["y"], unknown="widen")
    made = store.create(tmp_path / "a.rw", features=encoding, target="y", keep=FOURTH)
    made.absorb_table(tables[0], task_id="0")
    made.absorb_table(pd.concat(tables[1:]).assign(t=np.repeat([1, 2], 60)), task_column="t")
    made.check()
    everything = pd.concat(tables)
    X = pd.get_dummies(everything[["x", "g"]], dtype=float)[["x", "g_w", "g_y", "g_z"]].to_numpy()
    same(errors(made), by_statsmodels(X, everything["y"].to_numpy(), np.ones(180)))


def test_merge(tmp_path, kind):
    north = filled(tmp_path / "north.rw", range(3), information=kind)
    south = filled(tmp_path / "south.rw", range(3, 7), information=kind)
    south.remove("t5")
    both = north.merge(south, tmp_path / "both.rw")
    both.check()
    assert both.schema.keeps_fourth_moments
    assert content(both) == content(filled(tmp_path / "all.rw", (6, 0, 3, 1, 2, 4), information=kind))
    same(errors(both), pooled((0, 1, 2, 3, 4, 6)))
    south.widen(features={"d": 1.0})
    south.widen(features={"e": 0.0})
    north.widen(features={"e": 0.0, "d": 1.0})
    wide = north.merge(south, tmp_path / "wide.rw", prefixes=("n-", "s-"))
    wide.check()
    wide.remove("s-t4")
    found = retrospect.submodel(wide.model_by_task(), FEATURES)
    same(retrospect.heteroscedastic(found), pooled((0, 1, 2, 3, 6)))


def test_a_file_without_them_is_not_merged(tmp_path):
    kept, plain = filled(tmp_path / "kept.rw", range(2)), filled(tmp_path / "plain.rw", range(2, 4), keep="tasks")
    before = [one.path.read_bytes() for one in (kept, plain)]
    for one, two in ((kept, plain), (plain, kept)):
        with pytest.raises(MergeError, match=r"only kept.rw keeps fourth moments, .* --total-only"):
            one.merge(two, tmp_path / "out.rw")
        assert not (tmp_path / "out.rw").exists()
    assert [one.path.read_bytes() for one in (kept, plain)] == before
    total = kept.merge(plain, tmp_path / "total.rw", total_only=True)
    assert total.schema.keep is None
    total.check()
    with pytest.raises(InvalidParameterError, match=r"does not keep fourth moments.* --keep tasks,fourth-moments"):
        errors(plain)


def test_other_reference_levels_are_refused(tmp_path):
    files = []
    for number, letters in enumerate(["xy", "yz"]):
        X, y, _ = noisy(number)
        table = pd.DataFrame({"x": X[:, 0], "g": [letters[i % 2] for i in range(60)], "y": y})
        encoding = store.encoding_of(table, leave_out=["y"])
        files.append(store.create(tmp_path / f"{number}.rw", features=encoding, target="y", keep=FOURTH))
        files[-1].absorb_table(table, task_id=str(number))
    with pytest.raises(MergeError, match="'g' has different reference levels, and fourth moments"):
        files[0].merge(files[1], tmp_path / "both.rw")
    assert not (tmp_path / "both.rw").exists()
    files[0].merge(files[1], tmp_path / "both.rw", total_only=True).check()


def test_what_is_forced_in_counts_too(tmp_path):
    made = filled(tmp_path / "a.rw", range(3))
    once = content(made)
    made.absorb("t1", *noisy(7), force="late")
    made.absorb("t1", *noisy(8), force="later")
    made.check()
    model = made.model_by_task()
    assert model.information_.ids == ("t0", "t1", "t2")
    assert len(model.information_.fourth()) == 5
    same(retrospect.heteroscedastic(model), pooled((0, 1, 2, 7, 8)))
    again = type(model).from_arrays(model.to_arrays())  # a part with several sums is read again
    same(retrospect.heteroscedastic(again), pooled((0, 1, 2, 7, 8)))
    again.partial_fit(*noisy(9), task="t1")
    same(retrospect.heteroscedastic(again), pooled((0, 1, 2, 7, 8, 9)))
    same(retrospect.heteroscedastic(again.remove(task="t1")), pooled((0, 2)))
    made.remove("t1")
    made.remove("t1")
    assert content(made) == once


def test_backup_and_the_previous_generation(tmp_path):
    made = filled(tmp_path / "a.rw", range(4))
    before = content(made)
    made.backup(tmp_path / "copy.rw")
    same(errors(store.open(tmp_path / "copy.rw")), pooled(range(4)))
    made.absorb("t4", *noisy(4))
    root = made.snapshot().generation.parts.root.id
    sql(made, ("UPDATE parts SET data = zeroblob(length(data)) WHERE id = ?", (root,)))
    restored = store.restore_previous(made.path)
    restored.check()
    assert content(restored) == before
    same(errors(restored), pooled(range(4)))


def test_export_and_import_bit_for_bit(tmp_path, kind):
    made = filled(tmp_path / "a.rw", range(5), information=kind)
    made.absorb("t1", *noisy(11), force="late")
    made.widen(features={"d": 2.0})
    made.export(tmp_path / "a.safetensors")
    back = store.import_arrays(tmp_path / "a.safetensors", tmp_path / "b.rw")
    back.check()
    assert content(back)[0] == content(made)[0]
    for one in (made, back):
        one.remove("t4")
    for mine, theirs in zip(*(one.model_by_task().information_.fourth() for one in (made, back)), strict=True):
        assert mine.to_array().tobytes() == theirs.to_array().tobytes()


def test_the_limits_of_the_size(tmp_path):
    names = [f"x{j}" for j in range(101)]
    size = FourthMoments.count(101, 1, centered=True)
    with pytest.raises(InvalidParameterError, match=rf"101 features are {size:,} numbers per task \(40 MB\)"):
        filled(tmp_path / "a.rw", (), features=names)
    with pytest.raises(InvalidParameterError, match=r"with 150 columns would have 1[0-9]* bytes, beyond the limit"):
        filled(tmp_path / "a.rw", (), features=names[:100], target=[f"y{j}" for j in range(50)])
    assert not (tmp_path / "a.rw").exists()
    made = filled(tmp_path / "a.rw", (), features=names[:100])
    before = made.path.read_bytes()
    with pytest.raises(InvalidParameterError, match="101 features are"):
        made.widen(features={"more": 0.0})
    assert made.path.read_bytes() == before
    others = filled(tmp_path / "b.rw", (), features=names[:100])
    with pytest.raises(InvalidParameterError, match="would have"):
        made.widen(targets={f"y{j}": 0.0 for j in range(50)})
    assert made.merge(others, tmp_path / "c.rw").schema.keeps_fourth_moments


def test_new_categories_up_to_the_limit(tmp_path):
    """Rows, or another file, bring more categories than a file with fourth moments can have."""
    rng, files = np.random.default_rng(0), []
    for first in (0, 60):
        level = [f"a{number}" for number in range(first, first + 60)] * 3 + ["a"] * 60
        table = pd.DataFrame({"g": level, "y": rng.normal(size=240)})
        encoding = store.encoding_of(table, leave_out=["y"], unknown="widen")
        files.append(store.create(tmp_path / f"{first}.rw", features=encoding, target="y", keep=FOURTH, min_rows=1))
    before = files[0].path.read_bytes()
    with pytest.raises(InvalidParameterError, match="120 features are"):
        files[0].absorb_table(table, task_id="more")
    with pytest.raises(MergeError, match="cannot merge: the fourth moments of 120 features are"):
        files[0].merge(files[1], tmp_path / "both.rw")
    assert files[0].path.read_bytes() == before
    assert not (tmp_path / "both.rw").exists()


def test_what_is_refused_changes_nothing(tmp_path):
    made = filled(tmp_path / "a.rw", range(3))
    before = made.path.read_bytes()
    X, y, weight = noisy(5)
    with pytest.raises(InvalidDataError, match="fourth powers of these rows overflow"):
        made.absorb("t5", X * 1e90, y, weight)
    with pytest.raises(InvalidDataError, match="keeps parts of 10 or more"):
        made.absorb("t5", X[:4], y[:4], weight[:4])
    assert made.path.read_bytes() == before


def test_what_is_kept_is_named_in_the_schema():
    """Files that keep tasks alone are written as before, and what is not known is refused."""
    assert Keep().as_dict() == {"tasks": {"cluster_column": None, "min_rows": None}}
    both = Keep(5, "g", fourth_moments=True)
    assert both.as_dict() == {"fourth-moments": {}, "tasks": {"cluster_column": "g", "min_rows": 5}}
    assert Keep.from_dict(both.as_dict()) == both
    for wrong in ({"fourth-moments": {}}, both.as_dict() | {"fifth-moments": {}}):
        with pytest.raises(InvalidParameterError, match=r"the state file keeps .* Upgrade"):
            Keep.from_dict(wrong)
    schema = _schema.checked_schema(
        ["a"], "y", weight_column=None, fit_intercept=True, information="moments", keep=both
    )
    assert _schema.Schema.from_bytes(schema.to_bytes()) == schema
    with pytest.raises(InvalidStateError):
        _schema.Schema.from_bytes(schema.to_bytes().replace(b'"fourth-moments":{}', b'"fourth-moments":{"x":1}'))
