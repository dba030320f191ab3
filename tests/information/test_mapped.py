"""Another reference level: the same as learning with it."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ridgeway.data import Task
from ridgeway.errors import InvalidParameterError
from ridgeway.information import Moments, SquareRoot

KINDS = pytest.mark.parametrize("kind", [SquareRoot, Moments])
LEVELS = 4


def encoded(levels, others, reference):
    """Return one column for each level but the reference, and then the others."""
    return np.hstack([np.eye(LEVELS)[levels][:, np.arange(LEVELS) != reference], others])


def rebased(old, new, n_others):
    """Return matrix and shift from columns with one reference to columns with another."""
    before, after = ([level for level in range(LEVELS) if level != reference] for reference in (old, new))
    matrix, shift = np.zeros((len(before) + n_others,) * 2), np.zeros(len(after) + n_others)
    for column, level in enumerate(after):
        if level == old:
            matrix[: len(before), column], shift[column] = -1.0, 1.0
        else:
            matrix[before.index(level), column] = 1.0
    matrix[len(before) :, len(after) :] = np.eye(n_others)
    return matrix, shift


def learned(kind, levels, others, y, weight, reference):
    information = kind.empty(LEVELS - 1 + others.shape[1], y.shape[1], centered=True)
    for part in np.array_split(np.arange(len(y)), 3):
        X = encoded(levels[part], others[part], reference)
        information = information.add(Task.of(X, y[part], weight[part]))
    return information


def assert_same(one, two, bound=1e-12):
    roots = np.sqrt(np.diag(two.moments()))
    assert (np.abs(one.moments() - two.moments()) <= bound * np.outer(roots, roots)).all()
    apart = (one.mean - two.mean) + (one.mean_low - two.mean_low)
    assert (np.abs(apart) <= 1e-15 * roots / np.sqrt(two.total_weight)).all()
    assert (one.peak >= np.diag(two.moments()) * (1.0 - bound)).all()
    start = np.zeros((two.n_features, two.n_targets))
    found, expected = (i.solve(np.zeros(len(start)), start) for i in (one, two))
    assert found.rank == expected.rank
    assert_allclose(found.coef, expected.coef, rtol=bound, atol=bound * np.abs(expected.coef).max())


@pytest.fixture
def rows(rng):
    levels = np.concatenate([np.arange(LEVELS), rng.choice(LEVELS, 56, p=[0.5, 0.3, 0.15, 0.05])])
    rng.shuffle(levels)
    others = rng.normal(size=(60, 2)) + np.array([0.0, 100.0])
    return levels, others, rng.normal(size=(60, 2)), rng.uniform(0.5, 2.0, 60)


@KINDS
def test_another_reference_is_as_learned_with_it(kind, rows):
    information = learned(kind, *rows, 0)
    reference = 0
    for new in (2, 1, 3, 0):  # chained
        information = information.mapped(*rebased(reference, new, 2))
        assert_same(information, learned(kind, *rows, new))
        kind.from_parts(*information.to_parts())
        reference = new
    with pytest.raises(AssertionError):
        assert_same(information, learned(kind, *rows, 1))


@KINDS
def test_means_are_mapped_exactly(kind, rows):
    """In rational arithmetic: to twice the digits of a float, where large terms cancel too."""
    information = learned(kind, *rows, 1)
    mean = [Fraction(high) + Fraction(low) for high, low in zip(information.mean, information.mean_low, strict=True)]
    matrix = np.array([[-1.0, 0.0], [-1.0, 1.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, 1.0]])
    found = information.mapped(matrix, np.array([1e10, -100.0]))
    for j, shift in enumerate((10**10, -100)):
        expected = shift + sum(int(entry) * value for entry, value in zip(matrix[:, j], mean, strict=False))
        assert abs(Fraction(found.mean[j]) + Fraction(found.mean_low[j]) - expected) <= abs(expected) * Fraction(
            1, 2**104
        )
        assert abs(found.mean_low[j]) <= np.spacing(found.mean[j])


@KINDS
def test_tasks_are_added_and_removed_with_the_new_reference(kind, rows):
    levels, others, y, weight = rows
    first = Task.of(encoded(levels[:20], others[:20], 3), y[:20], weight[:20])
    information = learned(kind, *rows, 1).mapped(*rebased(1, 3, 2))
    assert_same(information.add(first).remove(first), learned(kind, *rows, 3), bound=1e-11)


@KINDS
def test_a_level_that_was_never_seen_is_constant(kind, rows):
    """As the old reference it is 1 less all the others, which is 0 and not rounding; it stays 0 in later rows."""
    levels, others, y, weight = rows
    levels = np.where(levels == 3, 2, levels)
    at_once = learned(kind, levels, others, y, weight, 0)
    for old in (1, 3):
        information = learned(kind, levels, others, y, weight, old).mapped(*rebased(old, 0, 2))
        assert_array_equal([information.mean[2], information.mean_low[2], information.peak[2]], 0.0)
        assert not information.moments()[2].any()
        assert_same(information, at_once)
        more = Task.of(encoded(levels, others, 0), y)
        assert information.add(more).solve(np.zeros(5), np.zeros((5, 2))).rank == 4


@KINDS
def test_rounding_of_common_levels_does_not_pass_for_a_rare_one(kind, rng):
    """A rare level is 1 less the common ones, and collinear with another column: its rounding is not a direction."""
    levels = np.where(rng.random(200_000) < 0.6, 0, 1)
    levels[:3] = 2
    one_hot, y = np.eye(3)[levels], rng.normal(size=(200_000, 1))
    information = kind.empty(3, 1, centered=True)
    for part in np.array_split(np.arange(len(y)), 12):
        information = information.add(Task.of(one_hot[part], y[part]))  # the last column stands for another feature
    matrix = np.array([[0.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    found = information.mapped(matrix, np.array([0.0, 1.0, 0.0])).solve(np.zeros(3), np.zeros((3, 1)))
    means = [y[levels == level].mean() for level in range(3)]
    assert found.rank == 2
    halves = (means[2] - means[0]) / 2.0  # of two equal columns, the least norm
    assert_allclose(found.coef[:, 0], [means[1] - means[0], halves, halves], rtol=1e-9)


@KINDS
@pytest.mark.parametrize("q", [2, 3, 5])
def test_any_linear_functions_of_the_features(kind, q, rng):
    """Fewer or more than there were: the rank, and the squares that are left, are those of the new rows."""
    X, y = rng.normal(size=(30, 3)) + 2.0, rng.normal(size=(30, 2))
    M, shift = rng.normal(size=(3, q)), rng.normal(size=q)
    found = kind.empty(3, 2, centered=True).add(Task.of(X, y)).mapped(M, shift)
    rows = np.hstack([X @ M + shift, y])
    rows -= rows.mean(axis=0)
    assert_allclose(found.moments(), rows.T @ rows, rtol=1e-12, atol=1e-11)
    solution = found.solve(np.zeros(q), np.zeros((q, 2)))
    expected, _, rank, _ = np.linalg.lstsq(rows[:, :q], rows[:, q:], rcond=1e-10)
    assert solution.rank == rank
    assert_allclose(solution.coef, expected, rtol=1e-9, atol=1e-10)
    residual = rows[:, q:] - rows[:, :q] @ expected
    assert_allclose(np.square(found.factor()[q:, q:]).sum(axis=0), np.square(residual).sum(axis=0), rtol=1e-9)


@KINDS
def test_without_rows_and_without_an_intercept(kind, rng):
    empty = kind.empty(2, 1, centered=True).mapped(np.eye(2), np.ones(2))
    assert not empty.mean.any()
    X, y = rng.normal(size=(9, 2)), rng.normal(size=(9, 1))
    turned = kind.empty(2, 1, centered=False).add(Task.of(X, y)).mapped(np.eye(2)[::-1], np.zeros(2))
    A = np.hstack([X[:, ::-1], y])
    assert_allclose(turned.moments(), A.T @ A, rtol=1e-13)
    with pytest.raises(InvalidParameterError, match="without an intercept the features cannot be shifted"):
        turned.mapped(np.eye(2), np.ones(2))
    with pytest.raises(InvalidParameterError, match=r"a map of 2 features .* got shapes \(3, 2\) and \(2,\)"):
        turned.mapped(np.ones((3, 2)), np.zeros(2))
    with pytest.raises(InvalidParameterError, match="must be finite"):
        turned.mapped(np.full((2, 2), np.nan), np.zeros(2))
