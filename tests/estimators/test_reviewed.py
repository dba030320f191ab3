"""What a reviewer broke once, and must not break again."""

import copy
import pickle
from datetime import datetime
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from benchmarks.nist import exact_least_squares
from ridgeway import ContinualRidge, EarlyStopping, GeneralizedRidge, Oracle, metrics, weights
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError, RemovalError

rng = np.random.default_rng(12)
KINDS = ("square_root", "moments")


def exact_ridge(X, y, prior):
    """Ridge regression without an intercept as least squares on stacked rows: exact for a prior that is a square."""
    root = Fraction(prior).limit_denominator(10**40)
    n, p = X.shape
    A = [[Fraction(float(v)) for v in row] for row in X]
    S = [[sum(A[i][a] * A[i][b] for i in range(n)) + (root if a == b else 0) for b in range(p)] for a in range(p)]
    r = [sum(A[i][a] * Fraction(float(y[i])) for i in range(n)) for a in range(p)]
    for i in range(p):
        r[i], S[i] = r[i] / S[i][i], [v / S[i][i] for v in S[i]]
        for j in range(p):
            if j != i:
                factor = S[j][i]
                r[j], S[j] = r[j] - factor * r[i], [a - factor * b for a, b in zip(S[j], S[i], strict=True)]
    return np.array([float(v) for v in r])


@pytest.mark.parametrize("prior", [1e-28, 1e-24, 1e-20, 1e-16, 1e-12, 1e-8, 1e-4, 1.0, 1e8, 1e16, 1e30])
@pytest.mark.parametrize("rows", [50, 2])
@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
def test_a_prior_of_any_size_with_a_duplicate_column(prior, rows, rng):
    x = rng.normal(size=(rows, 2))
    X = np.c_[x, x[:, 0]]
    y = x @ [1.0, 2.0] + rng.normal(size=rows)
    expected = exact_ridge(X, y, prior)
    for model in (
        GeneralizedRidge(weights.Accumulated(prior), fit_intercept=False),
        GeneralizedRidge(weights.Explicit([prior / rows * np.eye(3)]), fit_intercept=False),
        ContinualRidge(prior / rows, fit_intercept=False),
    ):
        assert_allclose(model.fit(X, y).coef_, expected, rtol=1e-7 if prior < 1.0 else 1e-12)


def test_repeated_rows_with_a_weak_penalty_in_the_dual(rng):
    X = np.repeat(rng.normal(size=(2, 6)), 2, axis=0)
    y = np.array([1.0, 2.0, 3.0, 5.0])
    expected = np.linalg.pinv(X[::2]) @ [1.5, 4.0]
    for penalty in (1e-24, 1e-18, 1e-14):
        assert_allclose(ContinualRidge(penalty, fit_intercept=False).fit(X, y).coef_, expected, rtol=1e-8)


def test_a_penalty_matters_for_a_small_column_beside_a_large_one(rng):
    X = rng.normal(size=(40, 2)) * [1e9, 1e-6]
    y = X @ [1e-9, 1e6] + rng.normal(size=40)
    expected = exact_ridge(X, y, 40 * 1e-11)
    assert_allclose(ContinualRidge(1e-11, fit_intercept=False).fit(X, y).coef_, expected, rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1.0, 1e4, 1e8, 1e12, 1e15])
