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
from ridgeway.retrospect._no_change import CommonNoise
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

    def noise(self, block=1):
        """Return the covariance of the noise within blocks of tasks, and its degrees of freedom."""
        n = len(self.tasks)
        fits = [self.fit(first, min(first + block, n) - 1) for first in range(0, n, block)]
        freedom = sum(freedom for _, freedom in fits)
        return sum(products for products, _ in fits) / max(freedom, 1), freedom

    def block(self):
        """Return the smallest block with ten degrees of freedom, or all tasks."""
        enough = (b for b in range(1, len(self.tasks) + 1) if self.noise(b)[1] >= 10)
        return next(enough, len(self.tasks))

    def cost(self, firsts, noise):
        """Return Σ RSS/σ² of the partition into segments with these first tasks."""
        ends = [*firsts[1:], len(self.tasks)]
        inverse = np.linalg.inv(noise)
        return sum(np.trace(inverse @ self.fit(a, b - 1)[0]) for a, b in zip(firsts, ends, strict=True))

    def partitions(self):
        n = len(self.tasks)
        for size in range(n):
            for changes in combinations(range(1, n), size):
                yield [0, *changes]

    def least(self, penalty, noise):
        return min(self.cost(firsts, noise) + penalty * (len(firsts) - 1) for firsts in self.partitions())


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
    sizes = draw(st.sampled_from([(1, 3), (2, 6), (6, 9)]))
    flags = {name: draw(st.booleans()) for name in ("weighted", "constant", "fit_intercept")}
    jump = draw(st.sampled_from([0.0, 0.5, 2.0]))
    return drawn_rows(rng, draw(st.integers(8, 10)), p, sizes, jump=jump, **flags)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=25)
@given(rows=sequences(), penalty=st.sampled_from([0.0, 1.0, 4.0, 12.0]))
def test_the_dynamic_programme_is_brute_force(kind, rows, penalty):
    block = rows.block()
    noise, freedom = rows.noise(block)
    if freedom < 1:
        return
    found = retrospect.segments(rows.model(kind), penalty=penalty)
    assert found.noise_degrees_of_freedom == freedom
    assert ("too small" in found.assumption) == (block > 1)
    value = rows.cost(starts(found), noise) + penalty * len(found.changes)
    np.testing.assert_allclose(value, rows.least(penalty, noise), rtol=1e-8, atol=1e-8)
    firsts = starts(found)
    for j, gain in enumerate(found.gains, 1):
        fewer = firsts[:j] + firsts[j + 1 :]
        np.testing.assert_allclose(gain, rows.cost(fewer, noise) - rows.cost(firsts, noise), rtol=1e-6, atol=1e-8)
    singles = [rows.cost([0], noise) - rows.cost([0, j], noise) for j in range(1, len(rows.tasks))]
    np.testing.assert_allclose(singles[int(found.best_single) - 1], max(singles), rtol=1e-8, atol=1e-8)


def test_twelve_tasks_and_a_programme_that_forgets_the_penalty(rng):
    rows = drawn_rows(rng, 12, 2, (8, 12), jump=1.0)
    noise, _ = rows.noise()
    found = retrospect.segments(rows.model(), penalty=6.0)
    least = rows.least(6.0, noise)
    np.testing.assert_allclose(rows.cost(starts(found), noise) + 6.0 * len(found.changes), least, rtol=1e-9)
    costs = search(CommonNoise.of(reduced_tasks(rows.model(), None, "")), blocks=True).costs
    forgetful = best_partition(costs, np.zeros(1)).firsts(0)
    assert rows.cost(forgetful, noise) + 6.0 * (len(forgetful) - 1) > least + 1.0


@given(seed=st.integers(0, 10_000), n=st.integers(2, 8))
def test_the_critical_penalty_is_the_largest_gain_per_change(seed, n):
    """Over all partitions, for several draws at a time; one change alone is not enough."""
    rng = np.random.default_rng(seed)
    table = rng.exponential(size=(n, n, 5)) * np.abs(np.subtract.outer(np.arange(n), np.arange(n)))[..., None]
    costs = SegmentCosts([table[: e + 1, e] for e in range(n)], [])
    gains = []
    for size in range(1, n):
        for changes in combinations(range(1, n), size):
            firsts = [0, *changes]
            value = sum(table[a, b - 1] for a, b in zip(firsts, [*changes, n], strict=True))
            gains.append((table[0, n - 1] - value) / size)
    np.testing.assert_allclose(critical_penalties(costs), np.max(gains, axis=0), rtol=1e-9)


