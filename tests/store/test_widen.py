"""Columns that come later: a state file is as if it had always had them, recognises its tasks, and can go back."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression
from store.tables import written

from ridgeway import store
from ridgeway.errors import (
    DuplicateTaskError,
    FeatureMismatchError,
    InvalidDataError,
    InvalidDataTypeError,
    InvalidParameterError,
    MergeError,
    PrecisionWarning,
    RemovalError,
    UnknownCategoryError,
)

LEVELS = ("a", "b", "c", "d", "e")
KINDS = st.sampled_from(["square_root", "moments"])


def frame(rng, n, levels=LEVELS[:2], **columns):
    """Return rows with a number, a category and a target, and further columns."""
    rows = pd.DataFrame({"x": rng.normal(size=n) + 2.0, "c": rng.choice(list(levels), n)})
    return rows.assign(y=rng.normal(size=n) + rows["x"], **columns)


def brute_force(rows, terms, targets, intercept, weight=None):
    """Return the fitted values of pooled weighted least squares, coefficients, standard errors and the rank."""
    columns = {}
    for term in terms:
        if rows[term].dtype.kind in "OU" or str(rows[term].dtype) == "str":
            columns |= {f"{term}={level}": rows[term] == level for level in sorted({*rows[term]})}
        else:
            columns[term] = rows[term]
    X = pd.DataFrame(columns).astype(float).drop(columns=[f"{t}={rows[t].iloc[0]}" for t in terms if t not in columns])
    names = list(X)
    X = np.column_stack([np.ones(len(rows))] * intercept + [X.to_numpy()])
    w = np.ones(len(rows)) if weight is None else rows["w"].to_numpy()
    Y = rows[list(targets)].to_numpy()
    root = np.sqrt(w)[:, None]
    coef, _, rank, _ = np.linalg.lstsq(root * X, root * Y, rcond=1e-10)
    return names, X @ coef, coef, rank, X, w


@st.composite
def stories(draw):
    """Draw tasks as they come, with new categories, a new feature and a new target on the way."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    intercept, weight = draw(st.booleans()), draw(st.sampled_from([None, "precision", "frequency"]))
    past = draw(st.sampled_from([0.0, 2.5, -1e3])) if intercept else 0.0
    early = draw(st.sampled_from([0.0, 7.0])) if intercept else 0.0
    deficient = draw(st.booleans())
    since, until = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    tasks = []
    for t in range(4):
        n = int(rng.integers(1, 6)) if deficient else int(rng.integers(15, 30))
        rows = frame(rng, n, LEVELS[: 2 + t])
        if t == 0:
            rows.loc[0, "c"] = "a"
        rows["z"] = rng.normal(size=n) if t >= since else past
        rows["late"] = rng.normal(size=n) if t >= until else early
        rows["w"] = rng.integers(1, 4, n).astype(float) if weight == "frequency" else rng.uniform(0.5, 2.0, n)
        tasks.append(rows)
    return tasks, intercept, weight, (since, past), (until, early)


@settings(max_examples=15)
@given(story=stories(), information=KINDS, by_hand=st.booleans())
def test_widened_is_absorbed_with_the_final_columns(tmp_path_factory, story, information, by_hand):
    tasks, intercept, weight, (since, past), (until, early) = story
    first = tasks[0][["x", "c"]]
    made = store.create(
        tmp_path_factory.mktemp("wide") / "made.rw",
        features=store.encoding_of(first, unknown="refuse" if by_hand else "widen", references={"c": "a"}),
        target=["y"],
        weight_column="w" if weight else None,
        weight_kind=weight or "precision",
        fit_intercept=intercept,
        information=information,
    )
    columns = ["x", "c", "y"] + ["w"] * (weight is not None)
    for t, rows in enumerate(tasks):
        if t == since:
            made.widen(features={"z": past})
            columns.append("z")
        if t == until:
            made.widen(targets={"late": early})
            columns.append("late")
        new = sorted({*rows["c"]} - {*made.schema.encoding.levels["c"]})
        if by_hand and new:
            with pytest.raises(UnknownCategoryError):
                made.absorb_table(rows[columns], task_id=f"t{t}")
            made.widen(categories={"c": new})
        made.absorb_table(rows[columns], task_id=f"t{t}")
    rows = pd.concat(tasks, ignore_index=True)
    names, fitted, coef, rank, X, w = brute_force(rows, ["x", "c", "z"], ["y", "late"], intercept, weight)
    assert sorted(made.schema.features) == sorted(names)
    assert made.check().n_samples == len(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)  # of collinear columns
        found = made.predict(rows).to_pandas()[["predicted_y", "predicted_late"]]
        assert_allclose(found, fitted, rtol=1e-7, atol=1e-7 * np.abs(fitted).max())
        if rank == X.shape[1]:
            total = w.sum() if weight == "frequency" else len(rows)
            assert_summary(made.summary(), rows, names, fitted, coef, X, w, total)


