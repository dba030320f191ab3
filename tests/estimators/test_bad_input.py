"""Bad input, a row each: a typed error that says what, got and remedy, and the model byte for byte as before."""

import pickle
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from ridgeway import ContinualRidge, EarlyStopping, GeneralizedRidge, MinimumNorm, Oracle, weights
from ridgeway.errors import (
    FeatureMismatchError,
    InvalidDataError,
    InvalidDataTypeError,
    InvalidParameterError,
    MergeError,
    RemovalError,
    RidgewayError,
)

rng = np.random.default_rng(0)
X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
MODELS = [
    GeneralizedRidge(),
    GeneralizedRidge(information="moments"),
    MinimumNorm(),
    ContinualRidge(),
    EarlyStopping(),
    Oracle(),
]


def changed(array, value, where=(3, 1)):
    array = np.array(array, dtype=np.result_type(array, type(value)))
    array[where[: array.ndim]] = value
    return array


STRINGS = np.dtypes.StringDType()
WHOLE, BEYOND = rng.integers(0, 9, size=(12, 2)), 2**53 + 1
DATA = {
    "NaN in X": (changed(X, np.nan), y, None, InvalidDataError, "Input X contains NaN"),
    "infinity in X": (changed(X, np.inf), y, None, InvalidDataError, "Input X contains infinity"),
    "NaN in y": (X, changed(y, np.nan), None, InvalidDataError, "Input y contains NaN"),
    "infinity in y": (X, changed(y, -np.inf), None, InvalidDataError, "Input y contains infinity"),
    "NaN weight": (X, y, changed(np.ones(12), np.nan), InvalidDataError, "Input sample_weight contains NaN"),
    "infinite weight": (X, y, changed(np.ones(12), np.inf), InvalidDataError, "sample_weight contains infinity"),
    "negative weight": (X, y, changed(np.ones(12), -0.5), InvalidDataError, "smallest is -0.5.*use 0 to leave a row"),
    "all weights zero": (X, y, np.zeros(12), InvalidDataError, "zero for every row.*Leave the task out"),
    "weights of the wrong length": (X, y, np.ones(11), InvalidDataError, r"expected \(12,\).*one weight per row"),
    "weights of two axes": (X, y, np.ones((12, 2)), InvalidDataError, "Sample weights must be 1D array or scalar"),
    "weights of text": (X, y, np.array(["1"] * 12), InvalidDataTypeError, "sample_weight holds text"),
    "huge weights": (X, y, np.full(12, 1e305), InvalidDataError, "overflow"),
    "squares overflow in X": (changed(X, 1e200), y, None, InvalidDataError, r"up to 1e\+200.*Change the unit"),
    "squares overflow in y": (X, changed(y, -1e180), None, InvalidDataError, r"y has values whose squares overflow"),
    "complex X": (X + 1j, y, None, InvalidDataError, "Complex data not supported.*real and imaginary"),
    "complex y": (X, y * 1j, None, InvalidDataError, "Complex data not supported"),
    "text": (np.array([["a", "b"]] * 12), y, None, InvalidDataTypeError, "X holds text.*Encode or convert"),
    "numeric strings": (X.astype(str), y, None, InvalidDataTypeError, "X holds text"),
    "numeric strings as objects": (X.astype(str).astype(object), y, None, InvalidDataTypeError, "X holds str values"),
    "numeric strings in y": (X, y.astype(str).astype(object), None, InvalidDataTypeError, "y holds str values"),
    "strings of variable width": (X.astype(STRINGS), y, None, InvalidDataTypeError, "X holds text"),
    "y of variable width": (X, y.astype(STRINGS), None, InvalidDataTypeError, "y holds text"),
    "weights of variable width": (X, y, np.ones(12).astype(STRINGS), InvalidDataTypeError, "sample_weight holds text"),
    "integers beyond 2⁵³": (changed(WHOLE, BEYOND), y, None, InvalidDataError, "X has integers .* Change the unit"),
    "negative integers": (changed(WHOLE, -BEYOND), y, None, InvalidDataError, "X has integers or decimals beyond 2⁵³"),
    "unsigned integers": (changed(WHOLE, BEYOND).astype("uint64"), y, None, InvalidDataError, "X has integers"),
    "Python's integers": (changed(WHOLE, BEYOND).astype(object), y, None, InvalidDataError, "X has integers"),
    "integers beyond int64": (changed(WHOLE.astype(object), 10**400), y, None, InvalidDataError, "X has integers"),
    "integers of y": (X, changed(WHOLE[:, 0], BEYOND), None, InvalidDataError, "y has integers"),
    "integers of weights": (X, y, changed(WHOLE[:, 0], BEYOND), InvalidDataError, "sample_weight has integers"),
    "decimals": (
        changed(WHOLE.astype(object), Decimal(BEYOND)),
        y,
        None,
        InvalidDataError,
        "X has integers or decimals",
    ),
    "decimals of NaN": (changed(WHOLE.astype(object), Decimal("NaN")), y, None, InvalidDataError, "contains NaN"),
    "bytes": (X.astype("S8"), y, None, InvalidDataTypeError, "X holds bytes"),
    "dates": (np.full((12, 2), np.datetime64("2024-01-01")), y, None, InvalidDataTypeError, "X holds dates"),
    "dates as objects": (np.full((12, 2), date(2024, 1, 1)), y, None, InvalidDataTypeError, "X holds date values"),
    "time spans": (np.full((12, 2), np.timedelta64(1, "D")), y, None, InvalidDataTypeError, "X holds time spans"),
    "masked X": (
        np.ma.masked_array(X, X > 1),
        y,
        None,
        InvalidDataTypeError,
        "X is a masked array.*mask would be ignored",
    ),
    "masked y": (X, np.ma.masked_array(y, y > 1), None, InvalidDataTypeError, "y is a masked array"),
    "a dict for a cell": (changed(X.astype(object), {}), y, None, InvalidDataTypeError, "must be .* string.* number"),
    "too few features": (
        X[:, :1],
        y,
        None,
        FeatureMismatchError,
        "X has 1 features, but .* is expecting 2 .*new model",
    ),
    "too many features": (np.hstack([X, X]), y, None, FeatureMismatchError, "X has 4 features"),
    "one axis": (y, y, None, InvalidDataError, "Reshape your data"),
    "three axes": (X[None], y[:1], None, InvalidDataError, "dim 3"),
    "empty task": (X[:0], y[:0], None, InvalidDataError, r"0 sample\(s\).*leave out empty tasks"),
    "no columns": (X[:, :0], y, None, InvalidDataError, r"0 feature\(s\)"),
    "no y": (X, None, None, InvalidDataError, "requires y to be passed"),
    "y of the wrong length": (X, y[:-1], None, InvalidDataError, "inconsistent numbers of samples.*one target per row"),
    "y of two axes": (
        X,
        np.column_stack([y, y]),
        None,
        InvalidDataError,
        r"shape \(n_samples, 2\).*shape \(n_samples,\)",
    ),
    "sparse with NaN": (sparse.csr_array(changed(X, np.nan)), y, None, InvalidDataError, "contains NaN"),
    "ragged": ([[1.0, 2.0], [3.0]], [1.0, 2.0], None, InvalidDataError, "inhomogeneous"),
}


