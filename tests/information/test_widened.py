"""Columns that come later: as if they had been there from the start, constant until then."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from ridgeway.data import Task
from ridgeway.errors import InvalidParameterError, RemovalError
from ridgeway.information import Moments, SquareRoot

KINDS = pytest.mark.parametrize("kind", [SquareRoot, Moments])
CONSTANTS = (0.0, 1.0, -2.5, 0.1, 1e6 + 0.1)


@dataclass(frozen=True)
class History:
    """Tasks with their final columns, features first, and the task that each column first came with."""

    tasks: list
    p: int
    since: np.ndarray
    past: np.ndarray
    centered: bool
    ordered: bool
    seed: int

    def task(self, t, columns):
        """Return task t as it was with these columns alone."""
        rows, weight = self.tasks[t]
        X, y = (rows[:, [c for c in columns if (c < self.p) is features]] for features in (True, False))
        return Task.of(X, y, weight)

    def final(self, t):
        return self.task(t, range(len(self.since)))

    def columns_at(self, t, rng):
        """Return the columns that there are at task t, features first, in the order of their names or in any."""
        found = np.flatnonzero(self.since <= t)
        if not self.ordered:
            rng.shuffle(found)
        return sorted(found.tolist(), key=lambda c: c >= self.p)


@st.composite
def histories(draw, *, most_tasks=4, full_rank=False):
    """Draw a history: late columns, weights, deficient ranks, with and without an intercept."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    p, k, n_tasks = draw(st.integers(1, 5)), draw(st.integers(1, 3)), draw(st.integers(2, most_tasks))
    centered = draw(st.booleans())
    since = rng.integers(0, n_tasks + 1, p + k)  # n_tasks: after the last
    since[[rng.integers(p), p + rng.integers(k)]] = 0
    constants = CONSTANTS[:4] if full_rank else CONSTANTS  # a removal of the large one would cost all digits
    past = rng.choice(constants, p + k) if centered else np.zeros(p + k)
    rank = p if full_rank else draw(st.integers(1, p))
    mix = rng.normal(size=(rank, p)) if rank < p else np.eye(p)
    weighted, tasks = draw(st.booleans()), []
    for t in range(n_tasks):
        n = int(rng.integers(p + 2, p + 8)) if full_rank else int(rng.integers(1, 8))
        rows = np.hstack([rng.normal(size=(n, rank)) @ mix + 3.0, rng.normal(size=(n, k))])
        tasks.append((np.where(since > t, past, rows), rng.uniform(0.2, 3.0, n) if weighted else None))
    return History(tasks, p, since, past, centered, draw(st.booleans()), seed)


def widened_to(information, history, old, new):
    """Widen information from some columns to others."""
    parts = [
        [c for c in columns if (c < history.p) is features] for features in (True, False) for columns in (old, new)
    ]
    features, targets = (
        np.array([before.index(c) if c in before else -1 for c in after], dtype=np.intp)
        for before, after in (parts[:2], parts[2:])
    )
    return information.widened(features, targets, history.past[list(new)])


def learned(kind, history, tasks, rng, decay=1.0):
    """Learn tasks with the columns that there were, and give the result the final columns."""
    columns = history.columns_at(tasks[0], rng)
    p = sum(c < history.p for c in columns)
    information = kind.empty(p, len(columns) - p, centered=history.centered)
    for t in tasks:
        now = history.columns_at(t, rng)
        information = widened_to(information, history, columns, now).scaled(decay).add(history.task(t, now))
        columns = now
    return widened_to(information, history, columns, range(len(history.since)))


def exact(history, tasks, decay=1.0):
    """Return means and co-moments of the pooled rows with their final columns, in rational arithmetic."""
    rows, weights = [], []
    for age, t in enumerate(reversed(tasks)):
        A, w = history.tasks[t]
        rows += [[Fraction(value) for value in row] for row in A.tolist()]
        weights += [
            Fraction(decay) ** age * Fraction(value) for value in (np.ones(len(A)) if w is None else w).tolist()
        ]
    A, w = np.array(rows, dtype=object), np.array(weights, dtype=object)
    mean = (w @ A) / w.sum() if history.centered else np.array([Fraction(0)] * A.shape[1], dtype=object)
    return mean, (w[:, None] * (A - mean)).T @ (A - mean)