def assert_summary(found, rows, names, fitted, coef, X, w, total):
    """The same coefficients, and standard errors if there are any."""
    names = ["intercept"] * (X.shape[1] - len(names)) + names
    places = [found.terms.index(name) for name in names]
    assert_allclose(found.coef[:, places], coef.T, rtol=1e-6, atol=1e-6)
    if total > X.shape[1]:
        variance = (w @ np.square(rows[["y", "late"]].to_numpy() - fitted)) / (total - X.shape[1])
        inverse = np.linalg.inv(X.T @ (w[:, None] * X)).diagonal()
        rounding = 1e-7 * np.abs(rows[["y", "late"]].to_numpy()).max()  # moments keep half of the digits
        expected = np.sqrt(np.outer(variance, inverse))
        assert_allclose(found.standard_errors[:, places], expected, rtol=1e-6, atol=rounding * np.sqrt(inverse.max()))


def test_a_wrong_past_value_is_noticed(tmp_path, kind, rng):
    """A control: with a past value that was not the column's, the same comparison does not hold."""
    rows = pd.DataFrame(rng.normal(size=(60, 5)), columns=[*"abczy"])
    rows.loc[:29, "z"] = 1.0
    exact = LinearRegression().fit(rows[[*"abcz"]], rows["y"]).coef_
    for past, same in ((1.0, True), (1.0 + 1e-6, False)):
        made = store.create(tmp_path / f"{past}.rw", features=[*"abc"], target="y", information=kind)
        made.absorb("early", rows[[*"abc"]][:30], rows["y"][:30])
        made.widen(features={"z": past})
        made.absorb("late", rows[[*"abcz"]][30:], rows["y"][30:])
        assert np.allclose(made.model().coef_, exact, rtol=1e-9, atol=1e-12) is same


@pytest.fixture
def small(tmp_path, kind, rng):
    """Return a state file with one task, and its rows."""
    rows = frame(rng, 30)
    made = store.create(
        tmp_path / "small.rw", features=store.encoding_of(rows[["x", "c"]]), target="y", information=kind
    )
    made.absorb_table(rows, task_id="first")
    return made, rows


PAST = {
    "number": ("z", 3.0, 3.5),
    "minus zero": ("z", -0.0, 1.0),
    "square": ("z^2", 3.0, -3.0),
    "category": ("z", "north", "south"),
    "whole category": ("category(z)", 3.0, 4.0),
    "day": ("month(z)", "2013-05-01", "2013-05-02"),
    "time": ("hour(z)", "2013-05-01T07:30:00", "2013-05-01T07:31:00"),
}


@pytest.mark.parametrize("case", PAST)
def test_a_task_is_recognised_with_its_new_column(small, case, tmp_path):
    """Only with the past value in every row, whatever the column contains and whatever else was added."""
    made, rows = small
    term, past, other = PAST[case]
    made.widen(features={term: past})
    made.widen(categories={"c": ["q"]}, targets={"late": 2.0})
    values = np.datetime64(past) if case in ("day", "time") else past
    again = rows.assign(late=2.0, z=values)
    for path in (tmp_path / "again.csv", tmp_path / "again.parquet"):
        assert made.absorb_table(written(again, path), task_id="first")[0].already
    before = made.path.read_bytes()
    with pytest.raises(DuplicateTaskError, match="are those of task 'first'"):
        made.absorb_table(again, task_id="second")
    wrong = again.assign(z=[np.datetime64(other) if case in ("day", "time") else other, *again["z"][1:]])
    if case == "category":
        made.widen(categories={"z": [other]})
        before = made.path.read_bytes()
    for changed in (wrong, again.assign(late=[2.5] + [2.0] * 29)):
        with pytest.raises((DuplicateTaskError, UnknownCategoryError), match=r"other content|unknown categories"):
            made.absorb_table(changed, task_id="first")
    assert made.path.read_bytes() == before