def assert_refused(call, model, error, match):
    before = pickle.dumps(model)
    with pytest.raises(error, match=f"(?s){match}") as caught:
        call()
    assert pickle.dumps(model) == before
    assert isinstance(caught.value, RidgewayError)
    assert isinstance(caught.value, ValueError | TypeError)
    assert str(caught.value).rstrip().endswith((".", ")", "?"))  # ends with a remedy, a sentence of its own


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("row", DATA)
def test_data(model, row):
    bad_X, bad_y, weight, error, match = DATA[row]
    learned = model.fit(X, y)
    assert_refused(lambda: learned.partial_fit(bad_X, bad_y, weight), learned, error, match)
    if row not in ("too few features", "too many features", "y of two axes"):
        assert_refused(lambda: learned.fit(bad_X, bad_y, weight), learned, error, match)


def frame(columns, array=X):
    return pd.DataFrame(array, columns=columns)


FRAMES = {
    "missing column": (frame(["age"], X[:, :1]), "feature names should match.*size.*X\\[model.feature_names_in_\\]"),
    "extra column": (frame(["age", "size", "more"], np.hstack([X, X[:, :1]])), "feature names should match.*more"),
    "reordered columns": (frame(["size", "age"]), "must be in the same order.*X\\[model.feature_names_in_\\]"),
    "duplicate columns": (frame(["age", "age"]), "duplicate column names: 'age'. Rename or drop"),
    "an array": (X, "no column names.*'age', 'size'.*Pass a DataFrame"),
    "numbered columns": (pd.DataFrame(X), "no column names"),
    "text column": (frame(["age", "size"]).assign(size="big"), "X holds str values"),
    "column of dates": (frame(["age", "size"]).assign(size=pd.Timestamp(0)), "X holds dates or times"),
    "missing value": (frame(["age", "size"]).astype("Float64").mask(X > 2.0).iloc[: len(X)], "NaN"),
}


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("row", FRAMES)
def test_frames(model, row):
    bad, match = FRAMES[row]
    if row == "missing value":
        bad.iloc[2, 0] = pd.NA
    learned = model.fit(frame(["age", "size"]), y)
    error = (FeatureMismatchError, InvalidDataError, InvalidDataTypeError)
    assert_refused(lambda: learned.partial_fit(bad, y), learned, error, match)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_an_array_after_a_frame_in_predict_is_a_warning(model):
    learned = model.fit(frame(["age", "size"]), y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        learned.predict(X)
    assert_refused(lambda: learned.predict(np.ma.masked_array(X, X > 1)), learned, InvalidDataTypeError, "masked")
    assert_refused(lambda: learned.predict(frame(["size", "age"])), learned, FeatureMismatchError, "same order")


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_an_index_in_another_order(model):
    table, target = frame(["age", "size"]), pd.Series(y)
    learned = model.fit(table, target)
    assert_refused(
        lambda: learned.partial_fit(table, target[::-1]), learned, InvalidDataError, r"Pass y.loc\[X.index\]"
    )
    ones = pd.Series(np.ones(12))[::-1]
    assert_refused(lambda: learned.partial_fit(table, target, ones), learned, InvalidDataError, "sample_weight.loc")
    learned.partial_fit(table, target.rename(lambda i: i + 100))  # other labels altogether: paired by position


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_indexes_that_differ_beside_an_array(model):
    learned = model.fit(X, y)
    target, ones = pd.Series(y), pd.Series(np.ones(12))
    match = r"y and sample_weight have the same index labels in a different order.*sample_weight.loc\[y.index\]"
    assert_refused(lambda: learned.partial_fit(X, target, ones[::-1]), learned, InvalidDataError, match)
    labels = pd.Series(["a", "b"] * 6)[::-1]
    assert_refused(lambda: learned.fit(X, target, tasks=labels), learned, InvalidDataError, r"tasks.loc\[y.index\]")
    assert_refused(lambda: learned.fit(X, y, ones, labels), learned, InvalidDataError, "sample_weight and tasks")
    learned.fit(X, target, ones, labels[::-1])


WIDE = [BEYOND, *range(11)]
TABLES = {
    "pandas": pd.DataFrame({"a": WIDE, "b": y}),
    "pandas, nullable": pd.DataFrame({"a": pd.array(WIDE, dtype="Int64"), "b": y}),
    "pandas, Arrow": pd.DataFrame({"a": pd.array(WIDE, dtype="int64[pyarrow]"), "b": y}),
    "polars": pl.DataFrame({"a": WIDE, "b": y}),
    "polars, decimals": pl.DataFrame({"a": [Decimal(value) for value in WIDE], "b": y}),
    "pyarrow": pa.table({"a": WIDE, "b": y}),
    "pyarrow, decimal128": pa.table({"a": pa.array([Decimal(value) for value in WIDE]), "b": y}),
    "pyarrow, decimal256": pa.table({"a": pa.array(map(Decimal, WIDE), type=pa.decimal256(60, 2)), "b": y}),
    "pyarrow, a batch": pa.record_batch({"a": WIDE, "b": y}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_integers_beyond_float64_in_one_column_of_a_table(kind):
    """As a whole, the table becomes float64, and shows no integers."""
    learned = GeneralizedRidge().fit(TABLES[kind][1:], y[1:])
    assert_refused(
        lambda: learned.partial_fit(TABLES[kind], y), learned, InvalidDataError, "(integers|decimals) beyond"
    )
    assert_refused(lambda: learned.predict(TABLES[kind]), learned, InvalidDataError, "(integers|decimals) beyond")


ENCODED = pa.array([None, 1.0, 2.0, 5.0]).dictionary_encode()


@pytest.mark.parametrize("data", [pa.table({"a": ENCODED}), pa.record_batch({"a": ENCODED})], ids=["table", "batch"])
def test_nulls_of_a_dictionary_are_missing_values(data):
    """pyarrow's own conversion to an array makes another value of them."""
    full = pa.table({"a": [0.0, 1.0, 2.0, 5.0]})
    learned = MinimumNorm().fit(full, full["a"])
    for call in (lambda: learned.fit(data, [1.0] * 4), lambda: learned.predict(data)):
        assert_refused(call, learned, InvalidDataError, "X contains NaN")
    column = pa.chunked_array([ENCODED])
    assert_refused(lambda: learned.fit(full, column), learned, InvalidDataError, "y contains NaN")
    assert_refused(
        lambda: learned.fit(full, [1.0] * 4, column), learned, InvalidDataError, "sample_weight contains NaN"
    )


def test_text_and_dates_in_pyarrow():
    learned = MinimumNorm().fit(X, y)
    for values in (["a"] * 12, [date(2024, 1, 1)] * 12):
        table = pa.table({"a": values, "b": y})
        assert_refused(lambda table=table: learned.fit(table, y), learned, InvalidDataTypeError, "column 'a' has type")


@pytest.mark.parametrize("labels", ["wrong length", "missing", "all zero"])
def test_task_labels(labels):
    learned = GeneralizedRidge().fit(X, y)
    tasks, weight, match = {
        "wrong length": ([1, 2], None, r"tasks has 2 labels; it needs one per row, 12"),
        "missing": ([None, *"abcdefghijk"], None, "1 missing label"),
        "all zero": (["a"] * 4 + ["b"] * 8, [0.0] * 4 + [1.0] * 8, "every row of task 'a'"),
    }[labels]
    assert_refused(lambda: learned.fit(X, y, weight, tasks=tasks), learned, InvalidDataError, match)


BAD_PARAMETERS = {
    "negative penalty": (ContinualRidge(-1.0), "must be a finite number ≥ 0; got -1.0"),
    "NaN penalty": (ContinualRidge(np.nan), "got nan"),
    "text penalty": (ContinualRidge("strong"), "must be a finite number ≥ 0; got 'strong'"),
    "too few penalties": (ContinualRidge([1.0]), "1 entries, too few for task 2"),
    "negative policy penalty": (GeneralizedRidge(weights.Isotropic(lambda t: 1 - t)), "got -1"),
    "asymmetric H": (GeneralizedRidge(weights.Explicit([np.eye(2), [[1, 2], [0, 1]]])), "not symmetric.*H.T"),
    "indefinite H": (GeneralizedRidge(weights.Explicit([np.eye(2), np.diag([1, -1])])), "negative eigenvalue"),
    "H of the wrong shape": (GeneralizedRidge(weights.Explicit([np.eye(2), np.eye(3)])), r"shape \(3, 3\).*\(2, 2\)"),
    "H of NaN": (GeneralizedRidge(weights.Explicit([np.eye(2), np.full((2, 2), np.nan)])), "contains NaN"),
    "H of text": (GeneralizedRidge(weights.Explicit([np.eye(2), "H"])), "not a matrix of real numbers"),
    "too few matrices": (GeneralizedRidge(weights.Explicit([np.eye(2)])), "too few for task 2"),
    "indefinite prior": (
        GeneralizedRidge(weights.Accumulated(prior=np.diag([1, -1]))),
        "the prior is not positive semidefinite",
    ),
    "negative prior": (GeneralizedRidge(weights.Accumulated(prior=-1.0)), "the prior must be a finite number"),
    "short prior": (GeneralizedRidge(weights.Accumulated(prior=[1.0])), "1 entries; this model has 2 features"),
    "decay of zero": (GeneralizedRidge(weights.Accumulated(decay=0.0)), r"decay must lie in \(0, 1\]; got 0.0"),
    "decay above one": (GeneralizedRidge(weights.Accumulated(decay=1.5)), r"got 1.5"),
    "NaN decay": (GeneralizedRidge(weights.Accumulated(decay=np.nan)), "decay must be a finite number"),
    "unknown information": (GeneralizedRidge(information="cube"), "'square_root', 'moments', 'by_task'; got 'cube'"),
    "not a policy": (GeneralizedRidge(weights=3.0), r"must be a policy.*weights.Isotropic\(penalty\)"),
    "asymmetric A": (EarlyStopping([np.eye(2), [[1, 2], [0, 1]]]), "learning rate of task 2 is not symmetric"),
    "indefinite A": (EarlyStopping(np.diag([1.0, -1.0])), "negative eigenvalue"),
    "singular A": (EarlyStopping(np.diag([1.0, 0.0])), "must be positive definite"),
    "negative learning rate": (EarlyStopping(-0.1), "must be a finite number > 0; got -0.1"),
    "text learning rate": (EarlyStopping("fast"), "must be a finite number > 0; got 'fast'"),
    "negative n_steps": (EarlyStopping(n_steps=-1), "an integer ≥ 0; got -1"),
    "fractional n_steps": (EarlyStopping(n_steps=1.5), "got 1.5"),
    "too few n_steps": (EarlyStopping(n_steps=[3]), "too few for task 2"),
    "initial_coef of the wrong shape": (MinimumNorm(initial_coef=[1.0]), r"shape \(1,\); it must be \(2,\)"),
    "initial_coef of NaN": (Oracle(initial_coef=[np.nan, 0.0]), "NaN, infinity or entries above"),
    "initial_coef of text": (GeneralizedRidge(initial_coef=["a", "b"]), "must hold numbers"),
}


@pytest.mark.parametrize("row", BAD_PARAMETERS)
def test_parameters(row):
    model, match = BAD_PARAMETERS[row]
    fresh = pickle.dumps(model) if not callable(getattr(model.get_params().get("weights"), "penalty", None)) else None
    with pytest.raises(InvalidParameterError, match=f"(?s){match}"):
        model.partial_fit(X, y).partial_fit(X, y)
    if not hasattr(model, "n_features_in_") and fresh is not None:
        assert pickle.dumps(model) == fresh


def test_a_policy_cannot_change_its_kind_of_memory_midway():
    model = GeneralizedRidge().fit(X, y)
    for change in ({"information": "moments"}, {"weights": weights.Accumulated(), "information": "moments"}):
        model.set_params(**change)
        assert_refused(lambda: model.partial_fit(X, y), model, InvalidParameterError, "changed since the last task")
    forgetful = GeneralizedRidge(weights.Zero()).fit(X, y).set_params(weights=None)
    assert_refused(lambda: forgetful.partial_fit(X, y), forgetful, InvalidParameterError, "changed since the last task")


@pytest.mark.parametrize("kind", ["square_root", "moments"])
def test_removals(kind):
    model = GeneralizedRidge(information=kind).fit(X, y)
    assert_refused(lambda: model.remove(X, y), model, RemovalError, "nothing would remain.*that was learned")
    assert_refused(lambda: model.remove(np.vstack([X, X]), np.r_[y, y]), model, RemovalError, "24 rows")
    assert_refused(lambda: model.remove(X[2:], y[2:]), model, RemovalError, "not clearly have full rank")
    assert_refused(lambda: model.remove(10 * X[:3], y[:3]), model, RemovalError, "never learned")
    assert_refused(lambda: model.remove(X[:3], 100 + 50 * X[:3, 0]), model, RemovalError, "never learned")
    assert_refused(lambda: model.remove(X[:3, :1], y[:3]), model, FeatureMismatchError, "X has 1 features")
    assert_refused(lambda: model.remove(X[:3], np.column_stack([y, y])[:3]), model, InvalidDataError, "y has shape")


FORGETFUL = {
    "isotropic": weights.Isotropic(),
    "zero": weights.Zero(),
    "explicit": weights.Explicit(lambda t: t * np.eye(2)),
    "decay": weights.Accumulated(decay=0.5),
}


@pytest.mark.parametrize("policy", FORGETFUL)
def test_merge_and_remove_need_the_whole_past(policy):
    model = GeneralizedRidge(FORGETFUL[policy]).fit(X, y)
    match = "does not keep the whole past"
    with pytest.raises(MergeError, match=match):
        model.merge(model)
    with pytest.raises(RemovalError, match=match):
        model.remove(X[:2], y[:2])


def test_information_is_an_attribute_of_accumulated_models_alone():
    with pytest.raises(AttributeError, match="keeps no information"):
        _ = GeneralizedRidge(weights.Zero()).fit(X, y).information_


OTHERS = {
    "features": GeneralizedRidge().fit(rng.normal(size=(9, 3)), y[:9]),
    "targets": GeneralizedRidge().fit(X, np.column_stack([y, y])),
    "intercept": GeneralizedRidge(fit_intercept=False).fit(X, y),
    "kind of information": GeneralizedRidge(information="moments").fit(X, y),
    "prior": GeneralizedRidge(weights.Accumulated(prior=1.0)).fit(X, y),
    "initial_coef": GeneralizedRidge(initial_coef=[1.0, 2.0]).fit(X, y),
}


@pytest.mark.parametrize("difference", OTHERS)
def test_merging_what_differs(difference):
    model = GeneralizedRidge().fit(X, y)
    assert_refused(
        lambda: model.merge(OTHERS[difference]), model, MergeError, f"differ in: .*{difference}.*same settings"
    )


def test_merging_other_names_or_another_kind_of_model():
    one, two = (GeneralizedRidge().fit(frame(names), y) for names in (["a", "b"], ["b", "a"]))
    assert_refused(lambda: one.merge(two), one, MergeError, "features")
    assert_refused(lambda: one.merge(Oracle().fit(X, y)), one, MergeError, "Oracle")
    with pytest.raises(MergeError, match="kind: SquareRoot and Moments"):
        one.information_.merge(OTHERS["kind of information"].information_)
