"""How large a difference is, what to do about it, and tasks that were absorbed already."""

import numpy as np
import pytest
from scipy import stats
from states import learned

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.errors import InvalidParameterError, RemovalError
from ridgeway.retrospect import _compare
from ridgeway.retrospect._advice import Grounds
from ridgeway.retrospect._effect import squared_difference
from ridgeway.weights import Accumulated


def rows(rng, n, p=4, weighted=True):
    X = rng.normal(size=(n, p)) * 10.0 ** np.linspace(-1, 1, p) + 3.0
    return X, X @ rng.normal(size=p) + rng.normal(size=n), rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)


def fitted(part, intercept):
    """Return the design, the coefficients, (XᵀWX)⁻¹, σ̂² and the degrees of freedom, from the rows."""
    X, y, weight = part
    design = np.column_stack([np.ones(len(X)), X]) if intercept else X
    inverse = np.linalg.inv((design * weight[:, None]).T @ design)
    coef = inverse @ (design.T @ (weight * y))
    freedom = len(y) - design.shape[1]
    return design, coef, inverse, weight @ (y - design @ coef) ** 2 / freedom, freedom


def near(found, expected, scale):
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9 * scale)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["square_root", "moments"])
def test_sizes_from_the_rows(rng, kind, intercept):
    """Both fits, row by row: nothing is rotated here."""
    past, task = rows(rng, 40), rows(rng, 25)
    ours = retrospect.compare(learned(*past, information=kind, fit_intercept=intercept), *task)
    D, w, A, noise, nu = fitted(past, intercept)
    Z, v, B, task_noise, task_nu = fitted(task, intercept)
    weight, total = task[2], task[2].sum()
    away = Z @ (v - w)
    by_noise = np.einsum("ij,jk,ik->i", Z, noise * A + task_noise * B, Z)
    square = weight @ (away**2 - by_noise) / total
    assert square > 0.0
    near(ours.difference**2, square, square)
    near(ours.relative_difference, np.sqrt(square / task_noise), 1.0)
    spread = np.average((task[1] - np.average(task[1], weights=weight)) ** 2, weights=weight)
    near(ours.standardized_difference, np.sqrt(square / spread), 1.0)
    both = np.linalg.inv(np.linalg.inv(A) + np.linalg.inv(B))
    pooled = both @ (np.linalg.solve(A, w) + np.linalg.solve(B, v))
    gains = [
        (2.0 * one * np.trace((alone - both) @ (X.T * k) @ X) - k @ (X @ (pooled - coef)) ** 2) / k.sum()
        for X, coef, alone, one, k in ((D, w, A, noise, past[2]), (Z, v, B, task_noise, weight))
    ]
    near([ours.prediction_gain_for_past, ours.prediction_gain_for_task], gains, np.abs(gains).max())
    variances = noise * np.diag(A), task_noise * np.diag(B)
    freedom = (variances[0] + variances[1]) ** 2 / (variances[0] ** 2 / nu + variances[1] ** 2 / task_nu)
    margins = stats.t.ppf(1.0 - 0.025 / len(w), freedom) * np.sqrt(variances[0] + variances[1])
    near(ours.coef_differences, v - w, np.abs(v - w).max())
    near(ours.coef_intervals, np.column_stack([v - w - margins, v - w + margins]), np.abs(v - w).max())


def test_units_of_features_do_not_matter(rng):
    """Nor does the reference level: any change of basis leaves sizes, gains for predictions and advice as they are."""
    past, task = rows(rng, 40), rows(rng, 25)
    mix = rng.normal(size=(4, 4)) * 10.0 ** np.arange(4)
    one, two = (retrospect.compare(learned(past[0] @ M, *past[1:]), task[0] @ M, *task[1:]) for M in (np.eye(4), mix))
    names = "difference", "relative_difference", "prediction_gain_for_past", "prediction_gain_for_task"
    np.testing.assert_allclose(*([getattr(found, name) for name in names] for found in (one, two)), rtol=1e-6)
    assert one.recommendation == two.recommendation
    assert abs(one.gain_for_past - two.gain_for_past) > 1e-3 * abs(one.gain_for_past)  # ‖ŵ − w‖² does depend on them


