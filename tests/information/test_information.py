"""Both kinds hold the same truth, frozen, and say when they cannot."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ridgeway import GeneralizedRidge
from ridgeway.data import LARGEST, check_tasks
from ridgeway.errors import InvalidDataError, InvalidParameterError, InvalidStateError, MergeError, RemovalError
from ridgeway.information import AllRows, ByTask, Moments, SquareRoot, checked_kind

rng = np.random.default_rng(0)
X, Y, W = rng.normal(size=(50, 3)) + 2.0, rng.normal(size=(50, 2)), rng.uniform(0.5, 2.0, 50)


def task(rows=slice(None), weight=W):
    return check_tasks(GeneralizedRidge(), X[rows], Y[rows], None if weight is None else weight[rows], first=True)[0]


def co_moments(A, w, centered):
    A = A - w @ A / w.sum() if centered else A
    return (w[:, None] * A).T @ A


def as_moments(information):
    return information.moments()


@pytest.mark.parametrize("kind", [Moments, SquareRoot])
@pytest.mark.parametrize("p", [4, 140])
def test_a_matrix_is_stored_column_after_column_and_comes_back(kind, p):
    A = rng.normal(size=(200, p + 1))
    (rows,) = check_tasks(GeneralizedRidge(), A[:, :p], A[:, p], first=True)
    information = kind.empty(p, 1, centered=True).add(rows)
    counts, arrays = information.to_parts()
    columns = [np.triu(information.matrix)[: j + 1, j] for j in range(p + 1)]
    assert_array_equal(arrays["matrix"], np.concatenate(columns))
    assert_array_equal(np.triu(kind.from_parts(counts, arrays).matrix), np.triu(information.matrix))


@pytest.mark.parametrize("kind", [Moments, SquareRoot])
@pytest.mark.parametrize("centered", [False, True])
def test_both_hold_the_same_truth(kind, centered):
    information = kind.empty(3, 2, centered=centered)
    for start in range(0, 50, 7):
        information = information.add(task(slice(start, start + 7)))
    A = np.hstack([X, Y])
    assert information.n_samples == 50
    assert_allclose(information.total_weight, W.sum(), rtol=1e-14)
    assert_allclose(information.log_weight, np.log(W).sum(), rtol=1e-12)
    assert_allclose(as_moments(information), co_moments(A, W, centered), rtol=1e-12)
    if centered:
        assert_allclose(information.mean + information.mean_low, W @ A / W.sum(), rtol=1e-14)
    else:
        assert not information.mean.any()
    halves = (
        kind.empty(3, 2, centered=centered).add(task(slice(0, 20))),
        kind.empty(3, 2, centered=centered).add(task(slice(20, 50))),
    )
    for merged in (halves[0].merge(halves[1]), halves[1].merge(halves[0])):
        assert_allclose(as_moments(merged), as_moments(information), rtol=1e-12)
        assert_allclose(merged.mean, information.mean, rtol=1e-14)
    rest = information.remove(task(slice(0, 20)))
    assert_allclose(as_moments(rest), as_moments(halves[1]), rtol=1e-11, atol=1e-11)
    assert_allclose(rest.mean, halves[1].mean, rtol=1e-13)
    assert_allclose(rest.log_weight, halves[1].log_weight, rtol=1e-10)


@pytest.mark.parametrize("kind", [Moments, SquareRoot])
def test_values_are_frozen(kind):
    information = kind.empty(3, 2, centered=True).add(task())
    with pytest.raises(dataclasses.FrozenInstanceError):
        information.n_samples = 3
    with pytest.raises(ValueError, match="read-only"):
        information.matrix[0] = 1.0
    before = information.matrix.copy()
    information.add(task()).merge(information).remove(task())
    assert_array_equal(information.matrix, before)


@pytest.mark.parametrize("kind", [Moments, SquareRoot])
def test_the_residual_block_is_the_sum_of_squares_that_is_left(kind, rng):
    """Also after a removal, and where the fit is exact."""
    exact = X @ rng.normal(size=(3, 2)) + 1.0
    for targets, scale in ((Y, 1.0), (exact, 1e-12)):
        tasks = [
            check_tasks(GeneralizedRidge(), X[rows], targets[rows], first=True)[0]
            for rows in (slice(0, 20), slice(20, 50))
        ]
        information = kind.empty(3, 2, centered=True).add(tasks[0]).add(tasks[1]).remove(tasks[0])
        C = as_moments(information)
        left = C[3:, 3:] - C[3:, :3] @ np.linalg.solve(C[:3, :3], C[:3, 3:])
        A = np.column_stack([np.ones(30), X[20:]])
        residual = targets[20:] - A @ np.linalg.lstsq(A, targets[20:], rcond=None)[0]
        assert_allclose(left, residual.T @ residual, rtol=1e-8, atol=1e-10 * max(scale, 1e-2))
        if kind is SquareRoot:
            R_y = information.factor()[3:, 3:]
            assert_allclose(R_y.T @ R_y, residual.T @ residual, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", [Moments, SquareRoot])
def test_overflow_is_caught_before_it_is_kept(kind):
    big = check_tasks(GeneralizedRidge(), 1e149 * X, Y, first=True)[0]
    information = kind.empty(3, 2, centered=False).add(big)
    largest = np.finfo(float).max
    counts, arrays = information.to_parts()
    entry = largest if kind is Moments else np.sqrt(largest)
    worst = kind.from_parts(counts, arrays | {"matrix": np.full(15, entry), "peak": np.full(5, largest)})
    with np.errstate(over="ignore", invalid="ignore"):
        with pytest.raises(MergeError, match="overflows"):
            worst.merge(worst)
        with pytest.raises(InvalidDataError, match="overflows"):
            worst.add(big)


@pytest.mark.parametrize("kind", [Moments, SquareRoot])
@pytest.mark.parametrize("name", ["mean", "mean_low"])
def test_a_state_whose_means_exceed_the_limit_is_refused(kind, name):
    counts, arrays = kind.empty(3, 2, centered=True).add(task()).to_parts()
    with pytest.raises(InvalidStateError, match="a mean of a state exceeds"):
        kind.from_parts(counts, arrays | {name: np.full(5, 3.0 * LARGEST)})


@pytest.mark.parametrize("count", [-1, 2**53 + 1, 50.0, True])
def test_a_state_with_a_wrong_count_is_refused(count):
    counts, arrays = Moments.empty(3, 2, centered=True).add(task()).to_parts()
    with pytest.raises(InvalidStateError, match="whole numbers"):
        Moments.from_parts(counts | {"n_samples": count}, arrays)


@pytest.mark.parametrize("kind", [Moments, SquareRoot])
def test_as_many_rows_as_there_are_cannot_be_removed(kind):
    """Not even if they weigh less."""
    information = kind.empty(3, 2, centered=True).add(task())
    with pytest.raises(RemovalError, match="nothing would remain"):
        information.remove(task(weight=0.5 * W))


def test_decay_scales_every_weight():
    for kind in (Moments, SquareRoot):
        faded = kind.empty(3, 2, centered=True).add(task()).scaled(0.25)
        assert_allclose(
            as_moments(faded), as_moments(kind.empty(3, 2, centered=True).add(task(weight=0.25 * W))), rtol=1e-12
        )
        assert_allclose(faded.log_weight, np.log(0.25 * W).sum(), rtol=1e-12)


@pytest.mark.parametrize("kind", [Moments, SquareRoot])
@pytest.mark.parametrize("centered", [False, True])
def test_of_many_solutions_the_nearest_to_the_start_is_found(kind, centered, rng):
    """Brute force: the least change from the start that fits what the start leaves."""
    A, y, start = rng.normal(size=(4, 6)), rng.normal(size=(4, 2)), rng.normal(size=(6, 2))
    rows = check_tasks(GeneralizedRidge(), A, y, first=True)[0]
    solution = kind.empty(6, 2, centered=centered).add(rows).solve(np.zeros(6), start)
    if centered:
        A, y = A - A.mean(axis=0), y - y.mean(axis=0)
    assert solution.rank == 4 - centered
    assert_allclose(solution.coef, start + np.linalg.pinv(A) @ (y - A @ start), rtol=1e-9)


@pytest.mark.parametrize("kind", [Moments, SquareRoot])
def test_digits_lost_are_those_of_the_larger_values_that_were_removed_and_are_kept_in_a_merge(kind):
    """Targets 1e6 times as large leave rounding errors 1e6 times as large."""
    lost = {}
    for scale in (1.0, 1e6):
        gone = check_tasks(GeneralizedRidge(), X[:20], scale * Y[:20], first=True)[0]
        rest = kind.empty(3, 2, centered=True).add(task(slice(20, 50))).add(gone).remove(gone)
        lost[scale] = rest.digits_lost
    assert 0 < lost[1.0] < 1
    assert 6 < lost[1e6] < 7
    other = kind.empty(3, 2, centered=True).add(task())
    assert other.digits_lost == 0
    assert rest.merge(other).digits_lost == other.merge(rest).digits_lost == lost[1e6]


@pytest.mark.parametrize("kind", [AllRows, Moments, SquareRoot])
def test_the_intercept_has_the_digits_that_a_large_mean_rounds_off(kind):
    """Exact: thirds, which no mean near 2²⁷ can hold beyond its eighth decimal."""
    x, y = (2.0**27 + np.array(steps) for steps in ([1.0, 1.0, 2.0], [0.0, 1.0, 1.0]))
    rows = check_tasks(GeneralizedRidge(), x[:, None], y, first=True)[0]
    information = kind.empty(1, 1, centered=True).add(rows)
    for coef in (1.0, 0.5):
        exact = (sum(map(Fraction, y)) - Fraction(coef) * sum(map(Fraction, x))) / 3
        assert_allclose(information.intercept(np.array([[coef]])), float(exact), rtol=1e-15)


@pytest.mark.parametrize("kind", [Moments, SquareRoot])
@pytest.mark.parametrize("value", [1.0, 2.0, 3.0])
def test_rows_with_another_value_in_a_constant_column_were_never_learned(kind, value):
    A, other = (np.column_stack([X, np.full(50, constant)]) for constant in (2.0, value))
    information = kind.empty(4, 2, centered=True).add(check_tasks(GeneralizedRidge(), A, Y, first=True)[0])
    gone = check_tasks(GeneralizedRidge(), other[:20], Y[:20], first=True)[0]
    if value == 2.0:
        assert information.remove(gone).n_samples == 30
    else:
        with pytest.raises(RemovalError, match="never learned"):
            information.remove(gone)


def two_tasks(A, y):
    """Return the first 20 rows, and those that remain without them."""
    return [check_tasks(GeneralizedRidge(), A[rows], y[rows], first=True)[0] for rows in (slice(20), slice(20, 40))]


@pytest.mark.parametrize("offset", [0.0, 2.0**40])
def test_moments_refuse_a_removal_if_only_rounding_tells_two_columns_apart(rng, offset):
    """They differ by 1/4096, which is the distance of floats near 2⁴⁰."""
    x = np.round(4096.0 * rng.normal(size=40)) / 4096.0
    A = np.column_stack([x, x + rng.choice([-1.0, 1.0], size=40) / 4096.0]) + offset
    gone, kept = two_tasks(A, rng.normal(size=40))
    alone = Moments.empty(2, 1, centered=True).add(kept)
    if offset:
        with pytest.raises(RemovalError, match="full rank"):
            alone.add(gone).remove(gone)
    else:
        assert_allclose(alone.add(gone).remove(gone).moments(), alone.moments(), rtol=1e-12)


@pytest.mark.parametrize("collinear", [False, True])
def test_a_factor_refuses_a_removal_if_collinear_columns_turn_what_remains_into_rounding(rng, collinear):
    """Of a direction 1e-10 remains: enough, unless the columns are collinear to 1e-6 and magnify the rounding."""
    x, z = rng.normal(size=(2, 40))
    z[20:] *= 1e-5
    gone, kept = two_tasks(np.column_stack([x, x + 1e-6 * z if collinear else z]), rng.normal(size=40))
    alone = SquareRoot.empty(2, 1, centered=False).add(kept)
    if collinear:
        with pytest.raises(RemovalError, match="full rank"):
            alone.add(gone).remove(gone)
    else:
        none, zero = np.zeros(2), np.zeros((2, 1))
        left = alone.add(gone).remove(gone)
        assert_allclose(left.solve(none, zero).coef, alone.solve(none, zero).coef, rtol=1e-4)


@pytest.mark.parametrize("name", ["mean", "mean_low"])
def test_a_state_without_an_intercept_has_no_means(name):
    counts, arrays = Moments.empty(3, 2, centered=False).add(task()).to_parts()
    with pytest.raises(InvalidStateError, match="without an intercept has means"):
        Moments.from_parts(counts, arrays | {name: np.eye(1, 5)[0]})


def test_kinds_by_name_and_as_objects():
    assert checked_kind("moments") is Moments
    assert checked_kind(ByTask(Moments)) == ByTask(Moments)
    learned = ByTask().empty(3, 2, centered=True)
    for setting in ("diagonal", Moments, learned):
        with pytest.raises(
            InvalidParameterError, match="information must be one of 'square_root', 'moments', 'by_task'"
        ):
            checked_kind(setting)


@pytest.mark.parametrize("name", ["parts", "ids"])
def test_parts_that_are_not_listed_are_refused(name):
    held = ByTask().empty(3, 2, centered=True)
    counts, arrays = held.to_parts()
    with pytest.raises(InvalidStateError, match="do not fit together"):
        ByTask().from_parts(counts | {name: None}, arrays)
