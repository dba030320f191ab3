"""Labels that are odd, missing or of another type: the right classes, or a typed error and the model as it was."""

import copy
import json
import pickle
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from ridgeway import (
    GeneralizedRidge,
    GeneralizedRidgeClassifier,
    Oracle,
    weights,
)
from ridgeway.data import class_name, coded_labels, joined_classes
from ridgeway.errors import (
    FeatureMismatchError,
    InvalidDataError,
    InvalidDataTypeError,
    InvalidParameterError,
    InvalidStateError,
    MergeError,
    RemovalError,
)

X = np.random.default_rng(5).normal(size=(6, 2))
TEXT = ["b", "a", "b", "c", "a", "c"]

GOOD = {
    "a list": (TEXT, ["a", "b", "c"]),
    "objects": (np.array(TEXT, dtype=object), ["a", "b", "c"]),
    "strings of NumPy": (np.array(TEXT), ["a", "b", "c"]),
    "variable-width strings": (np.array(TEXT, dtype=np.dtypes.StringDType()), ["a", "b", "c"]),
    "pandas": (pd.Series(TEXT), ["a", "b", "c"]),
    "pandas, categories": (pd.Series(TEXT, dtype="category"), ["a", "b", "c"]),
    "pandas, text": (pd.Series(TEXT, dtype="string"), ["a", "b", "c"]),
    "polars": (pl.Series(TEXT), ["a", "b", "c"]),
    "polars, categories": (pl.Series(TEXT, dtype=pl.Categorical), ["a", "b", "c"]),
    "pyarrow": (pa.chunked_array([TEXT]), ["a", "b", "c"]),
    "pyarrow, dictionary": (pa.array(TEXT).dictionary_encode(), ["a", "b", "c"]),
    "integers": (np.array([3, -1, 3, 9, -1, 9], dtype=np.int8), [-1, 3, 9]),
    "unsigned": (np.array([3, 1, 3, 9, 1, 9], dtype=np.uint64), [1, 3, 9]),
    "beyond float64": ([2**60, 2**60 + 1] * 3, [2**60, 2**60 + 1]),
    "floats": ([3.0, -1.0, 3.0, -0.0, -1.0, 0.0], [-1.0, 0.0, 3.0]),
    "half floats": (np.array([3, 1, 3, 1, 1, 1], dtype=np.float16), [1.0, 3.0]),
    "integers and floats": ([1, 2.0, 1, 2, 1.0, 2], [1, 2]),
    "nullable integers": (pd.Series([1, 2, 1, 2, 1, 2], dtype="Int64"), [1, 2]),
    "bools": ([True, False, True, True, False, False], [False, True]),
    "empty text": (["", "a"] * 3, ["", "a"]),
    "text that spells numbers": (["1", "1.0", "01"] * 2, ["01", "1", "1.0"]),
    "NumPy scalars": ([np.int64(2), np.int32(1)] * 3, [1, 2]),
}


@pytest.mark.parametrize("case", GOOD)
@pytest.mark.parametrize("kind", ["square_root", "by_task"])
def test_labels_of_every_kind(case, kind):
    """The classes are those of NumPy, ascending; the model is that of their places; it survives its arrays."""
    y, expected = GOOD[case]
    model = GeneralizedRidgeClassifier(weights.Accumulated(prior=0.1), information=kind).fit(X, y)
    assert model.classes_.tolist() == expected
    places = [expected.index(value) for value in np.asarray(y.to_pylist() if hasattr(y, "to_pylist") else y).tolist()]
    plain = GeneralizedRidgeClassifier(weights.Accumulated(prior=0.1)).fit(X, places)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-12)
    assert model.predict(X).tolist() == [expected[place] for place in plain.predict(X)]
    again = GeneralizedRidgeClassifier.from_arrays(model.to_arrays())
    assert [type(label) for label in again.classes_.tolist()] == [type(label) for label in model.classes_.tolist()]
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    if kind == "by_task" and len(expected) > 1:
        left = model.remove(label=expected[-1])
        assert left.classes_.tolist() == expected[:-1]
        assert left.n_samples_seen_ == sum(place < len(expected) - 1 for place in places)


