"""Segments of tasks: beside brute force over all partitions, on the rows themselves."""

from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from ridgeway import GeneralizedRidge, retrospect, weights
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.information import ByTask, Moments
from ridgeway.retrospect._no_change import OwnNoise
from ridgeway.retrospect._reduced_tasks import reduced_tasks
from ridgeway.retrospect._segment_costs import SegmentCosts, best_partition, critical_penalties
from ridgeway.retrospect._segment_search import search

KINDS = ["by_task", ByTask(Moments)]


class Rows:
    """Tasks with their rows, and what brute force makes of them."""

    def __init__(self, tasks, fit_intercept=True):
        self.tasks, self.fit_intercept = tasks, fit_intercept
        self.fit = cache(self._fit)

    def model(self, kind="by_task", **more):
        model = GeneralizedRidge(information=kind, fit_intercept=self.fit_intercept, **more)
        for j, (X, y, w) in enumerate(self.tasks):
            model.partial_fit(X, y, w, task=j)
        return model

    def _fit(self, first, last):
        """Return residual products and rank of least squares on the rows of the tasks first, …, last."""
        X, y, w = (np.concatenate([task[part] for task in self.tasks[first : last + 1]]) for part in range(3))
        A = np.insert(X, 0, 1.0, axis=1) if self.fit_intercept else X
        root = np.sqrt(w)[:, None]
        y = y.reshape(len(y), -1)
        coef, _, rank, _ = np.linalg.lstsq(root * A, root * y, rcond=1e-9)
        left = root * (y - A @ coef)
        return left.T @ left, len(y) - rank

    def over_noise(self):
        """Return the rows with the precision of their task, as its own fit shows it, and the degrees of freedom."""
        fits = [self.fit(j, j) for j in range(len(self.tasks))]
        tasks = [
            (X, y, w * freedom / squares.item()) for (X, y, w), (squares, freedom) in zip(self.tasks, fits, strict=True)
        ]
        return Rows(tasks, self.fit_intercept), sum(freedom for _, freedom in fits)

    def cost(self, firsts):
        """Return Σ RSS of the partition into segments with these first tasks."""
        ends = [*firsts[1:], len(self.tasks)]
        return sum(self.fit(a, b - 1)[0].item() for a, b in zip(firsts, ends, strict=True))

    def partitions(self):
        n = len(self.tasks)
        for size in range(n):
            for changes in combinations(range(1, n), size):
                yield [0, *changes]

    def least(self, penalty):
        return min(self.cost(firsts) + penalty * (len(firsts) - 1) for firsts in self.partitions())


def starts(found):
    return [0, *(int(name) for name in found.changes)]


def drawn_rows(rng, n_tasks, p, sizes, *, jump=0.0, targets=(), weighted=False, constant=False, fit_intercept=True):
    tasks = []
    place = n_tasks // 2
    for j in range(n_tasks):
        n = int(rng.integers(*sizes))
        X = rng.normal(size=(n, p)) + 2.0
        if constant and j < place:
            X[:, 0] = 1.0
        y = X.sum(axis=1) + jump * (j >= place) * X[:, -1]
        y = y.reshape(-1, *[1 for _ in targets]) + rng.normal(size=(n, *targets))
        tasks.append((X, y, rng.uniform(0.5, 2.0, size=n) if weighted else np.ones(n)))
    return Rows(tasks, fit_intercept)


@st.composite
def sequences(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p = draw(st.integers(1, 3))
    sizes = draw(st.sampled_from([(p + 2, p + 4), (6, 9)]))
    flags = {name: draw(st.booleans()) for name in ("weighted", "constant", "fit_intercept")}
    jump = draw(st.sampled_from([0.0, 0.5, 2.0]))
    return drawn_rows(rng, draw(st.integers(8, 10)), p, sizes, jump=jump, **flags)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=25)