def assert_exact(information, mean, moments, digits=1e-13):
    """The same up to the rounding of the columns' squares."""
    away = [
        Fraction(h) + Fraction(low) - m for h, low, m in zip(information.mean, information.mean_low, mean, strict=True)
    ]
    roots, scale = np.sqrt(information.peak), np.abs(mean.astype(float))
    spread = roots / np.sqrt(information.total_weight)
    assert (np.abs(np.array(away, dtype=float)) <= 1e-28 * scale + 0.01 * digits * spread).all()
    found = np.abs(information.moments() - moments.astype(float))
    assert (found <= digits * np.outer(roots, roots) + 1e-30 * np.outer(scale, scale)).all()


@KINDS
@settings(max_examples=60)
@given(history=histories(), decay=st.sampled_from([1.0, 0.75]))
def test_widened_is_learned_with_the_final_columns(kind, history, decay):
    tasks = range(len(history.tasks))
    information = learned(kind, history, tasks, np.random.default_rng(history.seed), decay)
    assert_exact(information, *exact(history, tasks, decay))
    at_once = kind.empty(history.p, len(history.since) - history.p, centered=history.centered)
    for t in tasks:
        at_once = at_once.scaled(decay).add(history.final(t))
    assert information.n_samples == at_once.n_samples
    assert information.total_weight == at_once.total_weight
    assert information.log_weight == at_once.log_weight
    prior, start = np.zeros(history.p), np.zeros((history.p, len(history.since) - history.p))
    found, expected = (i.solve(prior, start) for i in (information, at_once))
    assert found.rank == expected.rank
    X = np.vstack([rows[:, : history.p] for rows, _ in history.tasks])
    fitted = [
        X @ solution.coef + i.intercept(solution.coef) for solution, i in ((found, information), (expected, at_once))
    ]
    if max(found.growth, expected.growth) < 1e4:
        assert_allclose(*fitted, rtol=1e-8, atol=1e-8 * np.abs(fitted[1]).max())


@KINDS
@settings(max_examples=40)
@given(history=histories(most_tasks=3))
def test_merged_after_widening_in_different_orders(kind, history):
    rng = np.random.default_rng(history.seed)
    halves = [learned(kind, history, tasks, rng) for tasks in ([0], range(1, len(history.tasks)))]
    for one, two in (halves, halves[::-1]):
        assert_exact(one.merge(two), *exact(history, range(len(history.tasks))))


@KINDS
@settings(max_examples=40)
@given(history=histories(full_rank=True))
def test_tasks_are_removed_after_widening(kind, history):
    """Full rank is asked for only among the columns that vary; in the first task late ones are constant."""
    tasks = range(len(history.tasks))
    information = learned(kind, history, tasks, np.random.default_rng(history.seed))
    assert_exact(information.remove(history.final(0)), *exact(history, tasks[1:]), digits=1e-11)
    last = history.final(tasks[-1])
    assert_exact(information.add(last).remove(last), *exact(history, tasks), digits=1e-11)


@KINDS
@pytest.mark.parametrize("value", CONSTANTS)
def test_a_column_that_never_varied_does_not_block_a_removal(kind, value, rng):
    """It stays exactly constant, and the others are as without it."""
    X, y, weight = rng.normal(size=(60, 3)) + 2.0, rng.normal(size=(60, 1)), rng.uniform(0.5, 2.0, 60)
    wide, both = np.insert(X, 1, value, axis=1), np.column_stack([y, np.full(60, value)])
    parts = [slice(0, 20), slice(20, 40), slice(40, 60)]
    narrow = kind.empty(3, 1, centered=True)
    for part in parts[1:]:
        narrow = narrow.add(Task.of(X[part], y[part], weight[part]))
    known = kind.empty(4, 2, centered=True)
    for part in parts:
        known = known.add(Task.of(wide[part], both[part], weight[part]))
    rest = known.remove(Task.of(wide[parts[0]], both[parts[0]], weight[parts[0]]))
    varies = [0, 2, 3, 4]
    assert_allclose(rest.moments()[np.ix_(varies, varies)], narrow.moments(), rtol=1e-12, atol=1e-12)
    assert not rest.moments()[[1, 5]].any()
    assert not rest.peak[[1, 5]].any()
    assert_array_equal(rest.mean[[1, 5]], value)
    assert rest.digits_lost < 1.0
    from_sparse = known.remove(Task.of(sparse.csr_array(wide[parts[0]]), both[parts[0]], weight[parts[0]]))
    assert_allclose(from_sparse.moments(), rest.moments(), rtol=1e-12, atol=1e-12)
    other = Task.of(wide[parts[0]] + [0.0, 1.0, 0.0, 0.0], both[parts[0]], weight[parts[0]])
    with pytest.raises(RemovalError, match="never learned"):
        known.remove(other)
    constant = kind.empty(1, 1, centered=True).add(Task.of(wide[:, [1]], y))
    with pytest.raises(RemovalError, match="full rank"):
        constant.remove(Task.of(wide[:20, [1]], y[:20]))


