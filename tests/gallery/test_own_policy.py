"""The page about an own policy: the expected error of EWC from its definition."""

import numpy as np
import pytest
from gallery_page import page_of


@pytest.fixture(scope="module")
def policy():
    return page_of("own_policy")


def test_the_expected_error_by_its_definition(policy):
    """ŵ_t − w = (XᵀX/n + H)⁻¹(H(ŵ_{t−1} − w) + Xᵀε/n): mean and covariance step by step."""
    bias, covariance, squares = -policy["true_coef"], np.zeros((20, 20)), np.zeros(20)
    for task, X in enumerate(policy["designs"]):
        weight, n = np.diag(squares / len(X)), len(X)
        solve = np.linalg.inv(X.T @ X / n + weight)
        bias = solve @ weight @ bias
        covariance = solve @ (weight @ covariance @ weight + X.T @ X / n**2) @ solve
        squares = squares + np.square(X).sum(axis=0)
        assert policy["exact"]["diagonal EWC"][task] == pytest.approx(bias @ bias + np.trace(covariance))
    gaps = (policy["mean"] - policy["exact"]["diagonal EWC"]) / policy["spread"]
    assert np.abs(gaps).max() < 4.0  # standard errors


def test_generalized_ridge_is_least_squares_on_all_rows(policy):
    total = np.zeros((20, 20))
    for task, X in enumerate(policy["designs"]):
        total += X.T @ X
        assert policy["exact"]["generalized ridge"][task] == pytest.approx(np.trace(np.linalg.inv(total)))
    ratio = policy["exact"]["diagonal EWC"][-1] / policy["exact"]["generalized ridge"][-1]
    assert policy.says("is {:.1f} times that of generalized ridge", ratio)
    found = policy["found"]
    np.testing.assert_allclose(found.of("gr:diagonal"), found.of("DiagonalEwc()"), rtol=1e-8)
