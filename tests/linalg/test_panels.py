"""A factor in several panels against the same matrix whole: every width about a multiple of a panel's rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ridgeway import GeneralizedRidge
from ridgeway.linalg import Panels, _panels
from ridgeway.weights import Accumulated

WIDTHS = [6, 7, 8, 13, 14, 15]


@pytest.fixture
def small_panels(monkeypatch):
    monkeypatch.setattr(_panels, "SMALL", 2)
    monkeypatch.setattr(_panels, "OUTER", 7)


def triangle(width: int) -> np.ndarray:
    return np.triu(np.random.default_rng(width).standard_normal((width, width))) + 3.0 * np.eye(width)


@pytest.mark.parametrize("width", WIDTHS)
def test_panels_lose_nothing(small_panels, width):
    R = triangle(width)
    panels = Panels.from_square(R)
    assert_array_equal(panels.square(), R)
    assert panels.flat.size <= width**2
    assert width <= 7 or panels.flat.size < width**2


@pytest.mark.parametrize("n_targets", [1, 2, 8])
@pytest.mark.parametrize("p", [1, 5, 6, 7, 13, 14])
def test_a_solution_from_panels(small_panels, p, n_targets):
    R = triangle(p + n_targets)
    assert_allclose(Panels.from_square(R).solve(p), np.linalg.solve(R[:p, :p], R[:p, p:]), rtol=1e-10)


@pytest.mark.parametrize("n_targets", [1, 2, 8])
@pytest.mark.parametrize("p", [1, 5, 6, 7, 13, 14])
def test_a_diagonal_in_panels(small_panels, p, n_targets):
    diagonal, right = np.arange(1.0, p + 1.0), np.full((p, n_targets), 7.0)
    expected = np.zeros((p + n_targets, p + n_targets))
    expected[:p] = np.hstack([np.diag(diagonal), right])
    assert_array_equal(Panels.diagonal(diagonal, right).square(), expected)


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_a_model_in_panels_answers_as_one_in_a_square(rng, monkeypatch, prior):
    tasks = [(rng.normal(size=(20, 13)), rng.normal(size=(20, 2))) for _ in range(4)]

    def answers() -> list[np.ndarray]:
        model = GeneralizedRidge(Accumulated(prior=prior))
        for X, y in tasks[:3]:
            model.partial_fit(X, y)
        other = GeneralizedRidge(Accumulated(prior=prior)).fit(*tasks[3])
        both = model.merge(other)
        copied = GeneralizedRidge.from_arrays(both.to_arrays())
        selected = both.information_.select(np.array([4, 1, 9]))
        return [model.coef_, both.coef_, copied.coef_, both.remove(*tasks[0]).coef_, selected.moments()]

    whole = answers()
    monkeypatch.setattr(_panels, "SMALL", 2)
    monkeypatch.setattr(_panels, "OUTER", 7)
    for one, other in zip(answers(), whole, strict=True):
        assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_an_answer_that_overflows_says_nothing(small_panels):
    R = triangle(14) * 1e-150
    R[:, 13] = 1e200
    assert not np.isfinite(Panels.from_square(R).solve(13)).all()
