"""Bad input: a typed error that says what to do, and a model that is as it was; or the right answer."""

import numpy as np
import pandas as pd
import pytest
from glm_rows import MODELS, draw, learned, penalized
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from ridgeway import GeneralizedLogistic, GeneralizedPoisson, GeneralizedRidge, weights
from ridgeway.errors import (
    InferenceError,
    InvalidDataError,
    InvalidDataTypeError,
    InvalidParameterError,
    MergeError,
    SeparationError,
)

PRIOR = weights.Accumulated(prior=0.5)
LINE = np.arange(6.0)[:, None]


def is_separated(family, design, y):
    """Whether some direction never lowers the log-likelihood of a row, and raises that of one: a linear program."""
    if family == "binomial":
        signed = np.where(y > 0, 1.0, -1.0)[:, None] * design
        equal = None
    else:
        signed, equal = -design[y == 0], design[y > 0]
    if not len(signed):
        return False
    zero = None if equal is None or not len(equal) else np.zeros(len(equal))
    found = linprog(
        -signed.sum(axis=0),
        A_ub=-signed,
        b_ub=np.zeros(len(signed)),
        A_eq=None if zero is None else equal,
        b_eq=zero,
        bounds=[(-1.0, 1.0)] * design.shape[1],
    )
    return -found.fun > 1e-7


@pytest.mark.parametrize("family", MODELS)
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_separation_is_found_if_and_only_if_it_is_there(family, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 14))
    X = rng.integers(-2, 3, (n, 2)).astype(float)
    y = rng.integers(0, 2, n) if family == "binomial" else rng.poisson(0.7, n)
    design = np.column_stack([X, np.ones(n)])
    if np.linalg.matrix_rank(design) < 3 or (family == "binomial" and len(set(y)) < 2):
        return
    try:
        MODELS[family]().fit(X, y)
        found = False
    except SeparationError:
        found = True
    assert found == is_separated(family, design, y)
    if y.any():
        MODELS[family](PRIOR).fit(X, y)


@pytest.mark.parametrize("memory", ["quadratic", "cubic"])
@pytest.mark.parametrize(("family", "y"), [("binomial", [0, 0, 0, 1, 1, 1]), ("poisson", [0, 0, 0, 0, 2, 5])])
def test_a_prior_makes_separated_rows_answerable(family, y, memory):
    model = MODELS[family](PRIOR, memory=memory).fit(LINE, y)
    found = [model.intercept_, *model.coef_]
    np.testing.assert_allclose(found, penalized(family, LINE, np.array(y), 0.5 * np.eye(1)), atol=1e-5)


@pytest.mark.parametrize("memory", ["quadratic", "cubic"])
def test_later_tasks_may_have_one_class(memory):
    X, y = draw(np.random.default_rng(0), "binomial", 400, 2, size=0.3)
    order = np.append(np.arange(200), 200 + np.argsort(y[200:], kind="stable"))
    cut = 200 + int((y[200:] == 0).sum())
    model = learned(GeneralizedLogistic(memory=memory), X[order], y[order], [100, 200, cut])
    assert len(set(y[order[200:cut]])) == len(set(y[order[cut:]])) == 1
    pooled = GeneralizedLogistic().fit(X, y)
    away = np.max(np.abs(model.coef_ - pooled.coef_) / pooled.standard_errors_)
    assert away < (0.2 if memory == "cubic" else 1.0)


def test_a_first_task_of_one_class():
    X, y = draw(np.random.default_rng(1), "binomial", 100, 2)
    none = np.zeros(100, dtype=int)
    with pytest.raises(InvalidDataError, match=r"one class only.*classes=") as error:
        GeneralizedLogistic(PRIOR).fit(X, none)
    assert not isinstance(error.value, SeparationError)
    with pytest.raises(SeparationError, match=r"prior=1\.0"):
        GeneralizedLogistic().partial_fit(X, none, classes=[0, 1])
    with pytest.raises(SeparationError, match="intercept of rows"):
        GeneralizedLogistic(PRIOR).partial_fit(X, none, classes=[0, 1])
    with pytest.raises(SeparationError, match="intercept of rows"):
        GeneralizedPoisson(PRIOR).partial_fit(X, none)
    ones = np.column_stack([X, np.ones(100)])
    order, zeros = np.argsort(y, kind="stable"), int((y == 0).sum())
    model = GeneralizedLogistic(PRIOR, memory="cubic", fit_intercept=False)
    model.partial_fit(ones[order[:zeros]], y[order[:zeros]], classes=[0, 1])
    model.partial_fit(ones[order[zeros:]], y[order[zeros:]])
    assert list(model.classes_) == [0, 1]
    assert model.score(ones, y) > 0.5


