"""A share of the campaign on hard designs; `make designs` is all of it. Rules that are broken on purpose are caught."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import designs, extended


def test_hard_designs_keep_their_digits_or_warn():
    total = designs.run(range(300))
    assert total["silent failures"] == 0
    assert total["clean, warned"] == 0
    assert 20 < total["warned, digits kept"] <= total["warned"] < 100


@pytest.mark.parametrize("name", designs.CONTROLS)
def test_a_broken_rule_is_caught(name):
    assert designs.caught(name, range(300)) > 0


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("prior", [0.0, 0.5])
def test_the_reference_is_rational_arithmetic(monkeypatch, rng, fit_intercept, prior):
    X = rng.normal(size=(12, 3)) * [1e-8, 1.0, 1e8] + [0.0, 1e6, 1e8]
    X[:, 1] = 1.0 + 1e-15 * rng.choice([-1.0, 1.0], 12)
    problem = extended.Problem(
        X,
        rng.normal(size=(12, 2)),
        rng.uniform(0.2, 3.0, 12),
        fit_intercept,
        np.full(3, prior),
        rng.normal(size=(3, 2)),
    )
    exact = extended.exact(problem)
    monkeypatch.setattr(extended, "FEW_ROWS", 0)
    found = extended.solved(problem)
    assert_allclose(found.norms[:, None] * found.coef, found.norms[:, None] * exact, atol=1e-15 * found.size)


def test_the_reference_of_least_norm(rng):
    X, y, start = rng.normal(size=(5, 9)), rng.normal(size=(5, 1)), rng.normal(size=(9, 1))
    found = extended.solved(extended.Problem(X, y, np.ones(5), True, np.zeros(9), start))
    A, b = X - X.mean(axis=0), y - y.mean()
    assert_allclose(found.coef, start + np.linalg.pinv(A, rcond=1e-10) @ (b - A @ start), rtol=1e-9)
