"""Tasks that are refused, and tasks in which a column is constant: what is said is true.

A linear program says whether the rows of a task are separated: whether some direction, of which the rows of earlier
tasks say nothing, makes every row of the task at least as likely and one of them likelier, without end.
"""

from functools import cache

import numpy as np
import pytest
from published import MODELS, random_tasks, ships_by_stata
from scipy.optimize import linprog

from ridgeway import GeneralizedPoisson
from ridgeway.errors import InvalidDataError, SeparationError

pytestmark = pytest.mark.filterwarnings("ignore:the columns learned are collinear")  # those of few rows

MEMORIES = ["cubic", "quadratic"]


def design_of(published, rows):
    """Return the columns with the intercept, scaled so that each is at most 1."""
    columns = np.column_stack([published.X, np.ones(len(published.y))])
    return (columns / np.abs(columns).max(axis=0))[rows]


def is_separated(published, rows, earlier):
    """Whether the rows of a task have no maximum in a direction in which earlier rows are constant."""
    design, past, y = design_of(published, rows), design_of(published, earlier), published.y[rows]
    if published.estimator is GeneralizedPoisson:
        # The predictor of a count above 0 must stay; that of a count of 0 may fall.
        fixed, falling = np.vstack([past, design[y > 0]]), design[y == 0]
    else:
        # The score of the observed class must not fall against any other; classes are blocks of coefficients.
        n_classes = len(np.unique(published.y))
        differences = np.eye(n_classes)[:, None, :] - np.eye(n_classes)[None, :, :]  # of class k, less that observed
        others = [(k, row) for row in range(len(y)) for k in range(n_classes) if k != y[row]]
        falling = np.array([np.kron(differences[k, y[row]], design[row]) for k, row in others])
        fixed = np.array([np.kron(differences[k, 0], row) for row in past for k in range(1, n_classes)])
    if not len(falling):
        return False
    fixed = fixed.reshape(-1, falling.shape[1])
    limits = {"b_ub": np.zeros(len(falling)), "b_eq": np.zeros(len(fixed)), "bounds": (-1.0, 1.0)}
    program = linprog(falling.sum(axis=0), A_ub=falling, A_eq=fixed, **limits)
    assert program.success
    return program.fun < -1e-7


@cache
def is_truly_separated(name, seed, number):
    """Whether a task of a random cut is separated, given the tasks before it."""
    published = MODELS[name]()
    tasks = random_tasks(published, seed)
    earlier = np.concatenate([np.array([], dtype=np.intp), *tasks[:number]])
    return is_separated(published, tasks[number], earlier)


def refused_at(published, tasks, memory):
    """Return the number of the task that is refused as separated, if any."""
    model = published.model(memory=memory)
    named = published.first()
    for number, rows in enumerate(tasks):
        X, y, options = published.rows(rows)
        try:
            model.partial_fit(X, y, **options, **named)
        except SeparationError:
            return number
        named = {}
    return None


CUTS = {"low birth weight": 32, "executions": 32, "ships": 32, "spector": 32, "party identification": 8}
"""How many cuts of each model are tried."""


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("name", CUTS)
def test_a_refused_task_is_separated(name, memory):
    published = MODELS[name]()
    refused = {seed: refused_at(published, random_tasks(published, seed), memory) for seed in range(CUTS[name])}
    refused = {seed: number for seed, number in refused.items() if number is not None}
    assert {seed: number for seed, number in refused.items() if not is_truly_separated(name, seed, number)} == {}
    assert refused or name == "executions"


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_class_alone_is_named(memory):
    published = MODELS["spector"]()
    for label in (0, 1):
        X, y, _ = published.rows(published.y == label)
        with pytest.raises(InvalidDataError, match=f"y has one class only, {label};"):
            published.model(memory=memory).fit(X, y)


def test_the_linear_program_is_right():
    """The control: rows that are separated by construction, rows that overlap, and a past that holds the direction."""
    ships = ships_by_stata()
    without_damage, some = np.flatnonzero(ships.y == 0), np.flatnonzero(ships.y > 0)
    nobody = np.array([], dtype=np.intp)
    assert is_separated(ships, without_damage, nobody)
    assert not is_separated(ships, some, nobody)
    assert not is_separated(ships, without_damage, some)
    spector = MODELS["spector"]()
    assert is_separated(spector, np.flatnonzero(spector.y == 1), nobody)
    assert not is_separated(spector, np.arange(32), nobody)
    voters = MODELS["party identification"]()
    assert is_separated(voters, np.flatnonzero(voters.y != 3), nobody)
    assert not is_separated(voters, np.arange(944), nobody)


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("name", CUTS)
def test_a_separated_first_task_is_refused(name, memory):
    published = MODELS[name]()
    separated = [seed for seed in range(CUTS[name]) if is_truly_separated(name, seed, 0)]
    assert [seed for seed in separated if refused_at(published, random_tasks(published, seed)[:1], memory) != 0] == []


CONSTANT = {
    "voters of villages": ("party identification", 0, np.log(0.1)),
    "7.4 % of teachers in a minority": ("star98", 4, 7.407407),
    "a third prepared for college": ("star98", 9, 33.33333),
    "4.3 % of charter schools": ("star98", 10, 4.347826),
    "one insurance plan": ("doctor visits", 0, 4.61512),
    "no smokers": ("low birth weight", 4, 0.0),
    "the south": ("executions", 4, 1.0),
}
"""The model, its column, and the value that the column has in all rows of the first task."""


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize(("name", "column", "value"), CONSTANT.values(), ids=CONSTANT)
def test_a_column_that_is_constant_in_the_first_task_is_learned_later(name, column, value, memory):
    """It has no coefficient before; at most three standard errors from the printed estimate after the second task."""
    published = MODELS[name]()
    is_constant = np.isclose(published.X[:, column], value, rtol=1e-6)
    first, rest = np.flatnonzero(is_constant), np.flatnonzero(~is_constant)
    assert min(len(first), len(rest)) >= 4
    model = published.model(memory=memory)
    X, y, options = published.rows(first)
    model.partial_fit(X, y, **options, **published.first())
    assert np.abs(np.atleast_2d(model.coef_)[:, column]).max() < 0.01 * published.errors[column].min()
    X, y, options = published.rows(rest)
    model.partial_fit(X, y, **options)
    assert published.distance(model) <= 3.0