@pytest.mark.parametrize("with_column", [False, True])
def test_a_task_learned_before_is_removed(small, with_column, rng):
    made, rows = small
    made.widen(features={"z": 1.5}, categories={"c": ["d"]})
    more = frame(rng, 40, ("a", "b", "d"), z=rng.normal(size=40))
    made.absorb_table(more, task_id="second")
    with pytest.raises(RemovalError, match="not the rows"):
        made.remove_table(rows.assign(z=1.0), task_id="first")
    made.remove_table(rows.assign(z=1.5) if with_column else rows, task_id="first")
    names, _, coef, *_ = brute_force(more.sort_values("c"), ["x", "c", "z"], ["y"], True)
    found = dict(zip(made.schema.features, made.model().coef_, strict=True))
    assert_allclose([found[name] for name in names], coef[1:, 0], rtol=1e-9)
    with pytest.raises(RemovalError, match="no task 'first'"):
        made.remove_table(rows, task_id="first")
    with pytest.raises(FeatureMismatchError, match="no column 'z'"):
        made.absorb_table(rows, task_id="first")


def test_a_category_not_yet_seen_does_not_block_a_removal(small, rng):
    made, rows = small
    more = frame(rng, 40)
    made.absorb_table(more, task_id="second")
    made.widen(categories={"c": ["q"]}, features={"z": 4.0})
    made.remove_table(rows, task_id="first")
    _, _, coef, *_ = brute_force(more.sort_values("c"), ["x", "c"], ["y"], True)
    assert_allclose(made.model().coef_, [coef[1, 0], coef[2, 0], 0.0, 0.0], rtol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_merged_by_name(tmp_path, kind, intercept, rng):
    """Columns in another order, widened in different orders; the category has other levels."""
    parts = [frame(rng, 40, levels, z=rng.normal(size=40)) for levels in (("a", "b", "d"), ("a", "c"))]
    made = []
    for name, rows, order in zip(("one", "two"), parts, (["x", "c"], ["c", "x"]), strict=True):
        few = rows[rows["c"] == "a"]
        encoding = store.encoding_of(few[order])
        opened = store.create(
            tmp_path / f"{name}.rw", features=encoding, target="y", fit_intercept=intercept, information=kind
        )
        first, second = (
            (lambda o: o.widen(features={"z": 0.0})),
            (lambda o, rows=rows: o.widen(categories={"c": sorted({*rows["c"]} - {"a"})})),
        )
        for step in (first, second) if name == "one" else (second, first):
            step(opened)
        opened.absorb_table(rows, task_id=name)
        made.append(opened)
    rows = pd.concat(parts).sort_values("c")
    names, _, coef, *_ = brute_force(rows, ["x", "c", "z"], ["y"], intercept)
    for number, (one, two) in enumerate((made, made[::-1])):
        both = one.merge(two, tmp_path / f"both{number}.rw")
        found = dict(zip(both.schema.features, both.model().coef_, strict=True))
        assert sorted(found) == sorted(names)
        assert_allclose([found[name] for name in names], coef[int(intercept) :, 0], rtol=1e-9)
        assert both.check().n_tasks == 2
        assert both.absorb_table(parts[0], task_id="one")[0].already


def test_references_are_changed_when_merging(tmp_path, kind, rng):
    """Exact with an intercept and without a prior; refused otherwise."""
    parts = {"a": frame(rng, 40, ("a", "b", "c")), "b": frame(rng, 40, ("b", "c", "d"))}

    def created(reference, name, **settings):
        encoding = store.encoding_of(parts[reference][["x", "c"]], references={"c": reference}, **settings.pop("e", {}))
        made = store.create(tmp_path / f"{name}.rw", features=encoding, target="y", information=kind, **settings)
        made.absorb_table(parts[reference], task_id=reference)
        return made

    both = created("a", "one").merge(created("b", "two"), tmp_path / "both.rw")
    rows = pd.concat(parts).sort_values("c")
    names, _, coef, *_ = brute_force(rows, ["x", "c"], ["y"], True)
    assert list(both.schema.features) == names
    assert_allclose([both.model().intercept_, *both.model().coef_], coef[:, 0], rtol=1e-9)
    for number, other in enumerate(({"prior": 1.0}, {"fit_intercept": False}, {"e": {"features": "x, c, c:x"}})):
        one, two = created("a", f"one{number}", **other), created("b", f"two{number}", **other)
        with pytest.raises(MergeError, match="cannot merge"):
            one.merge(two, tmp_path / "none.rw")
        assert not (tmp_path / "none.rw").exists()


def test_what_cannot_be_widened(tmp_path, rng):
    rows = frame(rng, 20)
    made = store.create(tmp_path / "a.rw", features=store.encoding_of(rows[["x", "c"]]), target="y")
    bare = store.create(
        tmp_path / "b.rw", features=store.encoding_of(rows[["x", "c"]]), target="y", fit_intercept=False
    )
    vector = store.create(tmp_path / "c.rw", features=["x", "v"], target="y", prior=[1.0, 2.0])
    for opened, wanted, match in (
        (made, {}, "nothing to add"),
        (made, {"categories": {"c": ["a"]}}, "has the category 'a' already"),
        (made, {"categories": {"x": ["a"]}}, "'x' is not a category"),
        (made, {"categories": {"c": ["(other)"]}}, "cannot be a category"),
        (made, {"categories": {"c": ["(missing)"]}}, "cannot be a category"),
        (made, {"categories": {"c": [""]}}, "cannot be a category"),
        (made, {"features": {"x": 0.0}}, "has the feature 'x' already"),
        (made, {"features": {"x^2": 0.0}}, "must have one new column"),
        (made, {"features": {"y": 0.0}}, "duplicate column names: 'y'"),
        (made, {"features": {"z:x": 2.0}}, "was not constant in the past"),
        (made, {"features": {"z": float("nan")}}, "must be a finite number"),
        (made, {"features": {"log(z)": 0.0}}, "logarithm"),
        (made, {"features": {"month(z)": "May"}}, "must be a date"),
        (made, {"features": {"log(z)": "word"}}, "needs a number"),
        (made, {"targets": {"y": 0.0}}, "there is a column 'y' already"),
        (made, {"targets": {"x": 0.0}}, "there is a column 'x' already"),
        (made, {"targets": {"late": "word"}}, "must be a number"),
        (bare, {"features": {"z": 1.0}}, "without an intercept"),
        (bare, {"targets": {"late": 1.0}}, "without an intercept"),
        (vector, {"features": {"z": 1.0}}, "needs an entry"),
        (vector, {"features": {"z": 1.0}, "prior": [1.0, 2.0]}, "prior"),
    ):
        before = opened.path.read_bytes()
        with pytest.raises((InvalidParameterError, InvalidDataError, InvalidDataTypeError), match=match):
            opened.widen(**wanted)
        assert opened.path.read_bytes() == before
    assert vector.widen(features={"z": 1.0}, prior=[3.0]).features == ("x", "v", "z")
    assert made.widen(features={"z:x": 0.0}).features[-1] == "z:x"


def test_nothing_is_widened_into_what_others_were(tmp_path, rng):
    """Rows of other categories have been learned together: how many were of the new one is not known."""
    rows = frame(rng, 20)
    made = store.create(tmp_path / "a.rw", features=store.encoding_of(rows[["x", "c"]], unknown="other"), target="y")
    made.absorb_table(rows, task_id="first")
    made.widen(categories={"c": ["d"]})  # no row had it
    made.absorb_table(frame(rng, 20, ("a", "d", "q")), task_id="second")
    before = made.path.read_bytes()
    with pytest.raises(InvalidParameterError, match="were pooled"):
        made.widen(categories={"c": ["q"]})
    assert made.path.read_bytes() == before
