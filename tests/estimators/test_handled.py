"""What is unusual and yet has one right answer: handled exactly."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from ridgeway import ContinualRidge, EarlyStopping, GeneralizedRidge, MinimumNorm, Oracle, weights
from ridgeway.errors import PrecisionWarning

MODELS = [
    GeneralizedRidge(),
    GeneralizedRidge(information="moments"),
    GeneralizedRidge(weights.Explicit(lambda _: np.eye(4))),
    MinimumNorm(),
    ContinualRidge(0.1),
    EarlyStopping(n_steps=20),
    Oracle(),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=[f"{type(m).__name__}-{i}" for i, m in enumerate(MODELS)])
rng = np.random.default_rng(0)
X, y = rng.normal(size=(30, 4)), rng.normal(size=30)


@each_model
def test_one_row_at_a_time(model):
    model = clone(model)
    for row, target in zip(X, y, strict=True):
        model.partial_fit(row[None], [target])
    assert model.n_tasks_ == model.n_samples_seen_ == 30
    if type(model).__name__ in ("GeneralizedRidge", "Oracle") and not isinstance(
        model.get_params().get("weights"), weights.Explicit
    ):
        assert_allclose(model.coef_, np.linalg.lstsq(np.c_[X, np.ones(30)], y, rcond=None)[0][:-1], rtol=1e-10)


@each_model
def test_one_row_with_an_intercept_teaches_the_intercept_alone(model):
    model.fit(X[:1], [7.0])
    assert_array_equal(model.coef_, np.zeros(4))
    assert model.intercept_ == 7.0


@each_model
def test_constant_y(model):
    model.fit(X, np.full(30, 0.1))
    assert_allclose(model.coef_, np.zeros(4), atol=1e-16)
    assert_allclose(model.intercept_, 0.1, rtol=1e-15)


@each_model
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e8 / 3])
def test_a_column_that_never_varies(model, constant):
    table = np.where(np.arange(4) == 2, constant, X)
    model = clone(model)
    for part in np.array_split(np.arange(30), 4):
        model.partial_fit(table[part], y[part])
    assert model.coef_[2] == 0.0
    without = clone(model)
    if isinstance(model.get_params().get("weights"), weights.Explicit):
        without.set_params(weights=weights.Explicit(lambda _: np.eye(3)))
    for part in np.array_split(np.arange(30), 4):
        without.partial_fit(np.delete(table, 2, axis=1)[part], y[part])
    assert_allclose(np.delete(model.coef_, 2), without.coef_, rtol=1e-9, atol=1e-12)


@each_model
@pytest.mark.filterwarnings("ignore:the columns learned are collinear, exactly")
def test_duplicate_columns_share_the_coefficient(model):
    table = X[:, [0, 1, 2, 1]]
    model = clone(model)
    for part in np.array_split(np.arange(30), 3):
        model.partial_fit(table[part], y[part])
    assert_allclose(model.coef_[1], model.coef_[3], rtol=1e-10)
    if hasattr(model, "rank_") and not isinstance(model, ContinualRidge) and not model.get_params().get("weights"):
        assert model.rank_ == 3


@each_model
@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool", "float16", "float32", "int64", "object"])
def test_every_number_type_is_learned_as_float64(model, dtype, rng):
    table = rng.integers(0, 2 if dtype == "bool" else 127, size=(40, 4))
    target = rng.integers(0, 127, size=40)
    narrow = model.fit(table.astype(dtype), target.astype(dtype if dtype != "bool" else "int8")).coef_
    assert narrow.dtype == np.float64
    assert_array_equal(narrow, model.fit(table.astype(float), target.astype(float)).coef_)


@each_model
def test_memory_layout_does_not_matter(model):
    plain = model.fit(X, y).coef_
    frozen = X.copy()
    frozen.flags.writeable = False
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X[:, ::-1].copy()[:, ::-1], frozen):
        assert_allclose(model.fit(other, y).coef_, plain, rtol=1e-13)
        assert_array_equal(other, X)
    reversed_y = y[::-1].copy()[::-1]
    assert_allclose(model.fit(X, reversed_y).coef_, plain, rtol=1e-13)


@each_model
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_equals_dense(model, fit_intercept, form, rng):
    table = np.where(rng.random((30, 4)) < 0.5, X, 0.0)
    weight = rng.uniform(0.5, 2.0, 30)
    model = clone(model).set_params(fit_intercept=fit_intercept)
    for rows in (slice(None), slice(0, 3)):
        dense = model.fit(table[rows], y[rows], weight[rows])
        expected, predicted = dense.coef_, dense.predict(table)
        model.fit(form(table[rows]), y[rows], weight[rows])
        assert_allclose(model.coef_, expected, rtol=1e-12, atol=1e-14)
        assert_allclose(model.predict(form(table)), predicted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("model", [MinimumNorm(), ContinualRidge(0.01), EarlyStopping(n_steps=50)], ids=repr)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_wide_sparse_rows_are_never_dense_whole(model, fit_intercept):
    p, n = 300_000, 40
    table = sparse.random_array((n, p), density=1e-4, format="csr", rng=np.random.default_rng(1))
    target = np.random.default_rng(2).normal(size=n)
    model.set_params(fit_intercept=fit_intercept)
    tracemalloc.start()
    coef = model.fit(table, target).coef_
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.9 * 8 * n * p
    used = np.unique(table.indices)
    narrow = clone(model).fit(table[:, used].toarray(), target).coef_
    assert_allclose(coef[used], narrow, rtol=1e-8, atol=1e-11)
    assert np.count_nonzero(coef) == np.count_nonzero(coef[used])


def test_no_matrix_of_features_by_features_in_the_dual():
    p, n = 20_000, 30
    wide = np.random.default_rng(3).normal(size=(n, p))
    for model in (MinimumNorm(), ContinualRidge(), GeneralizedRidge(weights.Isotropic(1.0)), EarlyStopping()):
        tracemalloc.start()
        model.fit(wide, np.arange(float(n)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20 * wide.nbytes < 8 * p * p / 10


@each_model
def test_several_targets_are_learned_side_by_side(model, rng):
    targets = rng.normal(size=(30, 3))
    together = model.fit(X, targets, tasks=np.arange(30) // 10)
    coef, intercept, predicted = together.coef_, together.intercept_, together.predict(X)
    assert coef.shape == (3, 4)
    for k in range(3):
        alone = model.fit(X, targets[:, k], tasks=np.arange(30) // 10)
        assert_allclose(coef[k], alone.coef_, rtol=1e-10, atol=1e-13)
        assert_allclose(intercept[k], alone.intercept_, rtol=1e-10, atol=1e-13)
        assert_allclose(predicted[:, k], alone.predict(X), rtol=1e-10, atol=1e-12)


@each_model
def test_tasks_by_label_in_order_of_first_appearance(model, rng):
    labels = np.array(["b", "a", "c"])[rng.integers(0, 3, 30)]
    labels[0] = "b"
    labelled = model.fit(X, y, tasks=labels).coef_
    by_hand = clone(model)
    for label in dict.fromkeys(labels):
        by_hand.partial_fit(X[labels == label], y[labels == label])
    assert_array_equal(by_hand.coef_, labelled)
    assert by_hand.n_tasks_ == 3


@each_model
def test_the_starting_coefficients_stay_where_the_data_are_silent(model):
    start = np.array([1.0, -2.0, 3.0, 4.0])
    model = clone(model).set_params(initial_coef=start, fit_intercept=False)
    silent = np.array([[1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]])
    model.fit(silent, [5.0, 10.0])
    assert_array_equal(model.coef_[1:], start[1:])
    assert model.coef_[0] > 1.0
    stacked = clone(model).set_params(initial_coef=np.array([start, 2 * start])).fit(silent, np.ones((2, 2)))
    assert_array_equal(stacked.coef_[:, 1:], np.array([start, 2 * start])[:, 1:])


@each_model
def test_a_weight_of_zero_is_an_absent_row(model):
    weight = np.where(np.arange(30) % 3 == 0, 0.0, 1.5)
    zeroed = model.fit(X, y, weight)
    coef, seen = zeroed.coef_, zeroed.n_samples_seen_
    absent = model.fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    assert_array_equal(absent.coef_, coef)
    assert absent.n_samples_seen_ == seen == 20
    assert_allclose(model.fit(X, y, 2.0).coef_, model.fit(X, y, np.full(30, 2.0)).coef_)


@each_model
def test_arrays_may_be_reused_once_learned(model):
    table, target = X.copy(), y.copy()
    model.fit(table, target)
    table[:], target[:] = 7.0, 7.0
    answers = model.coef_
    assert_array_equal(answers, model.fit(X, y).coef_)


def test_answers_are_solved_when_first_asked_for():
    model = GeneralizedRidge().fit(X, y)
    assert "answer" not in vars(model._state)
    before = dict(vars(model))
    first = model.coef_
    assert "answer" in vars(model._state)
    assert vars(model) == before
    first[:] = 0.0
    assert model.coef_.any()  # what was handed out is a copy


def test_merging_leaves_both_as_they_were():
    one, two = GeneralizedRidge().fit(X[:15], y[:15]), GeneralizedRidge().fit(X[15:], y[15:])
    coefs = one.coef_, two.coef_
    both = one.merge(two)
    both.partial_fit(X, y)
    assert_array_equal(one.coef_, coefs[0])
    assert_array_equal(two.coef_, coefs[1])
    assert one.n_tasks_ == 1


def test_digits_lost_are_said():
    tiny, huge = X[:15], 1e5 * X[15:]
    model = GeneralizedRidge().fit(tiny, y[:15])
    assert model.digits_lost_ == 0.0
    model = model.partial_fit(huge, y[15:]).remove(huge, y[15:])
    assert 4.0 < model.digits_lost_ < 12.0
    with pytest.warns(PrecisionWarning, match="removals may have cost 1[0-9] digits"):
        assert_allclose(model.coef_, GeneralizedRidge().fit(tiny, y[:15]).coef_, rtol=1e-4)