@pytest.mark.parametrize(
    ("later", "error", "message"),
    [
        (["a", "b"] * 10, InvalidDataError, "whole numbers"),
        ([True, False] * 10, InvalidDataError, "bools"),
        ([0, 7] * 10, InvalidDataError, "class .*7.* is new"),
        ([0.0, 0.5] * 10, InvalidDataError, "Unknown label type: continuous"),
        ([0.0, np.nan] * 10, InvalidDataError, "NaN"),
        ([None, 1] * 10, InvalidDataError, "missing"),
        ([1] * 19, InvalidDataError, "inconsistent numbers"),
    ],
)
def test_labels_that_do_not_fit_leave_the_model_as_it_was(later, error, message):
    X, y = draw(np.random.default_rng(2), "binomial", 100, 2)
    model = GeneralizedLogistic(PRIOR).fit(X, y)
    before, coef = model.state_, model.coef_.tobytes()
    with pytest.raises(error, match=message):
        model.partial_fit(X[:20], later)
    assert model.state_ is before
    assert model.coef_.tobytes() == coef


def test_labels_may_be_text_bools_or_floats():
    X, y = draw(np.random.default_rng(3), "binomial", 100, 2)
    expected = GeneralizedLogistic().fit(X, y)
    for labels in (np.array(["no", "yes"])[y], y.astype(bool), y.astype(float), pd.Series(y)):
        model = GeneralizedLogistic().fit(X, labels)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        assert (model.predict(X) == np.asarray(labels)[[list(y).index(v) for v in expected.predict(X)]]).all()


@pytest.mark.parametrize(
    ("y", "error"),
    [([-1.0] * 6, InvalidDataError), ([np.inf] * 6, InvalidDataError), (list("abcdef"), InvalidDataTypeError)],
)
def test_counts_that_are_none(y, error):
    model = GeneralizedPoisson(PRIOR).fit(LINE, [0, 1, 1, 2, 3, 3])
    before = model.state_
    with pytest.raises(error):
        model.partial_fit(LINE, y)
    assert model.state_ is before


def test_large_counts_and_rates_are_answered():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 2))
    y = rng.poisson(np.exp(X @ [0.5, -0.2] + 16.0))
    model = GeneralizedPoisson().fit(X, y)
    np.testing.assert_allclose(model.coef_, [0.5, -0.2], atol=1e-3)
    tiny = GeneralizedPoisson(fit_intercept=False).fit(np.column_stack([X, np.ones(200)]), y / 1e9)
    np.testing.assert_allclose(tiny.coef_[:2], model.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    ("settings_", "error", "message"),
    [
        ({"memory": "quartic"}, InvalidParameterError, "memory must be one of"),
        ({"weights": weights.GradientSteps()}, InvalidParameterError, "least squares alone"),
        ({"weights": weights.Accumulated(prior="evidence")}, InvalidParameterError, "evidence"),
        ({"weights": weights.Accumulated(decay="half")}, InvalidParameterError, "decay"),
        ({"weights": weights.Accumulated(prior=-1.0)}, InvalidParameterError, "prior"),
        ({"weights": 1.0}, InvalidParameterError, "policy"),
        ({"weight_kind": "counts"}, InvalidParameterError, "weight_kind"),
        ({"weights": weights.Zero(), "weight_kind": "frequency"}, InvalidParameterError, "counts rows"),
        ({"initial_coef": [1.0, 2.0, 3.0]}, InvalidParameterError, "initial_coef"),
        ({"initial_coef": [1e300, 0.0]}, InvalidParameterError, "entries above"),
        ({"initial_coef": [1e149, 0.0]}, InvalidDataError, "overflow"),
    ],
)
def test_settings_that_do_not_fit(settings_, error, message):
    X, y = draw(np.random.default_rng(5), "poisson", 50, 2)
    with pytest.raises(error, match=message):
        GeneralizedPoisson(**settings_).fit(X, y)


def test_a_cubic_of_many_coefficients_is_refused_with_its_size():
    X = np.zeros((4, 300))
    with pytest.raises(InvalidParameterError, match=r"4,590,551 for 301 coefficients"):
        GeneralizedLogistic(PRIOR, memory="cubic").fit(X, [0, 1, 0, 1])


