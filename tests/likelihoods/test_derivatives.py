"""The likelihoods against mpmath, and the polynomials of tasks against sums over rows."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeway.data import Task
from ridgeway.errors import InvalidDataError
from ridgeway.likelihoods import Binomial, Gaussian, Multinomial, Observed, Poisson, Polynomial, pairs

CASES = json.loads(Path(__file__).with_name("data").joinpath("derivatives.json").read_text())
ONE = {"binomial": Binomial(), "poisson": Poisson(), "gaussian": Gaussian()}


def derivatives(likelihood, eta, y):
    at, seen = np.array([[eta]]), np.array([[y]])
    slopes = likelihood.slopes(at, seen)
    found = slopes.gradient, -slopes.curvature, slopes.third
    return [likelihood.value(at, seen)[0], *(array.item() for array in found)]


@pytest.mark.parametrize("name", ONE)
def test_derivatives_are_those_of_mpmath(name):
    for eta, y, *expected in CASES[name]:
        found = derivatives(ONE[name], eta, y)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-30, err_msg=f"{eta}, {y}")


def multinomial_derivatives(a, b, y):
    likelihood, at = Multinomial(3), np.array([[a, b]])
    seen = np.eye(3)[[int(y)], :2]
    slopes = likelihood.slopes(at, seen)
    second, third = -slopes.curvature[0], slopes.third[0]
    parts = [likelihood.value(at, seen), slopes.gradient[0], second[[0, 0, 1], [0, 1, 1]]]
    return np.concatenate([*parts, third[[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 1]]])


def test_derivatives_of_three_classes_are_those_of_mpmath():
    for a, b, y, *expected in CASES["multinomial"]:
        np.testing.assert_allclose(multinomial_derivatives(a, b, y), expected, rtol=1e-10, atol=1e-14)


def test_another_derivative_is_noticed():
    """The control: each of the four numbers matters."""
    eta, y, *expected = CASES["binomial"][4]
    found = derivatives(Binomial(), eta, y)
    for place in range(4):
        if expected[place]:
            broken = [number * (1.0 + 1e-9 * (i == place)) for i, number in enumerate(found)]
            assert not np.allclose(broken, expected, rtol=1e-12, atol=1e-30)


@pytest.mark.parametrize("name", ONE)
def test_third_derivatives_are_at_most_the_curvature(name):
    """Then a step that moves no predictor by more than 0.1 changes no curvature by more than e^0.1."""
    eta = np.linspace(-30.0, 30.0, 60001)[:, None]
    slopes = ONE[name].slopes(eta, np.zeros_like(eta))
    assert (np.abs(slopes.third).ravel() <= slopes.curvature.ravel()).all()


@pytest.mark.parametrize("likelihood", [Binomial(), Poisson(), Multinomial(4)], ids=lambda one: one.name)
def test_links_invert_means(likelihood):
    eta = np.random.default_rng(0).normal(size=(20, likelihood.n_predictors))
    np.testing.assert_allclose(likelihood.link(likelihood.mean(eta)), eta, atol=1e-12)


@pytest.mark.parametrize(
    ("likelihood", "y"),
    [(Binomial(), [[2.0]]), (Binomial(), [[-0.1]]), (Poisson(), [[-1.0]]), (Multinomial(3), [[1.0, 1.0]])],
)
def test_what_cannot_be_observed_is_refused(likelihood, y):
    with pytest.raises(InvalidDataError, match="y must"):
        likelihood.check(np.array(y))


def rows_of(rng, likelihood, n, p, intercept, weighted=True):
    q = likelihood.n_predictors
    y = rng.integers(0, 2, (n, 1)).astype(float) if q == 1 else np.eye(q + 1)[rng.integers(0, q + 1, n), :q]
    task = Task.of(rng.normal(size=(n, p)), y, rng.uniform(0.5, 2.0, n) if weighted else None)
    return Observed(likelihood, replace(task, offset=rng.normal(size=n)), rng.normal(size=p) if intercept else None)


def by_rows(observed, theta):
    """Sum value, gradient, curvature and third derivative over the rows, each an outer product."""
    task, q = observed.task, observed.likelihood.n_predictors
    value, size = 0.0, observed.width * q
    gradient, curvature, third = np.zeros(size), np.zeros((size,) * 2), np.zeros((size,) * 3)
    for x, y, w, offset in zip(task.X, task.y, task.sample_weight, task.offset, strict=True):
        row = x if observed.about is None else np.append(x - observed.about, 1.0)
        lift = np.kron(row[:, None], np.eye(q))  # (size, q)
        eta = (theta @ lift + offset)[None]
        slopes = observed.likelihood.slopes(eta, y[None])
        value += w * observed.likelihood.value(eta, y[None])[0]
        gradient += w * lift @ slopes.gradient[0]
        curvature += w * lift @ slopes.curvature[0] @ lift.T
        third += w * np.einsum("ia,jb,kc,abc->ijk", lift, lift, lift, slopes.third[0])
    return value, gradient, curvature, third


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("likelihood", [Binomial(), Poisson(), Multinomial(3)], ids=lambda one: one.name)
def test_a_task_is_the_sum_of_its_rows(likelihood, intercept, monkeypatch):
    monkeypatch.setattr("ridgeway.likelihoods._observed.ROWS", 5)
    rng = np.random.default_rng(1)
    observed = rows_of(rng, likelihood, 13, 3, intercept)
    theta = rng.normal(size=observed.width * likelihood.n_predictors)
    found, expected = observed.expand(theta, cubic=True), by_rows(observed, theta)
    i, j = pairs(len(theta))
    parts = found.value, found.gradient, found.curvature, found.third
    for one, other in zip(parts, (*expected[:3], expected[3][i, j]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert observed.value(theta) == pytest.approx(found.value, rel=1e-13)


def polynomial(rng, p, cubic):
    full = rng.normal(size=(p, p, p))
    full = sum(full.transpose(order) for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)))
    matrix = rng.normal(size=(p, p))
    third = full[pairs(p)] if cubic else None
    return Polynomial(rng.normal(size=p), rng.normal(), rng.normal(size=p), matrix + matrix.T, third), full * cubic


def evaluated(polynomial, full, theta):
    """The value by the definition, with the full tensor."""
    u = theta - polynomial.centre
    cubic = np.einsum("ijk,i,j,k", full, u, u, u) / 6.0
    return polynomial.value + polynomial.gradient @ u - 0.5 * u @ polynomial.curvature @ u + cubic


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans())
@settings(max_examples=50, deadline=None)
def test_polynomials_move_add_and_turn_exactly(seed, p, cubic):
    rng = np.random.default_rng(seed)
    (one, full), (two, other) = polynomial(rng, p, cubic), polynomial(rng, p, cubic)
    theta, away = rng.normal(size=p), rng.normal(size=p)
    expected = evaluated(one, full, theta)
    moved = one.at(away)
    assert evaluated(moved, full, theta) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    both = one.plus(two).at(theta).value
    assert both == pytest.approx(expected + evaluated(two, other, theta), rel=1e-9, abs=1e-9)
    matrix = rng.normal(size=(p, p)) + 3.0 * np.eye(p)
    turned = one.mapped(matrix, np.linalg.solve(matrix, one.centre))
    assert turned.at(np.linalg.solve(matrix, theta)).value == pytest.approx(expected, rel=1e-7, abs=1e-7)
    steps = np.eye(p) * 1e-5
    slope = [(one.at(theta + h).value - one.at(theta - h).value) / 2e-5 for h in steps]
    np.testing.assert_allclose(one.at(theta).gradient, slope, rtol=1e-5, atol=1e-4)


def test_a_cubic_that_is_moved_as_a_quadratic_is_noticed():
    """The control: without its third derivative the polynomial is another one."""
    one, full = polynomial(np.random.default_rng(0), 3, cubic=True)
    forgot = Polynomial(one.centre, one.value, one.gradient, one.curvature)
    theta = np.ones(3)
    assert abs(forgot.at(theta).value - evaluated(one, full, theta)) > 0.1
