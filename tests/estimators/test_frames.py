"""Tables of pandas that hold only floats are learned without scikit-learn's checks, and say the same."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils import validation

from ridgeway import GeneralizedRidge
from ridgeway.errors import FeatureMismatchError, InvalidDataError

NAMES = ["age", "dose", "weight"]


@pytest.fixture
def rows(rng):
    return rng.normal(size=(30, 3)), rng.normal(size=30)


def framed(X, y, columns=NAMES, index=None):
    return pd.DataFrame(X, columns=columns, index=index), pd.Series(y, index=index)


@pytest.fixture
def calls(monkeypatch):
    """Return a list that grows whenever scikit-learn checks a table."""
    made, check = [], validation.validate_data
    monkeypatch.setattr(validation, "validate_data", lambda *args, **kwargs: made.append(1) or check(*args, **kwargs))
    return made


PLAIN = {
    "one block": lambda X, y: framed(X, y),
    "columns one by one": lambda X, y: (pd.DataFrame({name: X[:, j].copy() for j, name in enumerate(NAMES)}), y),
    "float32": lambda X, y: framed(X.astype(np.float32), y.astype(np.float32)),
    "labelled rows": lambda X, y: framed(X, y, index=[f"row {i}" for i in range(30)]),
    "an array as target": lambda X, y: (framed(X, y)[0], y),
}


@pytest.mark.parametrize("form", PLAIN)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_floats_are_learned_at_once(form, fit_intercept, rows, calls):
    table, target = PLAIN[form](*rows)
    model = GeneralizedRidge(fit_intercept=fit_intercept).partial_fit(table, target).partial_fit(table, target)
    assert not calls
    same = GeneralizedRidge(fit_intercept=fit_intercept)
    for _ in range(2):
        same.partial_fit(np.array(table), np.array(target))
    assert_allclose(model.coef_, same.coef_, rtol=1e-12)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.feature_names_in_.dtype == object
    assert_allclose(model.predict(table), same.predict(np.array(table)), rtol=1e-12)


CHECKED = {
    "whole numbers": lambda X, y: framed(X.round().astype(int), y),
    "two kinds of floats": lambda X, y: (framed(X, y)[0].astype({"age": np.float32}), y),
    "nullable": lambda X, y: (framed(X, y)[0].astype("Float64"), y),
    "a list as target": lambda X, y: (framed(X, y)[0], y.tolist()),
    "numbered columns": lambda X, y: framed(X, y, columns=[0, 1, 2]),
    "a table as target": lambda X, y: (framed(X, y)[0], pd.DataFrame({"y": y})),
}


@pytest.mark.parametrize("form", CHECKED)
def test_anything_else_is_checked(form, rows, calls):
    GeneralizedRidge().partial_fit(*CHECKED[form](*rows))
    assert calls


BROKEN = {
    "another order of columns": (lambda X, y: framed(X, y, NAMES[::-1]), FeatureMismatchError, "names should match"),
    "two columns of a name": (lambda X, y: framed(X, y, ["age", "age", "dose"]), FeatureMismatchError, "duplicate"),
    "a column too few": (lambda X, y: framed(X[:, :2], y, NAMES[:2]), FeatureMismatchError, "weight"),
    "no rows": (lambda X, y: framed(X[:0], y[:0]), InvalidDataError, "0 sample"),
    "rows without a target": (lambda X, y: (framed(X, y)[0], y[:-1]), InvalidDataError, "inconsistent"),
    "a shuffled index": (lambda X, y: (framed(X, y)[0], pd.Series(y)[::-1]), InvalidDataError, "different order"),
    "NaN": (lambda X, y: framed(np.where(X[3, 1] == X, np.nan, X), y), InvalidDataError, "contains NaN"),
    "infinity in the target": (lambda X, y: framed(X, np.where(y == y[3], np.inf, y)), InvalidDataError, "infinity"),
}


@pytest.mark.parametrize("form", BROKEN)
def test_what_is_wrong_is_refused_and_nothing_changes(form, rows):
    make, error, message = BROKEN[form]
    model = GeneralizedRidge().partial_fit(*framed(*rows))
    before = model.coef_
    with pytest.raises(error, match=message):
        model.partial_fit(*make(*rows))
    assert_array_equal(model.coef_, before)
    assert (model.n_tasks_, model.feature_names_in_.tolist()) == (1, NAMES)


def test_names_are_not_learned_later(rows):
    model = GeneralizedRidge().partial_fit(*rows)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        model.partial_fit(*framed(*rows))