def test_one_change_alone_is_not_the_critical_penalty():
    """Task 2 of 3 differs: one change gains little, two gain 10."""
    costs = SegmentCosts([np.zeros((1, 1)), np.array([[9.0], [0.0]]), np.array([[10.0], [9.0], [0.0]])], [])
    assert costs.single().max() == 1.0
    assert critical_penalties(costs).tolist() == [5.0]
    assert best_partition(costs, np.array([5.1])).firsts(0) == [0]
    assert best_partition(costs, np.array([4.9])).firsts(0) == [0, 1, 2]


@pytest.mark.parametrize(("sizes", "block"), [((4, 6), 1), ((2, 3), 3)])
def test_draws_are_distributed_as_noise_on_the_rows(rng, sizes, block):
    """The largest gain of a single change, with noise drawn on the rows and drawn from the state."""
    rows = drawn_rows(rng, 8, 1, sizes)
    assert rows.block() == block
    found = search(CommonNoise.of(reduced_tasks(rows.model(), None, "")), blocks=True)
    assert found.block == block
    expected = []
    for _ in range(400):
        again = Rows([(X, 5.0 + 3.0 * X[:, 0] + 0.1 * rng.normal(size=len(X)), w) for X, _, w in rows.tasks])
        noise, _ = again.noise(block)
        expected.append(again.cost([0], noise) - min(again.cost([0, j], noise) for j in range(1, 8)))
    assert ks_2samp(found.singles, expected).pvalue > 0.01
    fixed = np.asarray(expected) * 1.25  # the control
    assert ks_2samp(found.singles, fixed).pvalue < 0.01


def alarms(rng, n_sequences, rate, deviations, **more):
    """Return how often a sequence without change is divided."""
    design = [rng.normal(size=(6, 1)) for _ in deviations]
    hits = 0
    for _ in range(n_sequences):
        tasks = [(X, X[:, 0] + s * rng.normal(size=6), np.ones(6)) for X, s in zip(design, deviations, strict=True)]
        hits += bool(retrospect.segments(Rows(tasks).model(), false_alarms=rate, **more).changes)
    return hits / n_sequences


def test_false_alarms_are_as_stated(rng):
    """Within three standard errors of a proportion; noise that differs by task is the control."""
    assert abs(alarms(rng, 200, 0.2, np.full(8, 2.0)) - 0.2) < 3 * np.sqrt(0.2 * 0.8 / 200)
    uneven = np.r_[np.ones(7), 8.0]
    assert alarms(rng, 60, 0.2, uneven) > 0.4
    assert alarms(rng, 100, 0.2, uneven, noise="by_task") < 0.2 + 3 * np.sqrt(0.2 * 0.8 / 100)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("noise", ["common", "by_task"])
@pytest.mark.parametrize("penalty", ["calibrated", "bic"])
def test_planted_changes_are_found(rng, kind, noise, penalty):
    frames = [pd.DataFrame(rng.normal(size=(25, 2)) + 1.0, columns=["a", "b"]) for _ in range(15)]
    model = GeneralizedRidge(information=kind)
    for j, X in enumerate(frames):
        slope = 1.0 if 5 <= j < 11 else -1.0
        model.partial_fit(X, slope * X["a"] + X["b"] + rng.normal(size=25), task=f"t{j:02d}")
    found = retrospect.segments(model, penalty=penalty, noise=noise)
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
    if noise == "common":
        part = retrospect.summary(retrospect.reweighted(model, dict.fromkeys(sum(found.segments[1:], ()), 0.0)))
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


def test_a_task_in_another_unit_of_noise_is_the_same_task_with_noise_by_task(rng):
    rows = drawn_rows(rng, 7, 2, (8, 12), jump=1.0)
    other = Rows([(X, y, np.full(len(y), 4.0**j)) for j, (X, y, _) in enumerate(rows.tasks)])
    one, two = (retrospect.segments(each.model(), noise="by_task") for each in (rows, other))
    np.testing.assert_allclose(one.penalty, two.penalty, rtol=1e-8)
    np.testing.assert_allclose(one.gains, two.gains, rtol=1e-8)
    np.testing.assert_allclose(one.coef, two.coef, rtol=1e-8)
    assert one.p_value == two.p_value
    assert "approximate" in one.assumption
    assert abs(retrospect.segments(rows.model()).penalty - retrospect.segments(other.model()).penalty) > 1e-6


