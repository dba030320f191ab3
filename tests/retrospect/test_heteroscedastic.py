"""HC0 and HC1 from fourth moments, against statsmodels on all rows."""

import copy
import json
import pickle
from itertools import combinations_with_replacement
from math import comb

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ridgeway import GeneralizedRidge, retrospect, weights
from ridgeway.errors import InferenceError, InvalidDataError, InvalidParameterError, InvalidStateError, MergeError
from ridgeway.information import ByTask, FourthMoments, Moments, SquareRoot, _fourth

KINDS = [ByTask(fourth_moments=True), ByTask(Moments, fourth_moments=True)]


def data(rng, n=150, p=3, n_targets=None, n_tasks=5):
    """Rows whose noise grows with a column; tasks that lie apart."""
    labels = np.r_[np.arange(n_tasks), rng.integers(0, n_tasks, size=n - n_tasks)]
    X = rng.normal(size=(n, p)) + 3.0 * rng.normal(size=(n_tasks, p))[labels] + 5.0
    shape = (n,) if n_targets is None else (n, n_targets)
    spread = np.exp(0.3 * X[:, 0]).reshape(n, *[1] * (len(shape) - 1))
    y = X.sum(axis=1).reshape(spread.shape) + spread * rng.normal(size=shape) - 7.0
    return X, y, rng.uniform(0.3, 3.0, size=n), labels


def learned(X, y, weight=None, labels=None, *, kind=KINDS[0], **settings):
    return GeneralizedRidge(information=kind, **settings).fit(X, y, weight, labels)


