"""The page about a learned prior: the marginal likelihood of the rows themselves has its maximum there."""

import numpy as np
import pytest
from gallery_page import page_of
from scipy.optimize import minimize_scalar


@pytest.fixture(scope="module")
def prior():
    return page_of("prior_learned")


def minus_log_evidence(log_penalty, X, y):
    """Return −log p(y) under w ~ N(0, σ²/λ), a flat intercept and the best σ², from the n × n covariance of y."""
    n = len(y)
    basis = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))[0][:, 1:]  # contrasts, free of the intercept
    covariance = basis.T @ (np.eye(n) + X @ X.T / np.exp(log_penalty)) @ basis
    contrasts = basis.T @ y
    squares = contrasts @ np.linalg.solve(covariance, contrasts)
    return 0.5 * np.linalg.slogdet(covariance)[1] + 0.5 * (n - 1) * np.log(squares / (n - 1))


def test_the_prior_makes_the_rows_most_probable(prior):
    rows = prior["arriving"]
    X, y = prior["X"][rows], prior["y"][rows]
    best = minimize_scalar(minus_log_evidence, bounds=(0.0, 10.0), args=(X, y), options={"xatol": 1e-6})
    assert prior["found"].prior == pytest.approx(np.exp(best.x), rel=1e-3)
    assert f"learned from 240 patients: {np.exp(best.x):.0f}" in prior.printed


def test_the_errors_are_those_of_ridge_regression_on_the_rows(prior):
    X, y, arriving, test = (prior[name] for name in ("X", "y", "arriving", "test"))
    for n in (12, 60, 240):
        rows = arriving[:n]
        centre = X[rows].mean(axis=0)
        x, level = X[rows] - centre, y[rows].mean()
        best = minimize_scalar(minus_log_evidence, bounds=(0.0, 12.0), args=(X[rows], y[rows]))
        coefs = {
            "least squares": np.linalg.pinv(x, rcond=1e-10) @ (y[rows] - level),
            "learned prior": np.linalg.solve(x.T @ x + np.exp(best.x) * np.eye(64), x.T @ (y[rows] - level)),
        }
        for name, coef in coefs.items():
            error = np.sqrt(np.mean((level + (X[test] - centre) @ coef - y[test]) ** 2))
            assert prior["errors"][name][n // 12 - 1] == pytest.approx(error, rel=1e-3)


def test_what_the_page_says(prior):
    X, errors, mean_only = prior["X"], prior["errors"], prior["y"][prior["test"]].std()
    assert np.linalg.matrix_rank(X) == X.shape[1] == 64
    assert max(errors["learned prior"]) < mean_only < min(errors["least squares"])
    assert prior.says("its error is {:.0f} points", errors["learned prior"][4])
    assert errors["learned prior"][4] < 1.1 * errors["learned prior"][-1]
    assert 36 <= 12 * (1 + int(np.argmax(errors["least squares"]))) <= 84  # "about as many patients as columns"
    assert prior.says("The last {} patients", len(prior["test"]))