@pytest.mark.parametrize("change", [0.0, 0.4])
@pytest.mark.parametrize("task_noise", [1.0, 3.0])
def test_sizes_are_unbiased(rng, change, task_noise, monkeypatch):
    """The mean square before it is set to 0, and the gains against the risks in closed form."""
    X, Z = rng.normal(size=(30, 3)) + 1.0, 2.0 * rng.normal(size=(15, 3))
    w, v = np.array([1.0, 2.0, 3.0]), np.array([1.0 + change, 2.0 - change, 3.0])
    J, K = X.T @ X, Z.T @ Z
    both = np.linalg.inv(J + K)
    spread = both @ (J + task_noise**2 * K) @ both
    moved = both @ K @ (v - w), both @ J @ (w - v)
    truth = np.array(
        [
            (v - w) @ K @ (v - w) / 15,
            (3.0 - np.trace(spread @ J) - moved[0] @ J @ moved[0]) / 30,
            (3.0 * task_noise**2 - np.trace(spread @ K) - moved[1] @ K @ moved[1]) / 15,
        ]
    )
    squares, gains = [], []

    def recorded(seen, noise):
        squares.append(squared_difference(seen, noise)[0] / 15)
        return squared_difference(seen, noise)

    monkeypatch.setattr(_compare, "squared_difference", recorded)
    for _ in range(400):
        y, u = X @ w + rng.normal(size=30), Z @ v + task_noise * rng.normal(size=15)
        ours = retrospect.compare(GeneralizedRidge(fit_intercept=False).fit(X, y), Z, u)
        assert ours.difference == np.sqrt(max(squares[-1], 0.0))
        gains.append([ours.prediction_gain_for_past, ours.prediction_gain_for_task])
    found = np.column_stack([squares, gains])
    mean, error = found.mean(axis=0), found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(mean - truth) < 4.0 * error).all(), (mean, truth, error)
    by_noise = (np.trace(np.linalg.solve(J, K)) + 3.0 * task_noise**2) / 15
    assert abs(mean[0] + by_noise - truth[0]) > 4.0 * error[0]  # what it would be without the subtraction


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
@pytest.mark.parametrize("n_task", [3, 30])
def test_a_column_that_only_one_side_knows(rng, n_task):
    """A category that is new in the task, and one that the task lacks."""
    past, task = rows(rng, 60, 5), rows(rng, n_task, 5)
    past[0][:, 3] = 0.0
    task[0][:, 4] = 0.0
    past[0][20:, 4] = 0.0
    found = retrospect.compare(learned(*past), *task)
    assert np.isnan(found.coef_differences[[4, 5]]).all()
    assert np.isfinite([found.prediction_gain_for_past, found.prediction_gain_for_task]).all()
    # The new column takes up what it can of the task: the least that the difference may be.
    root = np.sqrt(task[2])
    new = root * task[0][:, 3]
    rest = np.linalg.svd(new[:, None])[0][:, 1:]
    _, w, A, _, _ = fitted((past[0][:, [0, 1, 2, 4]], *past[1:]), True)
    Z = rest.T @ (np.column_stack([np.ones(n_task), task[0][:, [0, 1, 2, 4]]]) * root[:, None])
    fit = Z @ np.linalg.pinv(Z, rcond=1e-10)
    away, u = Z @ w, rest.T @ (root * task[1])
    rank = np.linalg.matrix_rank(Z)
    by_noise = found.noise_variance * np.trace(Z @ A @ Z.T) + found.task_noise_variance * rank
    square = (np.sum((fit @ u - away) ** 2) - by_noise) / task[2].sum()
    np.testing.assert_allclose(found.difference**2, max(square, 0.0), rtol=1e-6)
    assert np.isnan(found.coef_differences[:4]).all() == (n_task == 3)


def advised(rng, n_past, n_task, change, task_noise=1.0, p=4):
    X, Z = rng.normal(size=(n_past, p)), rng.normal(size=(n_task, p))
    model = GeneralizedRidge().fit(X, X.sum(axis=1) + rng.normal(size=n_past))
    return retrospect.compare(model, Z, Z.sum(axis=1) + change * Z[:, 0] + task_noise * rng.normal(size=n_task))


