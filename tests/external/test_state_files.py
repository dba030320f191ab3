"""The printed models through a state file: one task, random tasks, and a refused task that leaves it as it was."""

import numpy as np
import pytest
from published import MODELS, random_tasks

from ridgeway import GeneralizedLogistic, store
from ridgeway.errors import SeparationError

pytestmark = pytest.mark.filterwarnings("ignore:the columns learned are collinear")  # those of few rows

NAMES = ["star98", "low birth weight", "executions, frequencies", "executions, precisions", "ships", "spector"]
CUTS = {
    "star98": (0, 1),
    "low birth weight": (4, 6),
    "executions, frequencies": (0, 1),
    "executions, precisions": (2, 4),
    "ships": (1, 4),
    "spector": (4, 7),
}
"""Two seeds of `random_tasks` for each model, of cuts that can be learned."""


def created(folder, published, memory):
    """Return a new state file for a model."""
    is_logistic = published.estimator is GeneralizedLogistic
    return store.create(
        folder / "state.rw",
        features=[f"x{number}" for number in range(published.X.shape[1])],
        target="y",
        weight_column=None if published.weight is None else "weight",
        weight_kind=published.weight_kind,
        offset=None if published.offset is None else "offset",
        family="binomial" if is_logistic else "poisson",
        memory=memory,
        classes=[0, 1] if is_logistic else None,
    )


def absorb(state, published, task_id, rows):
    """Absorb some rows of a model as one task."""
    X, y, options = published.rows(rows)
    return state.absorb(task_id, X, y, **options)


def printed_order(values):
    """Return values of terms with the intercept last, as in the printed tables."""
    return np.roll(values, -1)


@pytest.mark.parametrize("name", NAMES)
def test_one_task_has_the_printed_summary(tmp_path, name):
    published = MODELS[name]()
    state = created(tmp_path, published, "quadratic")
    absorb(state, published, "all", np.arange(len(published.y)))
    summary = store.open(state.path).summary()
    np.testing.assert_allclose(printed_order(summary.coef), published.coef, rtol=published.coef_digits)
    np.testing.assert_allclose(printed_order(summary.standard_errors), published.errors, rtol=published.error_digits)
    value = summary.log_likelihood + published.constant
    assert value == pytest.approx(published.log_likelihood, rel=published.likelihood_digits)


@pytest.mark.parametrize(("memory", "limit"), [("cubic", 0.5), ("quadratic", 3.0)])
@pytest.mark.parametrize("name", NAMES)
def test_random_tasks_end_near_the_printed_estimate(tmp_path, name, memory, limit):
    published = MODELS[name]()
    for seed in CUTS[name]:
        folder = tmp_path / f"{seed}"
        folder.mkdir()
        state = created(folder, published, memory)
        distances = []
        for number, rows in enumerate(random_tasks(published, seed)):
            absorb(state, published, f"task {number}", rows)
            distances.append(published.distance(store.open(state.path).model()))
        print(f"\n{name}, {memory}, seed {seed}: {distances[-1]:.2g} standard errors after {len(distances)} tasks")
        assert distances[-1] <= limit
        assert distances[0] > 2.0 * distances[-1]  # the control: later tasks have been learned
        state.check()


@pytest.mark.parametrize(("name", "seed"), [("low birth weight", 0), ("spector", 0), ("ships", 0)])
def test_a_separated_first_task_leaves_the_file_as_it_was(tmp_path, name, seed):
    published = MODELS[name]()
    state = created(tmp_path, published, "cubic")
    first, *later = random_tasks(published, seed)
    before = state.path.read_bytes()
    with pytest.raises(SeparationError, match=r"has no maximum.*[Gg]ive a prior"):
        absorb(state, published, "first", first)
    assert state.path.read_bytes() == before
    assert state.history() == ()
    together = np.concatenate([first, *later])
    absorb(state, published, "all", together)  # together, they are not separated
    np.testing.assert_allclose(printed_order(state.summary().coef), published.coef, rtol=published.coef_digits)
