"""The page about forgetting on evidence: the same decisions and estimates from the rows themselves."""

import numpy as np
import pytest
import statsmodels.api as sm
from gallery_page import page_of


@pytest.fixture(scope="module")
def page():
    return page_of("forget_on_evidence")


def shifts(seed):
    """Yield the rows, targets and coefficients of each shift of a plant, drawn as the page draws them."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=6)
    for shift in range(24):
        if shift == 12:
            coef[:2] = rng.normal(size=2)
        X = rng.normal(size=(25, 6))
        yield X, X @ coef + rng.normal(size=25), coef


def rejected(past, task):
    """Say whether statsmodels rejects, at 1 in 10,000, that one fit serves the past and the task."""
    (X, y), (A, b) = past, task
    together = sm.OLS(np.r_[y, b], np.vstack([X, A])).fit()
    each = sm.OLS(np.r_[y, b], np.block([[X, np.zeros_like(X)], [np.zeros_like(A), A]])).fit()
    return each.compare_f_test(together)[1] < 1e-4


def plants(page):
    """Return a plant in which the past goes at once, one in which it goes later, and one in which it stays."""
    at_once = page["rows_in_force"][:, 12] == 25
    never = page["rows_in_force"][:, -1] == 600
    return [int(np.flatnonzero(which)[0]) for which in (at_once, ~at_once & ~never, never)]


def test_the_policy_decides_as_the_rows_do(page):
    for seed in plants(page):
        past_X, past_y = np.empty((0, 6)), np.empty(0)
        for shift, (X, y, coef) in enumerate(shifts(seed)):
            if len(past_y) and rejected((past_X, past_y), (X, y)):
                past_X, past_y = past_X[:0], past_y[:0]
            past_X, past_y = np.vstack([past_X, X]), np.append(past_y, y)
            assert page["rows_in_force"][seed, shift] == len(past_y)
            estimate = np.linalg.lstsq(past_X, past_y, rcond=None)[0]
            assert page["errors"][seed, 2, shift] == pytest.approx(np.sum((estimate - coef) ** 2), rel=1e-8)


def test_what_the_page_says(page):
    errors, rows = page["errors"], page["rows_in_force"]
    np.testing.assert_allclose(errors[:, 2, :12], errors[:, 0, :12], rtol=1e-8)
    assert page["false_alarms"] == 0
    assert page["mean"][1, 11] > 2.0 * page["mean"][2, 11]
    assert (page["mean"][2, 12:] < page["mean"][:2, 12:]).all()
    at_once, never = np.sum(rows[:, 12] == 25), np.sum(rows[:, -1] == 600)
    assert page.says(
        "In {} of the 60 plants the past goes at once, in {} a little later, and in {} never",
        at_once,
        60 - at_once - never,
        never,
    )
    late = rows[(rows[:, 12] != 25) & (rows[:, -1] != 600)]
    assert (late[:, 14] <= 50).all()  # one or two shifts later