def test_settings_that_change_between_tasks():
    X, y = draw(np.random.default_rng(6), "binomial", 100, 2)
    changes = {"memory": "cubic", "fit_intercept": False, "weights": weights.Zero(), "weight_kind": "frequency"}
    for name, value in changes.items():
        model = GeneralizedLogistic().fit(X, y)
        with pytest.raises(InvalidParameterError):
            model.set_params(**{name: value}).partial_fit(X, y)
    with pytest.raises(InvalidParameterError):
        GeneralizedLogistic(weights.Zero()).fit(X, y).set_params(weights=PRIOR).partial_fit(X, y)
    model = GeneralizedLogistic().fit(X, y).set_params(weights__prior=5.0)
    more = model.partial_fit(X, y)  # a prior is not data: it may change
    expected = GeneralizedLogistic(weights.Accumulated(5.0)).fit(X, y, 2.0)
    np.testing.assert_allclose(more.coef_, expected.coef_, rtol=0.1)


def test_an_offset_that_hides_the_predictors_is_refused():
    X, y = draw(np.random.default_rng(7), "binomial", 50, 2)
    expected = GeneralizedLogistic().fit(X, y)
    found = GeneralizedLogistic().fit(X, y, offset=np.full(50, 1e6))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-7)  # the intercept takes it up
    for offset in (1e7, -1e16, 1e300):
        with pytest.raises(InvalidDataError, match="the limit is 1e\\+06"):
            GeneralizedLogistic().fit(X, y, offset=np.full(50, offset))


def test_offsets_and_weights_that_do_not_fit():
    X, y = draw(np.random.default_rng(7), "binomial", 50, 2)
    for offset, error in (([1.0], InvalidDataError), (np.full(50, np.nan), InvalidDataError), (["a"] * 50, TypeError)):
        with pytest.raises(error, match="offset"):
            GeneralizedLogistic().fit(X, y, offset=offset)
        with pytest.raises(error, match="offset"):
            GeneralizedLogistic().fit(X, y).predict(X, offset=offset)
    with pytest.raises(InvalidDataError, match="whole numbers"):
        GeneralizedLogistic(weight_kind="frequency").fit(X, y, sample_weight=np.full(50, 0.5))
    with pytest.raises(InvalidParameterError, match="two classes"):
        GeneralizedLogistic(PRIOR).fit(X, np.arange(50) % 3, offset=np.zeros(50))


def test_models_that_cannot_be_merged():
    X, y = draw(np.random.default_rng(8), "binomial", 100, 2)
    model = GeneralizedLogistic(PRIOR).fit(X, y)
    others = {
        "memory": GeneralizedLogistic(PRIOR, memory="cubic").fit(X, y),
        "prior": GeneralizedLogistic().fit(X, y),
        "intercept": GeneralizedLogistic(PRIOR, fit_intercept=False).fit(X, y),
        "targets": GeneralizedLogistic(PRIOR).fit(X, np.array(["a", "b"])[y]),
        "decay": GeneralizedLogistic(weights.Accumulated(0.5, decay=0.5)).fit(X, y),
        "initial_coef": GeneralizedLogistic(PRIOR, initial_coef=[1.0, 0.0]).fit(X, y),
        "features": GeneralizedLogistic(PRIOR).fit(X[:, :1], y),
        "last estimate": GeneralizedLogistic(weights.Zero()).fit(X, y),
        "Pass a GeneralizedLogistic": GeneralizedRidge().fit(X, y),
    }
    for what, other in others.items():
        with pytest.raises(MergeError, match=what):
            model.merge(other)


def test_collinear_columns_are_said():
    X, y = draw(np.random.default_rng(9), "binomial", 100, 2)
    twice = np.column_stack([X, X[:, 0]])
    with pytest.warns(UserWarning, match="collinear"):
        model = GeneralizedLogistic().fit(twice, y)
    single = GeneralizedLogistic().fit(X, y)
    np.testing.assert_allclose(model.coef_[0], model.coef_[2], rtol=1e-6)  # the shortest
    np.testing.assert_allclose(model.coef_[0] + model.coef_[2], single.coef_[0], rtol=1e-6)
    assert model.rank_ == 2
    with pytest.raises(InferenceError, match="collinear"):
        _ = model.standard_errors_


@pytest.mark.parametrize("memory", ["quadratic", "cubic"])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_column_that_never_varied_has_infinite_errors(memory, intercept, rng):
    """Those of the others are as if it were not there, also for three classes."""
    X, y = rng.normal(size=(90, 2)), np.repeat(["a", "b", "c"], 30)
    X[:30] += 0.5
    chosen = {"memory": memory, "fit_intercept": intercept}
    plain = GeneralizedLogistic(**chosen).fit(X, y)
    model = GeneralizedLogistic(**chosen).fit(np.insert(X, 1, 0.0, axis=1), y)
    assert np.isinf(model.standard_errors_[:, 1]).all()
    assert np.allclose(model.standard_errors_[:, ::2], plain.standard_errors_, rtol=1e-9)
    assert np.allclose(model.intercept_error_, plain.intercept_error_, rtol=1e-9)