def pooled(X, y, weight=None, *, fit_intercept=True, kind="HC1"):
    design = sm.add_constant(X) if fit_intercept else X
    return sm.WLS(y, design, weights=1.0 if weight is None else weight).fit(cov_type=kind, use_t=True)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_statsmodels(rng, kind, fit_intercept, weighted):
    X, y, weight, labels = data(rng)
    weight = weight if weighted else None
    model = learned(X, y, weight, labels, kind=kind, fit_intercept=fit_intercept)
    for errors in ("HC0", "HC1"):
        found = retrospect.heteroscedastic(model, errors, level=0.9)
        fit = pooled(X, y, weight, fit_intercept=fit_intercept, kind=errors)
        np.testing.assert_allclose(found.covariance, fit.cov_params(), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(found.standard_errors, fit.bse, rtol=1e-8)
        np.testing.assert_allclose(found.p_values, fit.pvalues, rtol=1e-7, atol=1e-14)
        np.testing.assert_allclose(found.intervals, fit.conf_int(alpha=0.1), rtol=1e-7)
        assert (found.degrees_of_freedom == fit.df_resid).all()
    other = pooled(X, y, weight, fit_intercept=fit_intercept, kind="HC3")
    assert not np.allclose(found.standard_errors, other.bse, rtol=1e-3)  # the control
    assert not np.allclose(found.standard_errors, retrospect.summary(model).standard_errors, rtol=0.05)


@given(
    seed=st.integers(0, 10_000),
    p=st.integers(1, 5),
    n_targets=st.integers(1, 3),
    n_tasks=st.integers(1, 6),
    fit_intercept=st.booleans(),
)
def test_any_shape(seed, p, n_targets, n_tasks, fit_intercept):
    rng = np.random.default_rng(seed)
    X, Y, weight, labels = data(rng, 60, p, n_targets, n_tasks)
    found = retrospect.heteroscedastic(learned(X, Y, weight, labels, fit_intercept=fit_intercept))
    for target, y in enumerate(Y.T):
        fit = pooled(X, y, weight, fit_intercept=fit_intercept)
        np.testing.assert_allclose(found.standard_errors[target], fit.bse, rtol=1e-7)
    assert ("target 1" in str(found)) == (n_targets > 1)


def test_frequency_weights_are_repeated_rows(rng):
    X, y, _, labels = data(rng)
    often = rng.integers(0, 4, size=len(y))
    found = retrospect.heteroscedastic(learned(X, y, often, labels, weight_kind="frequency"))
    again = [np.repeat(part, often, axis=0) for part in (X, y)]
    np.testing.assert_allclose(found.standard_errors, pooled(*again).bse, rtol=1e-8)
    precise = retrospect.heteroscedastic(learned(X, y, often, labels))
    seen = often > 0
    np.testing.assert_allclose(precise.standard_errors, pooled(X[seen], y[seen], often[seen]).bse, rtol=1e-8)
    assert not np.allclose(precise.standard_errors, found.standard_errors, rtol=1e-3)


def test_an_offset_costs_few_digits(rng):
    X, y, weight, labels = data(rng)
    X = np.round(X * 1024.0) / 1024.0  # so that adding the offset is exact
    near, far = (retrospect.heteroscedastic(learned(X + shift, y, weight, labels)) for shift in (0.0, 2.0**40))
    np.testing.assert_allclose(far.standard_errors[1:], near.standard_errors[1:], rtol=1e-6)


def test_rows_of_a_known_task_and_blocks(rng, monkeypatch):
    """A task in pieces, or in blocks of rows, has the same sums."""
    X, y, weight, _ = data(rng)
    whole = retrospect.heteroscedastic(learned(X, y, weight)).covariance
    model = GeneralizedRidge(information=KINDS[0])
    for start in range(0, 150, 50):
        rows = slice(start, start + 50)
        model.partial_fit(X[rows], y[rows], weight[rows], task="a")
    assert len(model.information_.fourth()) == 1
    np.testing.assert_allclose(retrospect.heteroscedastic(model).covariance, whole, rtol=1e-9)
    monkeypatch.setattr(_fourth, "AT_ONCE", 7)
    np.testing.assert_allclose(retrospect.heteroscedastic(learned(X, y, weight)).covariance, whole, rtol=1e-9)


def test_the_sums_are_those_of_the_rows(rng):
    X, y, weight, _ = data(rng, n=20, p=2)
    (found,) = learned(X, y, weight).information_.fourth()
    center = np.average(np.column_stack([X, y]), axis=0, weights=weight)
    np.testing.assert_allclose(found.center, center, rtol=1e-12)
    z, t, omega = np.column_stack([np.ones(20), X - center[:2]]), y - center[2], weight**2
    orders = [sorted(combinations_with_replacement(range(3), size), key=lambda i: i[::-1]) for size in (4, 3, 2)]
    held = found.fourth, found.third[0], found.second[0]
    for sums, order, factor in zip(held, orders, (1.0, t, t**2), strict=True):
        expected = [np.sum(omega * factor * z[:, list(columns)].prod(axis=1)) for columns in order]
        np.testing.assert_allclose(sums, expected, rtol=1e-9, atol=1e-10)
    assert len(found.to_array()) == 3 + comb(2 + 5, 4) - 2 - 2  # all up to the fourth, less y³·[1, x] and y⁴


def test_removing_merging_and_weighting_tasks(rng):
    X, y, weight, labels = data(rng)
    model, rest = learned(X, y, weight, labels), labels != 2
    left = retrospect.heteroscedastic(model.remove(task=2))
    never = retrospect.heteroscedastic(learned(X[rest], y[rest], weight[rest], labels[rest]))
    np.testing.assert_array_equal(left.covariance, never.covariance)
    two = learned(X[~rest], y[~rest], weight[~rest], labels[~rest]).merge(model.remove(task=2))
    np.testing.assert_allclose(
        retrospect.heteroscedastic(two).covariance, retrospect.heteroscedastic(model).covariance, rtol=1e-12
    )
    other = learned(X, y, weight, kind=ByTask())
    with pytest.raises(MergeError, match="kind of information"):
        other.merge(model)
    with pytest.raises(MergeError, match="different kinds"):
        other.information_.merge(model.information_)
    weighted = model.information_.reweighted({task: 3.0 if task == "2" else 1.0 for task in model.information_.ids})
    (expected,) = learned(X[~rest], y[~rest], 3.0 * weight[~rest]).information_.fourth()
    one = next(part for part in weighted.fourth() if np.isclose(part.fourth[0], expected.fourth[0]))
    np.testing.assert_allclose(one.to_array(), expected.to_array(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fewer_and_more_columns(rng, kind, fit_intercept):
    X, Y, weight, labels = data(rng, p=4, n_targets=2)
    model = learned(X, Y, weight, labels, kind=kind, fit_intercept=fit_intercept)
    small = retrospect.heteroscedastic(retrospect.submodel(model, [3, 0]))
    for target in (0, 1):
        fit = pooled(X[:, [3, 0]], Y[:, target], weight, fit_intercept=fit_intercept)
        np.testing.assert_allclose(small.standard_errors[target], fit.bse, rtol=1e-8)
    was = 5.0 * fit_intercept
    places, targets, past = np.array([1, -1, 0, 3, 2]), np.array([1, -1, 0]), np.r_[0, was, 0, 0, 0, 0, was, 0]
    wide = model.information_.widened(places, targets, past)
    columns = np.insert(X[:, [1, 0, 3, 2]], 1, was, axis=1), np.insert(Y[:, ::-1], 1, was, axis=1)
    whole = learned(*columns, weight, labels, kind=kind, fit_intercept=fit_intercept).information_
    for mine, theirs in zip(wide.fourth(), whole.fourth(), strict=True):
        np.testing.assert_allclose(mine.center, theirs.center, atol=1e-12)
        np.testing.assert_allclose(mine.to_array(), theirs.to_array(), atol=1e-9 * np.abs(theirs.fourth).max())
        assert np.count_nonzero(mine.fourth) == np.count_nonzero(theirs.fourth)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_what_is_written_is_read_again(rng, kind):
    X, y, weight, labels = data(rng)
    model = learned(X, y, weight, labels, kind=kind)
    expected = retrospect.heteroscedastic(model).covariance
    for again in (GeneralizedRidge.from_arrays(model.to_arrays()), copy.deepcopy(model)):
        assert again.get_params()["information"] == kind
        np.testing.assert_array_equal(retrospect.heteroscedastic(again).covariance, expected)
        again.partial_fit(X, y, task="more")
        assert len(again.information_.fourth()) == 6
    assert repr(kind) in repr(model)


@pytest.mark.filterwarnings("ignore:the columns learned are collinear or constant")
def test_states_of_special_columns_are_read_again(rng):
    """A column of zeros, no rows, and a model without fourth moments that has many columns."""
    X, y, _, labels = data(rng)
    X[:, 1] = 0.0
    again = GeneralizedRidge.from_arrays(learned(X, y, labels=labels).to_arrays())
    assert retrospect.heteroscedastic(again).not_estimable == ("x1",)
    empty = KINDS[0].empty(2, 1, centered=True)
    assert KINDS[0].from_parts(*empty.to_parts()).fourth() == []
    wide = learned(rng.normal(size=(9, 101)), rng.normal(size=9), kind="by_task")
    assert GeneralizedRidge.from_arrays(wide.to_arrays()).n_features_in_ == 101


@pytest.mark.parametrize("change", ["missing", "short", "infinite", "negative", "squares", "many", "flag", "center"])
def test_damaged_sums_are_refused(rng, change):
    X, y, _, labels = data(rng)
    arrays = learned(X, y, labels=labels, fit_intercept=change != "center").to_arrays()
    header, sums = json.loads(arrays["header"].tobytes()), arrays["part1.fourth"].copy()
    if change == "missing":
        del arrays["part1.fourth"]
    elif change == "flag":
        header["fourth_moments"] = 1
    elif change == "many":
        header["n_features"] = 101
    else:
        places = {
            "infinite": (5, np.inf),
            "negative": (4, -1.0),
            "squares": (-1, -1.0),
            "center": (0, 1.0),
            "short": (0, 0.0),
        }
        place, value = places[change]
        sums[place] = value
        arrays["part1.fourth"] = sums[:-1] if change == "short" else sums
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with pytest.raises(InvalidStateError):
        GeneralizedRidge.from_arrays(arrays)


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
def test_deficient_rank(rng):
    X, y, weight, labels = data(rng)
    wide = np.column_stack([X[:, 0], X[:, 1], X[:, 1] * 2.0, X[:, 2]])
    found = retrospect.heteroscedastic(learned(wide, y, weight, labels))
    narrow = retrospect.heteroscedastic(learned(X, y, weight, labels))
    assert found.not_estimable == ("x1", "x2")
    np.testing.assert_allclose(found.standard_errors[[0, 1, 4]], narrow.standard_errors[[0, 1, 3]], rtol=1e-7)
    assert np.isinf(found.standard_errors[[2, 3]]).all()


def test_other_kinds_of_arrays(rng):
    X, y, weight, labels = data(rng)
    X = X.astype(np.float32)
    want = retrospect.heteroscedastic(learned(X.astype(np.float64), y, weight, labels)).covariance
    for rows in (X, sparse.csr_array(X.astype(np.float64))):
        np.testing.assert_allclose(
            retrospect.heteroscedastic(learned(rows, y, weight, labels)).covariance, want, rtol=1e-9
        )


def test_what_only_a_part_keeps_is_not_merged(rng):
    X, y, weight, labels = data(rng)
    for tasks in (labels, np.zeros(len(y), dtype=int)):
        held = GeneralizedRidge(information=KINDS[0]).fit(X, y, weight, tasks, clusters=tasks).information_
        assert {type(one) for one in (held.total, *held.parts().values(), *held.clusters().values())} == {SquareRoot}


@pytest.mark.parametrize("kind", ["HC0", "HC1"])
def test_a_kind_is_named_in_either_case(rng, kind):
    X, y, _, labels = data(rng)
    model = learned(X, y, labels=labels)
    named, expected = retrospect.heteroscedastic(model, kind.lower()), retrospect.heteroscedastic(model, kind)
    assert named.kind == expected.kind == kind
    np.testing.assert_array_equal(named.standard_errors, expected.standard_errors)


def test_what_cannot_be_answered_is_refused(rng):
    X, y, _, labels = data(rng)
    model = learned(X, y, labels=labels)
    for kind in ("HC2", "HC3"):
        with pytest.raises(InvalidParameterError, match=f"{kind} needs the leverage of every row"):
            retrospect.heteroscedastic(model, kind)
    with pytest.raises(InvalidParameterError, match="kind must be 'HC0' or 'HC1'; got 'CR2'"):
        retrospect.heteroscedastic(model, "CR2")
    with pytest.raises(InvalidParameterError, match="level"):
        retrospect.heteroscedastic(model, level=95)
    for other in (GeneralizedRidge(), GeneralizedRidge(information="by_task")):
        with pytest.raises(InvalidParameterError, match="does not keep fourth moments"):
            retrospect.heteroscedastic(other.fit(X, y))
    with pytest.raises(InferenceError, match="has a prior"):
        retrospect.heteroscedastic(learned(X, y, weights=weights.Accumulated(prior=1.0)))
    with pytest.raises(InferenceError, match="no degrees of freedom"):
        retrospect.heteroscedastic(learned(X[:4], y[:4]))
    assert (retrospect.heteroscedastic(learned(X[:5], y[:5])).degrees_of_freedom == 1.0).all()
    with pytest.raises(InvalidParameterError, match="fourth_moments"):
        ByTask(fourth_moments="yes")
    with pytest.raises(InvalidParameterError, match="features cannot be transformed"):
        model.state_.mapped(np.eye(3), np.zeros(3))


def test_too_many_features_are_refused_with_the_size(rng):
    size = comb(105, 4) + comb(104, 3) + comb(103, 2) + 102  # the last are the centre
    with pytest.raises(InvalidParameterError, match=rf"101 features are {size:,} numbers per task \(40 MB\)"):
        learned(rng.normal(size=(3, 101)), rng.normal(size=3))
    assert size == comb(106, 4) - 1
    FourthMoments.empty(100, 1, centered=True)


def test_an_overflow_leaves_the_model_as_it_was(rng):
    X, y, _, _ = data(rng)
    model = learned(X, y)
    before = pickle.dumps(model)
    with pytest.raises(InvalidDataError, match="fourth powers of these rows overflow"):
        model.partial_fit(X * 1e100, y)
    assert pickle.dumps(model) == before


def nearly_equal(rng, noise, apart):
    """Return rows of two columns that differ by `apart`, and a model of them: the sums of four products cancel."""
    a, labels = rng.normal(size=600), np.repeat(np.arange(6), 100)
    X = np.column_stack([a + 3.0, a + apart * rng.normal(size=600)])
    y = X @ [1.0, 2.0] + noise * (1.0 + np.abs(a)) * rng.normal(size=600)
    return X, y, GeneralizedRidge(information=ByTask(fourth_moments=True)).fit(X, y, tasks=labels)


@pytest.mark.parametrize(("noise", "apart"), [(1.0, 1.0), (1.0, 1e-3), (1e-2, 1e-2), (1e-4, 1.0)])
def test_errors_of_nearly_equal_columns(rng, noise, apart):
    X, y, model = nearly_equal(rng, noise, apart)
    expected = sm.OLS(y, sm.add_constant(X)).fit(cov_type="HC1").bse
    np.testing.assert_allclose(retrospect.heteroscedastic(model).standard_errors, expected, rtol=1e-3)


@pytest.mark.parametrize(("noise", "apart"), [(1.0, 1e-4), (1.0, 1e-6), (1e-4, 1e-2), (1e-6, 1.0), (1e-6, 1e-6)])
def test_errors_without_digits_are_refused(rng, noise, apart):
    with pytest.raises(InferenceError, match=r"do not have the digits for the errors of .*'x1'"):
        retrospect.heteroscedastic(nearly_equal(rng, noise, apart)[2])


def test_digits_are_counted_in_any_units(rng):
    """The noise alone is the target, so that all terms of the sums are its own."""
    X = nearly_equal(rng, 1.0, 1e-6)[0]
    for unit in (2.0**-30, 2.0**30):
        model = GeneralizedRidge(information=ByTask(fourth_moments=True)).fit(X * unit, rng.normal(size=600))
        with pytest.raises(InferenceError, match="do not have the digits"):
            retrospect.heteroscedastic(model)
