"""Correct digits, counted against rational arithmetic and known answers."""

import numpy as np
import pytest
from scipy.linalg import qr, solve_triangular
from scipy.linalg.lapack import dgels

from benchmarks.nist import NAMES, digits, exact_least_squares, load
from ridgeway import GeneralizedRidge, Oracle
from ridgeway.errors import PrecisionWarning


def all_coefs(model):
    return np.r_[model.intercept_, model.coef_] if model.fit_intercept else model.coef_


@pytest.mark.parametrize("name", NAMES)
def test_square_root_has_the_digits_of_a_pooled_qr_on_the_nist_sets(name):
    X, y, fit_intercept = load(name)
    exact = exact_least_squares(X, y, fit_intercept=fit_intercept)
    counts = []
    for order in range(21):  # one order of rows alone would say how lucky its rounding is
        rows = np.random.default_rng(order).permutation(len(X))
        design, target = (np.column_stack([np.ones(len(X)), X]) if fit_intercept else X)[rows], y[rows]
        applied = dgels(design, target)[1][: design.shape[1]]  # the reflectors applied to y
        Q, R = qr(design, mode="economic")  # and Q formed first: another rounding of the same algorithm
        formed = solve_triangular(R, Q.T @ target)
        model = GeneralizedRidge(fit_intercept=fit_intercept)
        model.fit(X[rows], target, tasks=np.arange(len(X)) * 3 // len(X))
        assert model.n_tasks_ == 3
        counts.append([digits(coefs, exact) for coefs in (all_coefs(model), applied, formed)])
    own, *others = np.median(counts, axis=0)
    assert own >= max(others) - 0.5


def test_counting_digits_can_fail():
    X, y, _ = load("norris")
    exact = exact_least_squares(X, y, fit_intercept=True)
    wrong = GeneralizedRidge().fit(X, y)
    assert digits(all_coefs(wrong) * (1 + 1e-9), exact) < 9.1
    assert digits([float(value) for value in exact], exact) == 15.0
    assert digits([0.0, 0.0], exact) == 0.0


def collinear(gap):
    """Two columns that differ by `gap`, with a known exact answer: y is a multiple of each."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    X[:, 1] = X[:, 0] + gap * X[:, 1]
    return X, rng.normal(size=90)


def test_columns_collinear_to_1e_7_keep_seven_digits():
    X, y = collinear(1e-7)
    exact = exact_least_squares(X, y, fit_intercept=True)
    labels = np.arange(90) // 30
    assert digits(all_coefs(GeneralizedRidge().fit(X, y, tasks=labels)), exact) >= 7
    moments = GeneralizedRidge(information="moments").fit(X, y, tasks=labels)
    with pytest.warns(PrecisionWarning, match="square_root"):
        assert digits(all_coefs(moments), exact) < 4


def test_nearly_exact_collinearity_is_never_silent():
    X, y = collinear(1e-13)
    with pytest.warns(PrecisionWarning, match="digits of coef_ are correct"):
        _ = GeneralizedRidge().fit(X, y).coef_


@pytest.mark.parametrize("kind", ["square_root", "moments"])
def test_an_offset_of_1e8_keeps_eight_digits(kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4)) + 1e8
    y = X @ [1.0, -2.0, 3.0, 0.5] + rng.normal(size=60) + 1e8
    exact = exact_least_squares(X, y, fit_intercept=True)
    model = GeneralizedRidge(information=kind)
    for part in np.split(np.arange(60), 3):
        model.partial_fit(X[part], y[part])
    assert digits(model.coef_, exact[1:]) >= 8
    assert digits(Oracle().fit(X, y).coef_, exact[1:]) >= 8
    merged = (
        GeneralizedRidge(information=kind)
        .fit(X[:20], y[:20])
        .merge(GeneralizedRidge(information=kind).fit(X[20:], y[20:]))
    )
    assert digits(merged.coef_, exact[1:]) >= 8
    assert digits(merged.remove(X[:20], y[:20]).coef_, exact_least_squares(X[20:], y[20:], fit_intercept=True)[1:]) >= 8


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_a_drifting_offset_costs_no_more_than_it_must(order):
    """A small task at 0 and a large one at 1e6, either first: the pooled answer, to what its condition allows."""
    rng = np.random.default_rng(2)
    small, large = rng.normal(size=(5, 2)), rng.normal(size=(400, 2)) + 1e6
    tasks = [(X, X @ [1.0, 2.0] + rng.normal(size=len(X))) for X in (small, large)][order]
    model = GeneralizedRidge()
    for X, y in tasks:
        model.partial_fit(X, y)
    X, y = (np.concatenate(part) for part in zip(*tasks, strict=True))
    assert digits(model.coef_, exact_least_squares(X, y, fit_intercept=True)[1:]) >= 9