@given(rows=sequences(), penalty=st.sampled_from([0.0, 1.0, 4.0, 12.0]))
def test_the_dynamic_programme_is_brute_force(kind, rows, penalty):
    over_noise, freedom = rows.over_noise()
    found = retrospect.segments(rows.model(kind), penalty=penalty)
    assert found.noise_degrees_of_freedom == freedom
    value = over_noise.cost(starts(found)) + penalty * len(found.changes)
    np.testing.assert_allclose(value, over_noise.least(penalty), rtol=1e-8, atol=1e-8)
    firsts = starts(found)
    for j, gain in enumerate(found.gains, 1):
        fewer = firsts[:j] + firsts[j + 1 :]
        np.testing.assert_allclose(gain, over_noise.cost(fewer) - over_noise.cost(firsts), rtol=1e-6, atol=1e-8)
    singles = [over_noise.cost([0]) - over_noise.cost([0, j]) for j in range(1, len(rows.tasks))]
    np.testing.assert_allclose(singles[int(found.best_single) - 1], max(singles), rtol=1e-8, atol=1e-8)


def test_twelve_tasks_and_a_programme_that_forgets_the_penalty(rng):
    rows = drawn_rows(rng, 12, 2, (8, 12), jump=1.0)
    over_noise, _ = rows.over_noise()
    found = retrospect.segments(rows.model(), penalty=6.0)
    least = over_noise.least(6.0)
    np.testing.assert_allclose(over_noise.cost(starts(found)) + 6.0 * len(found.changes), least, rtol=1e-9)
    costs = search(OwnNoise.of(reduced_tasks(rows.model(), None, ""))).costs
    forgetful = best_partition(costs, np.zeros(1)).firsts(0)
    assert over_noise.cost(forgetful) + 6.0 * (len(forgetful) - 1) > least + 1.0


@given(seed=st.integers(0, 10_000), n=st.integers(2, 8))
def test_the_critical_penalty_is_the_largest_gain_per_change(seed, n):
    """Over all partitions, for several draws at a time; one change alone is not enough."""
    rng = np.random.default_rng(seed)
    table = rng.exponential(size=(n, n, 5)) * np.abs(np.subtract.outer(np.arange(n), np.arange(n)))[..., None]
    costs = SegmentCosts([table[: e + 1, e] for e in range(n)])
    gains = []
    for size in range(1, n):
        for changes in combinations(range(1, n), size):
            firsts = [0, *changes]
            value = sum(table[a, b - 1] for a, b in zip(firsts, [*changes, n], strict=True))
            gains.append((table[0, n - 1] - value) / size)
    np.testing.assert_allclose(critical_penalties(costs), np.max(gains, axis=0), rtol=1e-9)


def test_one_change_alone_is_not_the_critical_penalty():
    """Task 2 of 3 differs: one change gains little, two gain 10."""
    costs = SegmentCosts([np.zeros((1, 1)), np.array([[9.0], [0.0]]), np.array([[10.0], [9.0], [0.0]])])
    assert costs.single().max() == 1.0
    assert critical_penalties(costs).tolist() == [5.0]
    assert best_partition(costs, np.array([5.1])).firsts(0) == [0]
    assert best_partition(costs, np.array([4.9])).firsts(0) == [0, 1, 2]


def test_draws_are_distributed_as_noise_on_the_rows(rng):
    """The largest gain of a single change, with noise drawn on the rows and drawn from the state.

    The variance of a task is drawn given its estimate, to which its rows are divided.
    """
    rows = drawn_rows(rng, 8, 1, (5, 7))
    found = search(OwnNoise.of(reduced_tasks(rows.model(), None, "")))
    over_noise, _ = rows.over_noise()
    expected = []
    for _ in range(400):
        tasks = []
        for (X, _, _), (_, _, precision) in zip(rows.tasks, over_noise.tasks, strict=True):
            freedom = len(X) - 2
            spread = np.sqrt(freedom / rng.chisquare(freedom) / precision)
            tasks.append((X, 5.0 + 3.0 * X[:, 0] + spread * rng.normal(size=len(X)), precision))
        again = Rows(tasks)
        expected.append(again.cost([0]) - min(again.cost([0, j]) for j in range(1, 8)))
    assert ks_2samp(found.singles, expected).pvalue > 0.01
    fixed = np.asarray(expected) * 1.25  # the control
    assert ks_2samp(found.singles, fixed).pvalue < 0.01


def alarms(rng, n_sequences, rate, deviations):
    """Return how often a sequence without change is divided."""
    design = [rng.normal(size=(6, 1)) for _ in deviations]
    hits = 0
    for _ in range(n_sequences):
        tasks = [(X, X[:, 0] + s * rng.normal(size=6), np.ones(6)) for X, s in zip(design, deviations, strict=True)]
        hits += bool(retrospect.segments(Rows(tasks).model(), false_alarms=rate).changes)
    return hits / n_sequences