def test_the_advice_at_many_rows():
    """At 300,000 rows every difference is significant: its size decides. Without one, the level of the test is 5 %."""
    rng = np.random.default_rng(0)
    for change, advice, share in ((0.0, "absorb", 0.8), (0.02, "absorb and watch", 1.0), (1.0, "keep apart", 1.0)):
        found = [advised(rng, 300_000, 300_000, change) for _ in range(10 if change == 0.0 else 2)]
        assert [each.advice for each in found].count(advice) >= share * len(found)
        assert all((each.p_value < 1e-6) == (change > 0.0) for each in found)
        assert all(abs(each.difference - change) < 0.01 for each in found)
        assert all(each.recommendation.startswith(f"{each.advice.capitalize()}: ") for each in found)


@pytest.mark.parametrize(
    ("n_past", "n_task", "change", "task_noise", "advice", "share"),
    [
        (2000, 2000, 0.0, 1.0, "absorb", 0.9),
        (2000, 200, 0.0, 3.0, "absorb", 0.9),  # only noisier
        (2000, 2000, 1.0, 1.0, "keep apart", 1.0),
        (2000, 60, 1.0, 1.0, "keep apart", 0.95),
        (2000, 2, 0.5, 1.0, "absorb", 0.7),  # too few rows to tell
        (60, 2000, 1.0, 1.0, "keep apart", 0.95),
    ],
)
def test_the_advice_is_mostly_right(n_past, n_task, change, task_noise, advice, share):
    rng = np.random.default_rng(1)
    given = [advised(rng, n_past, n_task, change, task_noise).advice for _ in range(60)]
    assert given.count(advice) >= share * len(given), given
    if change == 0.0:
        assert "keep apart" not in given


@pytest.mark.parametrize(
    ("n_task", "task_noise"), [(3, 3.0), (4, 1.5), (4, 3.0), (4, 10.0), (5, 3.0), (6, 3.0), (7, 10.0)]
)
def test_a_task_of_few_rows_that_is_only_noisier_is_not_kept_apart(n_task, task_noise):
    """3 features and an intercept: up to 4 rows say nothing about their noise, 5 to 7 rows little."""
    rng = np.random.default_rng(3)
    given = [advised(rng, 60, n_task, 0.0, task_noise, p=3).advice for _ in range(150)]
    assert "keep apart" not in given


@pytest.mark.parametrize(("n_past", "n_task"), [(60, 4), (4, 60)])
def test_equal_noise_that_is_only_assumed_keeps_nothing_apart(rng, n_past, n_task):
    """Whoever knows that the noise is equal says so, and gets the whole of Chow's test."""
    X, Z = rng.normal(size=(n_past, 3)), rng.normal(size=(n_task, 3))
    model = GeneralizedRidge().fit(X, X.sum(axis=1) + rng.normal(size=n_past))
    y = Z.sum(axis=1) + 50.0 * Z[:, 0] + 30.0 + rng.normal(size=n_task)
    found = retrospect.compare(model, Z, y)
    assert found.p_value < 1e-3
    assert found.advice == "absorb and watch"
    assert found.recommendation.endswith("Perhaps only the noise differs: too few rows to tell.")
    known = retrospect.compare(model, Z, y, equal_noise=True)
    assert (known.p_value, known.advice) == (found.p_value, "keep apart")
    assert "Perhaps" not in known.recommendation


@pytest.mark.parametrize(
    ("grounds", "advice", "words"),
    [
        ((0.3, False, 5.0, 2.0, -1.0, -1.0), "absorb", "no difference between past and task was found (p = 0.3)."),
        ((0.0, False, 5.0, 0.09, 1.0, 1.0), "absorb", "differs by only 5 (0.09 times"),
        (
            (0.0, False, 5.0, 0.09, 1.0, -1.0),
            "absorb and watch",
            "slightly better for the past and worse for the task.",
        ),
        ((0.0, False, 5.0, 0.31, -1.0, 1.0), "absorb and watch", "worse for the past and better for the task."),
        ((0.01, False, 5.0, 0.31, -1.0, -1.0), "absorb and watch", "the relation seems to differ by 5 (0.31 times"),
        ((0.0, False, 12.3, 0.31, -1.0, -1.0), "keep apart", "by 12.3 (0.31 times the noise standard deviation), and"),
        ((0.0, False, 5.0, np.inf, -1.0, -1.0), "keep apart", "differs by 5 (without noise)"),
        ((0.0, False, 0.0, 0.0, -1.0, -1.0), "keep apart", "differs by an amount that cannot be told"),
        (
            (0.0, False, 12.3, 4.1, -1.0, -1.0, True),
            "absorb and watch",
            "seems to differ by 12.3 (4.1 times the noise standard deviation), and absorbing is expected to make "
            "predictions worse, both for past tasks and for this one. "
            "Perhaps only the noise differs: too few rows to tell.",
        ),
        (
            (0.3, False, 5.0, 2.0, -1.0, -1.0, True),
            "absorb",
            "no difference between past and task was found (p = 0.3).",
        ),
        ((0.0, True, 1e-9, 3.0, -1.0, -1.0), "absorb", "no more than rounding"),
        ((np.nan, True, 0.0, 0.0, 0.0, 0.0), "absorb", "fits all rows of past and task exactly"),
    ],
)
def test_the_rule(grounds, advice, words):
    found = Grounds(*grounds)
    assert found.advice == advice
    assert words in found.sentence(absorbed=False)
    for absorbed, lead in ((False, advice), (True, {"k": "Remove it", "a": "Leave it in"}[advice[0]])):
        assert found.sentence(absorbed).startswith(lead.capitalize())