NAMES = st.text().filter(lambda text: not text.endswith("\0"))
BAD = {
    "probabilities": ([0.1, 0.9, 0.4, 0.5, 1.0, 0.0], InvalidDataError, "continuous.*0.1.*use GeneralizedRidge"),
    "fractions as objects": ([1, 2, 1.5, 2, 1, 2], InvalidDataError, "continuous"),
    "indicators": (np.eye(6), InvalidDataError, r"1d array.*Pass one class label per row"),
    "NaN": ([1.0, np.nan] * 3, InvalidDataError, "NaN"),
    "infinity": (np.array([1.0, np.inf] * 3), InvalidDataError, "infinity"),
    "missing text": (["a", None] * 3, InvalidDataError, "3 missing label"),
    "pandas' NA": (pd.Series([1, None] * 3, dtype="Int64"), InvalidDataError, "missing label|NaN"),
    "Arrow nulls": (pa.array(["a", None] * 3), InvalidDataError, "3 missing label"),
    "text and numbers": (["a", 1] * 3, InvalidDataError, "labels of different types, such as"),
    "bools and numbers": ([True, 2] * 3, InvalidDataError, "labels of different types"),
    "bytes": (np.array([b"a", b"b"] * 3), InvalidDataTypeError, "Unknown label type"),
    "dates": (np.array(["2024-01-01"] * 6, dtype="datetime64[D]"), InvalidDataTypeError, "Unknown label type"),
    "dates as objects": ([date(2024, 1, 1)] * 6, InvalidDataTypeError, "Unknown label type: y has date values"),
    "complex": (np.array([1j, 2.0] * 3), InvalidDataError, "Complex data not supported"),
    "sparse": (sparse.csr_array(np.ones((6, 1))), InvalidDataTypeError, "sparse or masked"),
    "masked": (np.ma.masked_array([1, 2] * 3, mask=[1, 0] * 3), InvalidDataTypeError, "sparse or masked"),
    "a null at the end": (["a", "a\0"] * 3, InvalidDataError, "null character"),
    "none": (None, InvalidDataError, "requires y to be passed"),
    "too few": ([1] * 5, InvalidDataError, "inconsistent numbers of samples"),
    "empty": ([], InvalidDataError, r"0 sample\(s\)"),
    "a scalar": (3, InvalidDataError, "1d array"),
    "lists": ([["a", "b"], ["c"], 1, 2, 3, 4], InvalidDataTypeError, "Unknown label type: y has list values|ragged"),
}
MODELS = [GeneralizedRidgeClassifier(), GeneralizedRidgeClassifier(weights.Zero())]


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_labels_that_are_refused(case, model):
    y, error, match = BAD[case]
    with pytest.raises(error, match=match):
        clone(model).fit(X, y)
    learned = clone(model).fit(X, [1, 2] * 3)
    before = pickle.dumps(learned)
    with pytest.raises(error, match=match):
        learned.partial_fit(X, y)
    assert pickle.dumps(learned) == before


OTHERS = {
    "numbers after text": (TEXT, [1, 2] * 3, "whole numbers, such as 1.*text, such as 'a'"),
    "text after numbers": ([1, 2] * 3, ["1", "2"] * 3, "text, such as '1'.*whole numbers, such as 1"),
    "bools after numbers": ([1, 0] * 3, [True, False] * 3, "bools, such as False.*whole numbers"),
    "numbers after bools": ([True, False] * 3, [1, 0] * 3, "whole numbers, such as 0.*bools"),
}


