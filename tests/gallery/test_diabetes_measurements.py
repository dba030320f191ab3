"""The page about diabetes: all choices of measurements, and scikit-learn's path, from the rows."""

from itertools import combinations

import numpy as np
import pytest
from gallery_page import page_of
from sklearn.linear_model import LinearRegression, enet_path


@pytest.fixture(scope="module")
def diabetes():
    return page_of("diabetes_measurements")


def test_the_best_choices_are_the_best_of_all(diabetes):
    X, y = diabetes["X"].to_numpy(), diabetes["y"].to_numpy()
    y = y - y.mean()  # the columns have mean 0
    names, tried = [*diabetes["X"].columns], 0
    for size, found in enumerate(diabetes["best"], start=1):
        choices = [*combinations(range(10), size)]
        tried += len(choices)
        explained = [y @ X[:, c] @ np.linalg.solve(X[:, c].T @ X[:, c], X[:, c].T @ y) / (y @ y) for c in choices]
        best = int(np.argmax(explained))
        assert found.features == tuple(names[column] for column in choices[best])
        assert found.r_squared == pytest.approx(explained[best])
    assert tried == 1023
    r_squared = [100.0 * found.r_squared for found in diabetes["best"]]
    assert diabetes.says("explain {:.0f} % of the variance. All ten explain {:.0f} %", r_squared[2], r_squared[-1])
    assert diabetes["best"][2].features == ("bmi", "bp", "s5")


def test_the_lasso_agrees(diabetes):
    X, y, path = diabetes["X"].to_numpy(), diabetes["y"].to_numpy(), diabetes["path"]
    _, coefs, _ = enet_path(X, y - y.mean(), l1_ratio=1.0, alphas=path.penalties, tol=1e-8)
    np.testing.assert_allclose(path.coefs, coefs.T, atol=0.02)
    names = np.array(diabetes["X"].columns)
    entered = np.argsort([np.argmax(column != 0.0) for column in coefs], kind="stable")
    assert set(names[entered[:3]]) == {"bmi", "bp", "s5"}


def test_the_small_model_is_that_of_the_rows(diabetes):
    rows = LinearRegression().fit(diabetes["X"][["bmi", "bp", "s5"]], diabetes["y"])
    np.testing.assert_allclose(diabetes["small"].coef_, rows.coef_, rtol=1e-9)
    assert not np.allclose(diabetes["small"].coef_, diabetes["model"].coef_[[2, 3, 8]], rtol=1e-2)