def test_rounding_is_not_a_difference(rng):
    X = rng.normal(size=(500, 4)) + 100.0
    y = X @ np.ones(4)
    for kind in ("square_root", "moments"):
        found = retrospect.compare(GeneralizedRidge(information=kind).fit(X[:300], y[:300]), X[300:], y[300:])
        assert found.advice == "absorb"


def test_a_constant_task_that_the_past_expects_exactly_does_not_differ():
    x = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    found = retrospect.compare(GeneralizedRidge().fit(x, [1.0, 1.0, -1.0, -1.0]), x, np.zeros(4))
    assert found.recommendation == "Absorb: past and task differ by no more than rounding."


def test_several_targets_have_a_sentence_each_and_the_most_careful_advice(rng):
    X, Z = rng.normal(size=(200, 2)), rng.normal(size=(100, 2))
    Y, U = rng.normal(size=(200, 3)), rng.normal(size=(100, 3)) + 2.0 * np.eye(3)[1]
    both = retrospect.compare(GeneralizedRidge().fit(X, Y), Z, U)
    alone = [retrospect.compare(GeneralizedRidge().fit(X, Y[:, k]), Z, U[:, k]) for k in range(3)]
    assert both.recommendation.splitlines() == [found.recommendation for found in alone]
    assert [found.advice for found in alone] == ["absorb", "keep apart", "absorb"]
    assert both.advice == "keep apart"
    for name in ("difference", "prediction_gain_for_task", "coef_differences", "coef_intervals"):
        np.testing.assert_allclose(
            getattr(both, name), [getattr(found, name) for found in alone], rtol=1e-6, atol=1e-12
        )


@pytest.mark.parametrize("weight_kind", ["precision", "frequency"])
def test_an_absorbed_task_is_compared_with_what_remains(rng, weight_kind):
    past, task = rows(rng, 40), rows(rng, 25)
    weights = [np.ceil(part[2]) for part in (past, task)]
    model = GeneralizedRidge(weight_kind=weight_kind).partial_fit(*past[:2], weights[0])
    before = retrospect.compare(model, *task[:2], weights[1])
    model = model.partial_fit(*task[:2], weights[1])
    after = retrospect.compare(model, *task[:2], weights[1], absorbed=True)
    assert (before.absorbed, after.absorbed) == (False, True)
    for name in ("f", "difference", "prediction_gain_for_past", "gain_for_task", "coef_differences"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), rtol=1e-6)
    assert after.recommendation.startswith("Remove it and keep it apart: ")
    assert after.recommendation.endswith("Compared with what remains without it.")
    with_itself = retrospect.compare(model, *task[:2], weights[1])
    assert with_itself.difference < 0.9 * after.difference
    assert model.n_tasks_ == 2


def test_an_absorbed_task_that_cannot_be_removed(rng):
    X, y, _ = rows(rng, 40)
    for model, words in (
        (GeneralizedRidge().fit(X, y), "nothing would remain"),
        (GeneralizedRidge(Accumulated(decay=0.5)).fit(X, y), "does not keep the whole past"),
    ):
        with pytest.raises(RemovalError, match=f"absorbed already.*{words}"):
            retrospect.compare(model, X, y, absorbed=True)
    with pytest.raises(InvalidParameterError, match="absorbed"):
        retrospect.compare(model, X, y, absorbed="yes")