def largest_unit(family, X, y):
    """Return about the largest power of 2 by which X can be multiplied for a cubic memory, found by bisection."""
    works, fails = 300, 400
    while fails - works > 1:
        power = (works + fails) // 2
        try:
            MODELS[family](PRIOR, memory="cubic").fit(X * 2.0**power, y)
            works = power
        except InvalidDataError:
            fails = power
    return works


@pytest.mark.parametrize("family", MODELS)
@pytest.mark.parametrize("n_features", [1, 2])
@pytest.mark.parametrize("unit", [1e104, 1e120, 1e147])
def test_third_powers_that_overflow_are_refused_at_once(family, n_features, unit):
    X, y = draw(np.random.default_rng(5), family, 60, n_features)
    with pytest.raises(InvalidDataError, match=r"values up to .*, whose third powers overflow .* Change the unit"):
        MODELS[family](memory="cubic").fit(X * unit, y)
    quadratic = MODELS[family](memory="quadratic").fit(X * unit, y)  # a remedy that the message offers
    np.testing.assert_allclose(quadratic.coef_ * unit, MODELS[family]().fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("family", MODELS)
def test_a_cubic_memory_is_exact_up_to_where_third_powers_overflow(family):
    X, y = draw(np.random.default_rng(6), family, 60, 2)
    power = largest_unit(family, X, y)
    assert 2.0**power > 1e100
    model = MODELS[family](memory="cubic").fit(X * 2.0**power, y).partial_fit(X[:20] * 2.0**power, y[:20])
    plain = MODELS[family](memory="cubic").fit(X, y).partial_fit(X[:20], y[:20])
    np.testing.assert_allclose(model.coef_ * 2.0**power, plain.coef_, rtol=1e-9)
    before = model.to_arrays()
    with pytest.raises(InvalidDataError, match="third powers overflow"):
        model.partial_fit(X * 2.0 ** (power + 4), y)
    after = model.to_arrays()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def merged_often(model):
    for _ in range(4):  # 16 times the rows
        model = model.merge(model)
    return model


def test_a_cubic_merge_whose_third_powers_overflow_is_refused():
    X, y = draw(np.random.default_rng(6), "binomial", 60, 2)
    power = largest_unit("binomial", X, y)
    assert (
        merged_often(GeneralizedLogistic(PRIOR, memory="cubic").fit(X * 2.0 ** (power - 4), y)).n_samples_seen_ == 960
    )
    model = GeneralizedLogistic(PRIOR, memory="cubic").fit(X * 2.0**power, y)
    with pytest.raises(MergeError, match=r"overflow\. Learn both again"):
        merged_often(model)


def test_rows_that_count_for_nothing_beside_the_prior_are_learned():
    X, y = draw(np.random.default_rng(7), "poisson", 60, 1)
    model = GeneralizedPoisson(weights.Accumulated(prior=1e100), fit_intercept=False)
    model.fit(X * 1e-120, y).partial_fit(X * 1e-120, y)
    np.testing.assert_allclose(model.coef_, 2.0 * 1e-220 * (X.T @ (y - 1.0)), rtol=1e-9)
    np.testing.assert_allclose(model.standard_errors_, 1e-50)


@pytest.mark.parametrize(("family", "y"), [("binomial", 1), ("poisson", 0)])
def test_a_first_task_of_too_few_rows_offers_to_learn_more(family, y):
    options = {"classes": [0, 1]} if family == "binomial" else {}
    model = MODELS[family]()
    message = r"1 row cannot determine 3 coefficients\. Learn more rows first, .* or give a prior, such as .*prior=1\.0"
    with pytest.raises(SeparationError, match=message):
        model.partial_fit([[0.5, 2.0]], [y], **options)
    X, labels = draw(np.random.default_rng(1), family, 100, 2)
    model.partial_fit(X, labels, **options).partial_fit([[0.5, 2.0]], [y])  # the remedy


@pytest.mark.parametrize("memory", ["quadratic", "cubic"])
def test_a_search_that_goes_astray_is_no_estimate(memory):
    """Rows in another unit by ten orders of magnitude: no step along the past's coefficients finds the maximum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (rng.random(200) < 1.0 / (1.0 + np.exp(-X[:, 0]))).astype(int)
    model = GeneralizedLogistic(memory=memory).fit(X, y)
    before = model.coef_.tobytes()
    with pytest.raises(InvalidDataError, match="changed its unit"):
        model.partial_fit(1e10 * X, y)
    assert model.coef_.tobytes() == before
    model.partial_fit(1e3 * X, y)  # the control: smaller changes are learned
    assert np.abs(model.coef_).max() < 0.01