@pytest.mark.parametrize("case", OTHERS)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_labels_of_another_type_in_a_later_task(case, model):
    first, later, match = OTHERS[case]
    model = clone(model).fit(X, first)
    before = pickle.dumps(model)
    with pytest.raises(InvalidDataError, match=f"{match}.*Convert the labels"):
        model.partial_fit(X, later)
    with pytest.raises(InvalidDataError, match="Convert the labels"):
        model.partial_fit(X, first, classes=later)
    assert pickle.dumps(model) == before
    if model.weights is None:
        with pytest.raises(InvalidDataError, match="Convert the labels"):
            model.remove(X[:1], later[:1])
        with pytest.raises(MergeError, match="the other model has labels"):
            model.merge(clone(model).fit(X, later))
    model.fit(X, later)


def test_whole_numbers_may_come_as_floats():
    """As they do from a table whose column once had gaps. The type is that of the first task."""
    model = GeneralizedRidgeClassifier(information="by_task").fit(X, [1, 2] * 3)
    model.partial_fit(X, [1.0, 3.0] * 3)
    assert model.classes_.tolist() == [1, 2, 3]
    assert model.classes_.dtype == int
    assert model.remove(label=3.0).classes_.tolist() == [1, 2]
    floats = GeneralizedRidgeClassifier().fit(X, [1.0, 2.0] * 3).partial_fit(X, [1, 3] * 3)
    assert floats.classes_.dtype == float
    np.testing.assert_allclose(floats.coef_, model.coef_, atol=1e-12)


def test_one_column_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning):
        model = GeneralizedRidgeClassifier().fit(X, np.array(TEXT)[:, None])
    assert model.classes_.tolist() == ["a", "b", "c"]


@given(st.lists(st.one_of(NAMES, st.text("01.e-")), min_size=1), st.lists(NAMES, max_size=5))
def test_coded_text(labels, declared):
    known = tuple(sorted(set(declared)))
    coded = coded_labels(np.array(labels, dtype=object), known)
    assert list(coded.classes) == sorted({*labels, *declared})
    assert [coded.classes[place] for place in coded.positions] == labels
    np.testing.assert_array_equal(coded.columns.sum(axis=1), 1.0)
    assert len({class_name(label) for label in coded.classes}) == len(coded.classes)
    assert joined_classes(coded.classes, known) == coded.classes


def test_rows_in_another_order_are_refused():
    frame, y = pd.DataFrame(X, columns=["a", "b"]), pd.Series(TEXT)
    with pytest.raises(InvalidDataError, match=r"Pass y.loc\[X.index\]"):
        GeneralizedRidgeClassifier().fit(frame, y[::-1])
    model = GeneralizedRidgeClassifier().fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b"]
    with pytest.raises(InvalidDataError, match=r"Pass y.loc\[tasks.index\]"):
        model.fit(X, y, tasks=pd.Series([1] * 6, index=range(5, -1, -1)))
    with pytest.raises(FeatureMismatchError):
        model.partial_fit(frame.rename(columns={"a": "c"}), y)


def test_what_cannot_be_removed_or_merged():
    plain, apart = (GeneralizedRidgeClassifier(information=kind).fit(X, TEXT) for kind in ("square_root", "by_task"))
    for call, match in (
        (lambda: plain.remove(label="a"), "with information='by_task', which keeps the classes apart"),
        (lambda: apart.remove(label="z"), "there is no class 'z'. The classes are 'a', 'b', 'c'"),
        (lambda: apart.remove(X, TEXT, label="a"), "by its label alone"),
        (lambda: apart.remove(X[:1], TEXT[:1]), "Pass the id as task="),
        (lambda: apart.remove(label="a").remove(label="b").remove(label="c"), "'c' is the only class"),
        (lambda: GeneralizedRidgeClassifier(weights.Zero()).fit(X, TEXT).remove(X, TEXT), "does not keep the whole"),
    ):
        with pytest.raises(RemovalError, match=match):
            call()
    regressor = GeneralizedRidge().fit(X, np.eye(3)[[1, 0, 1, 2, 0, 2]])
    for other, match in (
        (Oracle().fit(X, [1.0] * 6), "Oracle"),
        (regressor, "targets"),
        (GeneralizedRidgeClassifier(weights.Accumulated(prior=1.0)).fit(X, ["z"] * 6), "prior"),
        (GeneralizedRidgeClassifier(fit_intercept=False).fit(X, ["z"] * 6), "intercept"),
    ):
        with pytest.raises(MergeError, match=match):
            plain.merge(other)
    with pytest.raises(MergeError, match="targets"):
        regressor.merge(plain)