def test_false_alarms_are_as_stated(rng):
    """Within three standard errors of a proportion, even if one task is noisier; a higher rate is the control."""
    for deviations in (np.full(8, 2.0), np.r_[np.ones(7), 8.0]):
        assert alarms(rng, 150, 0.2, deviations) < 0.2 + 3 * np.sqrt(0.2 * 0.8 / 150)
        assert alarms(rng, 60, 0.6, deviations) > 0.4


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("penalty", ["calibrated", "bic"])
def test_planted_changes_are_found(rng, kind, penalty):
    frames = [pd.DataFrame(rng.normal(size=(25, 2)) + 1.0, columns=["a", "b"]) for _ in range(15)]
    model = GeneralizedRidge(information=kind)
    for j, X in enumerate(frames):
        slope = 1.0 if 5 <= j < 11 else -1.0
        model.partial_fit(X, slope * X["a"] + X["b"] + rng.normal(size=25), task=f"t{j:02d}")
    found = retrospect.segments(model, penalty=penalty)
    assert found.changes == ("t05", "t11")
    assert [segment[0] for segment in found.segments] == ["t00", "t05", "t11"]
    assert sum(found.segments, ()) == model.information_.ids
    assert found.p_value == 1 / 2000
    assert (found.gains > found.penalty).all()
    np.testing.assert_allclose(found.coef[:, 1], [-1.0, 1.0, -1.0], atol=0.4)
    assert found.terms == ("intercept", "a", "b")
    if penalty == "bic":
        np.testing.assert_allclose(found.penalty, 4 * np.log(15 * 25))
        assert found.false_alarms is None
    alone = retrospect.tasks(model)
    precisions = dict(zip(alone.tasks, 1.0 / alone.noise_variance, strict=True))
    part = retrospect.summary(
        retrospect.reweighted(model, precisions | dict.fromkeys(sum(found.segments[1:], ()), 0.0))
    )
    np.testing.assert_allclose(found.coef[0], part.coef, rtol=1e-9)
    np.testing.assert_allclose(found.standard_errors[0], part.standard_errors, rtol=1e-9)
    np.testing.assert_allclose(found.noise_variances[0], part.noise_variance, rtol=1e-9)


def test_the_order_of_time_can_be_given(rng):
    rows = drawn_rows(rng, 9, 1, (8, 12), jump=2.0)
    shuffled = rng.permutation(9)
    model = GeneralizedRidge(information="by_task")
    for j in shuffled:
        model.partial_fit(*rows.tasks[j], task=int(j))
    one, two = retrospect.segments(model, order=range(9)), retrospect.segments(rows.model())
    assert one.changes == two.changes == ("4",)
    np.testing.assert_allclose(one.gains, two.gains, rtol=1e-9)
    np.testing.assert_allclose(one.penalty, two.penalty, rtol=1e-9)
    assert retrospect.segments(model).changes != ("4",)


def test_a_task_in_another_unit_of_noise_is_the_same_task(rng):
    rows = drawn_rows(rng, 7, 2, (8, 12), jump=1.0)
    other = Rows([(X, y, np.full(len(y), 4.0**j)) for j, (X, y, _) in enumerate(rows.tasks)])
    one, two = (retrospect.segments(each.model()) for each in (rows, other))
    np.testing.assert_allclose(one.penalty, two.penalty, rtol=1e-8)
    np.testing.assert_allclose(one.gains, two.gains, rtol=1e-8)
    np.testing.assert_allclose(one.coef, two.coef, rtol=1e-8)
    assert one.p_value == two.p_value
    assert "approximate" in one.assumption
    uneven = Rows([(X, y, np.where(np.arange(len(y)) < 2, 4.0, 1.0)) for X, y, _ in rows.tasks])  # the control
    assert abs(retrospect.segments(uneven.model()).penalty - one.penalty) > 1e-6


