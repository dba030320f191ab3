"""Tasks cut at random: how far the estimate ends from the printed one, in printed standard errors.

With a cubic memory at most 0.5 in the median over the cuts, with a quadratic one 3. A cut may be refused if a task is
separated: `test_refusals.py` says whether that is true. `pytest -s` prints the medians.
"""

from functools import cache

import numpy as np
import pytest
from published import MODELS, random_tasks

from ridgeway.errors import SeparationError

pytestmark = pytest.mark.filterwarnings("ignore:the columns learned are collinear")  # those of few rows

LIMITS = {"cubic": 0.5, "quadratic": 3.0}
CUTS = {
    "star98": 8,
    "low birth weight": 16,
    "executions": 12,
    "executions, frequencies": 8,
    "executions, precisions": 8,
    "ships": 16,
    "spector": 24,
    "doctor visits": 6,
    "party identification": 6,
}
"""How many cuts of each model are tried."""


def learned(published, tasks, memory):
    """Return the model after these tasks."""
    model = published.model(memory=memory)
    named = published.first()
    for rows in tasks:
        X, y, options = published.rows(rows)
        model.partial_fit(X, y, **options, **named)
        named = {}
    return model


@cache
def distances(name, memory, *, most_tasks=None):
    """Return the distance from the printed estimate after each cut that is learned, or after its first tasks."""
    published = MODELS[name]()
    measured = []
    for seed in range(CUTS[name]):
        tasks = random_tasks(published, seed)[:most_tasks]
        try:
            measured.append(published.distance(learned(published, tasks, memory)))
        except SeparationError:
            continue
    return np.array(measured)


@pytest.mark.parametrize("name", CUTS)
def test_random_tasks_end_near_the_printed_estimate(name):
    cubic, quadratic = distances(name, "cubic"), distances(name, "quadratic")
    print(
        f"\n{name}: {len(cubic)} of {CUTS[name]} cuts learned; median (largest) distance: cubic "
        f"{np.median(cubic):.2g} ({cubic.max():.2g}), quadratic {np.median(quadratic):.2g} ({quadratic.max():.2g})"
    )
    assert min(len(cubic), len(quadratic)) >= 3
    assert np.median(cubic) <= LIMITS["cubic"]
    assert np.median(quadratic) <= LIMITS["quadratic"]
    assert np.median(cubic) < np.median(quadratic)


@pytest.mark.parametrize("name", CUTS)
def test_the_first_task_alone_is_far_from_the_printed_estimate(name):
    """The negative control: whoever forgets the later tasks is seen."""
    assert np.median(distances(name, "cubic", most_tasks=1)) > LIMITS["cubic"]


def test_the_cuts_are_random_tasks_of_all_rows():
    published = MODELS["star98"]()
    sizes = set()
    for seed in range(24):
        tasks = random_tasks(published, seed)
        assert sorted(np.concatenate(tasks)) == list(range(606))
        assert all(set(published.units[rows[rows < 303]]) == set(published.units[rows[rows >= 303]]) for rows in tasks)
        sizes.add(len(tasks))
    assert sizes == {2, 3, 4, 5, 6}