@KINDS
@pytest.mark.parametrize("centered", [False, True])
def test_columns_that_keep_their_order_keep_their_bits(kind, centered, rng):
    task = Task.of(rng.normal(size=(20, 3)) + 5.0, rng.normal(size=(20, 1)))
    information = kind.empty(3, 1, centered=centered).add(task)
    information = replace(information, mean=np.where(information.mean == 0.0, -0.0, information.mean))
    past = np.array([0.0, 7.0, 0.0, 0.0, 0.0, 0.5]) * centered
    wide = information.widened(np.array([0, -1, 1, 2]), np.array([0, -1]), past)
    kept, new = [0, 2, 3, 4], [1, 5]
    for name in ("mean", "mean_low", "peak"):
        assert getattr(wide, name)[kept].tobytes() == getattr(information, name).tobytes()
    assert wide.matrix[np.ix_(kept, kept)].tobytes() == information.matrix.tobytes("C")
    assert not np.tril(wide.matrix, -1).any()
    assert not wide.matrix[:, new].any()
    assert not wide.matrix[new].any()
    assert not wide.peak[new].any()
    assert not wide.mean_low[new].any()
    assert_array_equal(wide.mean[new], past[new])
    assert kind.from_parts(*wide.to_parts()).matrix.tobytes() == wide.matrix.tobytes()
    nothing = kind.empty(3, 1, centered=centered).widened(
        np.array([2, 0, 1, -1]), np.array([0]), np.append(past[:4], 0)
    )
    assert not nothing.mean.any()
    kind.from_parts(*nothing.to_parts())


@KINDS
def test_a_wrong_past_value_is_noticed(kind, rng):
    """The negative control of the comparisons above."""
    rows = np.hstack([rng.normal(size=(6, 2)), rng.normal(size=(6, 1))])
    tasks = [(np.where([False, True, False], 1.0, rows), None), (rows, None)]
    history = History(tasks, 2, np.array([0, 1, 0]), np.array([0.0, 2.0, 0.0]), True, True, 0)
    with pytest.raises(AssertionError):
        assert_exact(learned(kind, history, [0, 1], rng), *exact(history, [0, 1]))


def places(*numbers):
    return np.array(numbers, dtype=np.intp)


@pytest.mark.parametrize(
    ("centered", "features", "targets", "past", "message"),
    [
        (True, places(0, -1), places(0), [0.0] * 3, "each of the 2 features must keep one place"),
        (True, places(0, 1, 1), places(0), [0.0] * 4, "each of the 2 features must keep one place"),
        (True, places(0, 1, -2), places(0), [0.0] * 4, "each of the 2 features must keep one place"),
        (True, places(0, 1), places(-1), [0.0] * 3, "each of the 1 targets must keep one place"),
        (True, places(0, 1, -1), places(0), [0.0] * 3, "expected 4 past values, one per column; got 3"),
        (
            True,
            places(0, 1, -1),
            places(0),
            [0.0, 0.0, np.nan, 0.0],
            "finite number of at most 1e\\+150; got \\[nan\\]",
        ),
        (True, places(0, 1, -1), places(0), [0.0, 0.0, 1e151, 0.0], "finite number of at most 1e\\+150"),
        (False, places(0, 1, -1), places(0), [0.0, 0.0, 3.0, 0.0], "without an intercept .* got 3. Subtract"),
        (False, places(0, 1), places(0, -1), [0.0, 0.0, 0.0, 2.0], "without an intercept .* got 2. Subtract"),
    ],
)
def test_what_cannot_be_widened(centered, features, targets, past, message):
    with pytest.raises(InvalidParameterError, match=message):
        SquareRoot.empty(2, 1, centered=centered).widened(features, targets, np.array(past))
    ignored = np.array([np.inf, 5.0, 0.0])  # what old columns were does not matter
    SquareRoot.empty(2, 1, centered=False).widened(places(1, 0), places(0), ignored)