@pytest.mark.filterwarnings("ignore:removals may have cost")
def test_removing_large_targets_costs_the_digits_that_it_says(kind, size, rng):
    A, B = rng.normal(size=(10, 1)), rng.normal(size=(10, 1))
    ya, yb = A[:, 0] + rng.normal(size=10), size * B[:, 0]
    model = GeneralizedRidge(information=kind).partial_fit(A, ya).partial_fit(B, yb)
    truth = float(exact_least_squares(A, ya, fit_intercept=True)[1])
    try:
        model = model.remove(B, yb)
    except RemovalError:
        assert size >= (1e12 if kind == "square_root" else 1e8)
    else:
        assert abs(model.coef_[0] / truth - 1) <= 1e-14 * 10**model.digits_lost_


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_removals_do_not_wear_out(kind, scale, rng):
    """A window of five tasks over three hundred: the rounding adds up, it does not multiply."""
    tasks = [(scale**t * rng.normal(size=(20, 5)), rng.normal(size=20)) for t in (0, 1) for _ in range(150)]
    tasks = [tasks[i // 2 + 150 * (i % 2)] for i in range(300)]
    model = GeneralizedRidge(information=kind)
    for number, task in enumerate(tasks):
        model.partial_fit(*task)
        if number >= 5:
            model = model.remove(*tasks[number - 5])
    fresh = GeneralizedRidge(information=kind).fit(
        np.vstack([X for X, _ in tasks[-5:]]), np.concatenate([y for _, y in tasks[-5:]])
    )
    assert 0.0 < model.digits_lost_ < 4.0
    assert (
        np.abs(model.coef_ - fresh.coef_).max()
        <= 1e-15 * 10**model.digits_lost_ * max(np.abs(fresh.coef_).max(), 1.0) * 100
    )


def test_removing_parts_of_a_task_keeps_the_count_sane(rng):
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    model = GeneralizedRidge().fit(X, y)
    for part in np.split(np.arange(50), 5):
        model = model.remove(X[part], y[part])
    assert (model.n_tasks_, model.n_samples_seen_) == (1, 50)


@pytest.mark.parametrize(
    "change",
    [{"weights__decay": 1.0}, {"fit_intercept": False}, {"weights": weights.Isotropic()}, {"information": "moments"}],
    ids=str,
)
def test_settings_that_cannot_change_midway(change, rng):
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    model = GeneralizedRidge(weights.Accumulated(decay=0.5)).fit(X, y).set_params(**change)
    before = pickle.dumps(model)
    with pytest.raises(InvalidParameterError, match="changed since the last task"):
        model.partial_fit(X, y)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("kind", KINDS)
def test_starting_coefficients_cost_no_digits_where_the_data_decide(kind, rng):
    X = rng.normal(size=(40, 3))
    y = X @ [1e-6, 2e-6, 3e-6] + 1e-8 * rng.normal(size=40)
    plain = GeneralizedRidge(information=kind).fit(X, y).coef_
    assert_allclose(GeneralizedRidge(information=kind, initial_coef=[1e6] * 3).fit(X, y).coef_, plain, rtol=1e-12)


def test_exact_offsets_are_no_reason_to_warn():
    stamps = 1_700_000_000_000_000 + np.arange(0, 1000, 10.0)
    model = GeneralizedRidge().fit(stamps[:, None], np.arange(100.0))
    assert_allclose(model.coef_, [0.1], rtol=1e-13)


MOMENTS = [datetime(2024, 1, day) for day in range(1, 11)]
FRAMES = {
    "polars datetime": pl.DataFrame({"a": MOMENTS, "b": np.arange(10.0)}),
    "polars date": pl.DataFrame({"a": MOMENTS, "b": np.arange(10.0)}).with_columns(pl.col("a").cast(pl.Date)),
    "polars duration": pl.DataFrame({"a": np.diff([*MOMENTS, MOMENTS[-1]]), "b": np.arange(10.0)}),
    "pyarrow timestamp": pa.table({"a": MOMENTS, "b": np.arange(10.0)}),
    "pandas period": pd.DataFrame({"a": pd.period_range("2024-01", periods=10, freq="D"), "b": np.arange(10.0)}),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_dates_are_refused_in_every_container(frame):
    with pytest.raises(InvalidDataTypeError, match=r"holds (dates or times|timedelta)|has type timestamp"):
        GeneralizedRidge().fit(FRAMES[frame], np.arange(10.0))


UNTYPED_ONCE = {
    "fit_intercept": (
        lambda X, y: GeneralizedRidge(fit_intercept=None).fit(X, y),
        "fit_intercept must be True or False",
    ),
    "fit_intercept text": (lambda X, y: Oracle(fit_intercept="no").fit(X, y), "fit_intercept must be True or False"),
    "sparse y": (lambda X, y: GeneralizedRidge().fit(X, sparse.csr_array(y[:, None])), "y is sparse"),
    "huge integer": (lambda X, _: GeneralizedRidge().fit([[10**400], [1]], [1, 2]), "."),
    "huge penalty": (lambda X, y: ContinualRidge(10**400).fit(X, y), "penalty of task 1"),
    "overflowing penalty": (lambda X, y: ContinualRidge(1e307).fit(X, y), r"limit is 1e\+150"),
    "huge initial_coef": (lambda X, y: Oracle(initial_coef=[10**400] * 3).fit(X, y), "initial_coef"),
    "huge learning rate": (lambda X, y: EarlyStopping(10**400).fit(X, y), "learning rate"),
    "ragged prior": (lambda X, y: GeneralizedRidge(weights.Accumulated([[1], [1, 2]])).fit(X, y), "ragged"),
    "prior of three axes": (lambda X, y: GeneralizedRidge(weights.Accumulated(np.ones((2, 2, 2)))).fit(X, y), "shape"),
    "complex H": (lambda X, y: GeneralizedRidge(weights.Explicit([1j * np.eye(3)])).fit(X, y), "real numbers"),
    "information list": (lambda X, y: GeneralizedRidge(information=["a"]).fit(X, y), "information must be one of"),
    "NA label": (lambda X, y: Oracle().fit(X, y, tasks=pd.Series(["a", pd.NA] * 10, dtype="string")), "10 missing"),
    "unhashable label": (lambda X, y: Oracle().fit(X, y, tasks=[["a"]] * 20), "one label per row"),
    "no labels": (lambda X, y: Oracle().fit(X, y, tasks=3), "one label per row"),
    "text metric": (lambda *_: metrics.forgetting(["a"]), "real numbers"),
    "complex metric": (lambda *_: metrics.average_loss([[1j]]), "real numbers"),
    "ragged metric": (lambda *_: metrics.average_loss([[1.0], [1.0, 2.0]]), "ragged"),
    "metric that cannot broadcast": (lambda *_: metrics.estimation_error(np.ones((2, 3)), np.ones((4, 3))), "shape"),
}


@pytest.mark.parametrize("row", UNTYPED_ONCE)
def test_errors_are_typed(row, rng):
    call, match = UNTYPED_ONCE[row]
    with pytest.raises((InvalidDataError, InvalidDataTypeError, InvalidParameterError), match=match):
        call(rng.normal(size=(20, 3)), rng.normal(size=20))


def test_plain_steps_on_rows_that_never_vary():
    assert not EarlyStopping(n_steps=1).fit(np.full((40, 40), 1 / 3), np.arange(40.0)).coef_.any()


def test_labels_in_another_order_than_the_rows(rng):
    frame = pd.DataFrame(rng.normal(size=(10, 2)), columns=["a", "b"])
    with pytest.raises(InvalidDataError, match=r"Pass tasks.loc\[X.index\]"):
        Oracle().fit(frame, np.arange(10.0), tasks=pd.Series(range(10))[::-1])


def test_labels_of_other_types_are_other_tasks():
    assert Oracle().fit([[1.0], [2.0]], [1.0, 2.0], tasks=["1", 1]).n_tasks_ == 2


def test_asking_does_not_change_what_is_stored_and_a_pickle_stays_frozen(rng):
    model = GeneralizedRidge().fit(rng.normal(size=(20, 3)), rng.normal(size=20))
    stored = pickle.dumps(model)
    _ = model.coef_
    assert pickle.dumps(model) == stored
    copied = copy.deepcopy(model)  # by the same protocol
    assert not copied.information_.matrix.flags.writeable


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [np.arange(600.0)[None, :], np.ones((5, 600))])
def test_rows_that_say_nothing_about_many_features_leave_the_prior(kind, rows):
    model = GeneralizedRidge(weights.Accumulated(prior=1.0), information=kind).partial_fit(
        rows, np.full(len(rows), 7.0)
    )
    assert not model.coef_.any()
    assert model.intercept_ == 7.0
    model.partial_fit(rows + np.eye(600)[: len(rows)], np.full(len(rows), 8.0))
    assert model.coef_.any()


def test_tasks_of_one_row_with_many_features_are_merged():
    tasks = [(rng.normal(size=(1, 600)), rng.normal(size=1)) for _ in range(3)]
    parts = [GeneralizedRidge(information="by_task").partial_fit(*task, task=str(i)) for i, task in enumerate(tasks)]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    pooled = GeneralizedRidge()
    for task in tasks:
        pooled.partial_fit(*task)
    assert_allclose(merged.coef_, pooled.coef_, atol=1e-12)


@pytest.mark.parametrize("value", [np.nan, -np.inf, 1e151])
def test_a_start_that_cannot_be_stored_is_refused(value):
    with pytest.raises(InvalidParameterError, match="initial_coef holds NaN, infinity or entries above"):
        GeneralizedRidge(initial_coef=[value, 0.0]).partial_fit(np.ones((2, 2)), [1.0, 2.0])