def test_task_needs_memories_apart():
    for model in (GeneralizedRidgeClassifier(), GeneralizedRidgeClassifier(weights.Isotropic())):
        with pytest.raises(InvalidParameterError, match="the argument `task` needs a"):
            model.partial_fit(X, TEXT, task="a")


def test_arrays_of_a_classifier(rng):
    X, y = rng.normal(size=(30, 3)), np.repeat(["x", "y", "z"], 10)
    for kind in ("square_root", "moments", "by_task"):
        model = GeneralizedRidgeClassifier(weights.Accumulated(prior=0.5), information=kind).fit(X, y, tasks=y)
        for again in (GeneralizedRidgeClassifier.from_arrays(model.to_arrays()), copy.deepcopy(model)):
            np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
            again.partial_fit(X[:5], ["w"] * 5)
            assert again.classes_.tolist() == ["w", "x", "y", "z"]
        with pytest.raises(InvalidStateError, match=r"Use GeneralizedRidgeClassifier.from_arrays"):
            GeneralizedRidge.from_arrays(model.to_arrays())
    with pytest.raises(InvalidStateError, match=r"Use GeneralizedRidge.from_arrays"):
        GeneralizedRidgeClassifier.from_arrays(GeneralizedRidge().fit(X, rng.normal(size=30)).to_arrays())


DAMAGED = [
    ["x", "y"],
    ["z", "y", "x"],
    ["x", "x", "z"],
    ["x", "y", 1],
    "xyz",
    [None] * 3,
    [[], [], []],
    {},
    [0, 1, True],
]


@pytest.mark.parametrize("classes", [*DAMAGED, [0, 1, True], [1.0, float("nan"), 2.0]], ids=str)
def test_damaged_classes_are_refused(rng, classes):
    arrays = GeneralizedRidgeClassifier().fit(rng.normal(size=(30, 3)), ["x", "y", "z"] * 10).to_arrays()
    header = json.loads(arrays["header"].tobytes()) | {"classes": classes}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with pytest.raises(InvalidStateError, match="classes"):
        GeneralizedRidgeClassifier.from_arrays(arrays)


@pytest.mark.parametrize("labels", [[2**53, 2**53 + 1], [2**63, 2**63 + 1], [2**63, -1], [2**1000, 1], [1e300, 1.0]])
@pytest.mark.parametrize("known", [[1.0, 2.0], [1, 2], None], ids=["floats", "integers", "none"])
def test_labels_that_would_be_rounded_are_refused(known, labels):
    model = GeneralizedRidgeClassifier()
    if known:
        model.partial_fit(X, known * 3)
    if max(labels) < 2**63 and not isinstance((known or labels)[0], float):  # 64 bits hold them
        assert set(model.partial_fit(X, labels * 3).classes_.tolist()) == {*labels, *(known or [])}
        return
    for y in (labels * 3, pd.Series(labels * 3), pd.Series(labels * 3, dtype=object)):
        with pytest.raises(InvalidDataError, match=r"rounded.*Pass the labels as text"):
            model.partial_fit(X, y)
    with pytest.raises(InvalidDataError, match=r"rounded.*Pass the labels as text"):
        GeneralizedRidgeClassifier().partial_fit(X, known * 3 if known else [3, 4] * 3, classes=labels)
    assert getattr(model, "n_tasks_", 0) == bool(known)


@pytest.mark.parametrize("task", [2019.0, "2019.0", True, "2019"])
def test_a_task_is_removed_as_it_was_named(task):
    model = GeneralizedRidge(information="by_task").partial_fit(X, X[:, 0], task="other")
    assert model.partial_fit(X, X[:, 0], task=task).remove(task=task).information_.ids == ("other",)