def test_large_offsets_and_coefficients_cost_few_digits(rng):
    rows = drawn_rows(rng, 8, 2, (8, 12), jump=1.0)
    far = Rows([(1e-3 * X + 2.0**10, 1e3 * y + 1e6 * X[:, 0] + 2.0**20, w) for X, y, w in rows.tasks])
    one, two = (retrospect.segments(each.model()) for each in (rows, far))
    assert one.changes == two.changes
    np.testing.assert_allclose(one.gains, two.gains, rtol=1e-6)
    np.testing.assert_allclose(one.penalty, two.penalty, rtol=1e-6)


def test_several_targets_change_together(rng):
    """The answer does not depend on which combinations of the targets are looked at, and is that of the rows."""
    rows = drawn_rows(rng, 8, 1, (8, 12), jump=1.5, targets=(2,))
    mixed = Rows([(X, y @ [[1.0, 5.0], [0.0, 1.0]], w) for X, y, w in rows.tasks])
    one, two = (retrospect.segments(each.model()) for each in (rows, mixed))
    assert one.changes == two.changes == ("4",)
    np.testing.assert_allclose(one.gains, two.gains, rtol=1e-8)
    np.testing.assert_allclose(one.penalty, two.penalty, rtol=1e-8)
    assert one.p_value == two.p_value
    noise, freedom = rows.noise()
    assert one.noise_degrees_of_freedom == freedom
    np.testing.assert_allclose(one.gains, [rows.cost([0], noise) - rows.cost([0, 4], noise)], rtol=1e-9)
    assert one.coef.shape == (2, 2, 2)
    assert "target 1" in str(one)
    assert one.to_frame().loc[(1, "4", "x0"), "coef"] == one.coef[1, 1, 1]


def test_draws_of_several_targets_are_distributed_as_noise_on_the_rows(rng):
    rows = drawn_rows(rng, 6, 1, (4, 5), targets=(2,))
    found = search(CommonNoise.of(reduced_tasks(rows.model(), None, "")), blocks=True)
    expected = []
    for _ in range(400):
        again = Rows([(X, rng.normal(size=(len(X), 2)) @ [[1.0, 3.0], [0.0, 1.0]], w) for X, _, w in rows.tasks])
        noise, _ = again.noise()
        expected.append(again.cost([0], noise) - min(again.cost([0, j], noise) for j in range(1, 6)))
    assert ks_2samp(found.singles, expected).pvalue > 0.01
    assert ks_2samp(found.singles, np.asarray(expected) * 1.25).pvalue < 0.01


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
        ({"noise": "own"}, InvalidParameterError, "common, by_task"),
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
    with pytest.raises(InferenceError, match="no degrees of freedom"):
        retrospect.segments(drawn_rows(rng, 3, 4, (1, 2)).model())
    with pytest.raises(InferenceError, match="too few in '0', '1'"):
        retrospect.segments(drawn_rows(rng, 12, 1, (2, 3)).model(), noise="by_task")
    with pytest.raises(InferenceError, match="takes one target"):
        retrospect.segments(drawn_rows(rng, 4, 1, (6, 8), targets=(2,)).model(), noise="by_task")
    with pytest.raises(InferenceError, match="2 targets need at least 2"):
        retrospect.segments(drawn_rows(rng, 9, 1, (2, 3), targets=(2,)).model())


@pytest.mark.parametrize("noise", ["common", "by_task"])
@pytest.mark.parametrize("targets", [1, 2])
def test_rows_without_noise(rng, noise, targets):
    """Rounding is not noise; a target that follows from another has no noise of its own either."""
    tasks = []
    for _ in range(5):
        X = rng.normal(size=(9, 2)) + 1e3
        y = X.sum(axis=1) if targets == 1 else np.column_stack([rng.normal(size=9)] * 2) * [1.0, 3.0]
        tasks.append((X, y, np.ones(9)))
    if targets == 2 and noise == "by_task":
        return
    with pytest.raises(InferenceError, match="without noise"):
        retrospect.segments(Rows(tasks).model(), noise=noise)


def test_tasks_of_few_rows_without_noise(rng):
    X = rng.normal(size=(30, 1)) + 1e3
    with pytest.raises(InferenceError, match="without noise"):
        retrospect.segments(GeneralizedRidge(information="by_task").fit(X, X[:, 0], tasks=np.arange(30) // 2))


def test_too_many_tasks_or_terms(rng):
    labels = np.repeat(np.arange(401), 3)
    X, y = rng.normal(size=(len(labels), 1)), rng.normal(size=len(labels))
    with pytest.raises(InvalidParameterError, match=r"T\(T \+ 1\)/2 = 80601 segments.*last="):
        retrospect.segments(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels))
    with pytest.raises(InvalidParameterError, match=r"squared terms \(here 2\.3e\+07\)"):
        retrospect.segments(drawn_rows(rng, 60, 111, (1, 3)).model())