def test_large_offsets_and_coefficients_cost_few_digits(rng):
    rows = drawn_rows(rng, 8, 2, (8, 12), jump=1.0)
    far = Rows([(1e-3 * X + 2.0**10, 1e3 * y + 1e6 * X[:, 0] + 2.0**20, w) for X, y, w in rows.tasks])
    one, two = (retrospect.segments(each.model()) for each in (rows, far))
    assert one.changes == two.changes
    np.testing.assert_allclose(one.gains, two.gains, rtol=1e-6)
    np.testing.assert_allclose(one.penalty, two.penalty, rtol=1e-6)


def test_it_prints_and_is_a_frame(rng):
    rows = drawn_rows(rng, 8, 1, (10, 12), jump=3.0)
    found = retrospect.segments(rows.model(), false_alarms=0.1)
    lines = str(found).splitlines()
    assert lines[0] == f"1 change in 8 tasks; a change must gain {found.penalty:.4g} (false alarms: 10 % of sequences)"
    assert lines[4].startswith("0 to 3")
    assert f"{found.gains[0]:.4g}" in lines[5]
    assert found.assumption in lines
    assert "Best single change: before '4', p = 0.0005 (1999 draws)." in lines
    assert "0 to 3" in found._repr_html_()
    frame = found.to_frame()
    assert frame.loc[("4", "x0"), "standard_error"] == found.standard_errors[1, 1]
    assert "calibrated" not in retrospect.segments(rows.model(), penalty=3).__dict__


def test_the_same_answer_every_time(rng):
    model = drawn_rows(rng, 8, 1, (10, 12)).model()
    assert str(retrospect.segments(model)) == str(retrospect.segments(model))


def test_memory_in_pieces_changes_nothing_but_the_draws(rng, monkeypatch):
    model = drawn_rows(rng, 8, 1, (10, 12), jump=3.0).model()
    whole = retrospect.segments(model)
    monkeypatch.setattr("ridgeway.retrospect._no_change.MOST_NUMBERS", 36 * 250)
    pieces = retrospect.segments(model)
    assert pieces.changes == whole.changes
    assert pieces.penalty != whole.penalty
    np.testing.assert_allclose(pieces.penalty, whole.penalty, rtol=0.15)


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"penalty": "aic"}, InvalidParameterError, "'calibrated', 'bic' or a number"),
        ({"penalty": -1.0}, InvalidParameterError, "penalty"),
        ({"penalty": None}, InvalidParameterError, "penalty"),
        ({"false_alarms": 5}, InvalidParameterError, r"0\.05"),
        ({"false_alarms": 1e-5}, InvalidParameterError, r"at least 0\.0005"),
        ({"order": ["0"]}, InvalidParameterError, "leaves out"),
    ],
)
def test_refusals(rng, more, error, message):
    with pytest.raises(error, match=message):
        retrospect.segments(drawn_rows(rng, 4, 1, (6, 8)).model(), **more)


def test_tasks_that_cannot_answer(rng):
    with pytest.raises(InferenceError, match="only one"):
        retrospect.segments(drawn_rows(rng, 1, 1, (6, 8)).model())
    with pytest.raises(InferenceError, match="about least squares"):
        retrospect.segments(drawn_rows(rng, 4, 1, (6, 8)).model(weights=weights.Accumulated(1.0)))
    with pytest.raises(InferenceError, match="too few in '0', '1'"):
        retrospect.segments(drawn_rows(rng, 12, 1, (2, 3)).model())
    with pytest.raises(InferenceError, match="about one target"):
        retrospect.segments(drawn_rows(rng, 4, 1, (6, 8), targets=(2,)).model())


def test_rows_without_noise(rng):
    """Rounding is not noise."""
    tasks = []
    for _ in range(5):
        X = rng.normal(size=(9, 2)) + 1e3
        tasks.append((X, X.sum(axis=1), np.ones(9)))
    with pytest.raises(InferenceError, match="without noise"):
        retrospect.segments(Rows(tasks).model())


def test_too_many_tasks_or_terms(rng):
    labels = np.repeat(np.arange(401), 3)
    X, y = rng.normal(size=(len(labels), 1)), rng.normal(size=len(labels))
    with pytest.raises(InvalidParameterError, match=r"T\(T \+ 1\)/2 = 80601 segments.*last="):
        retrospect.segments(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels))
    with pytest.raises(InvalidParameterError, match=r"squared terms \(here 2\.3e\+07\)"):
        retrospect.segments(drawn_rows(rng, 60, 111, (1, 3)).model())
