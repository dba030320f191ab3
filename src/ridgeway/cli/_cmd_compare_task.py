"""`ridgeway compare-task`: whether a data file agrees with a state file."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ridgeway.cli._options import command, data_file, state_file
from ridgeway.cli._output import answer

if TYPE_CHECKING:
    from ridgeway.retrospect import Comparison

SHOWN = 3
"""Number of directions shown, and of terms in each."""


@command("ridgeway compare-task wages.rw survey-2024.parquet    before absorbing it")
@state_file
@data_file
@click.option("--equal-noise", is_flag=True, help="Assume that the file has the noise variance of the state.")
def compare_task(file: str, data: str, equal_noise: bool, as_json: bool) -> None:
    """Test whether a data file follows the same relation as a state file, before absorbing it.

    Prints the test and what it assumes, the expected gain or loss of absorbing the file, and the directions that
    disagree most. Changes nothing. Exits with 2 if the file cannot be used or has nothing in common with the state.
    """
    from ridgeway import retrospect, store

    opened = store.open(file)
    model = opened.model()
    found = retrospect.compare(model, *opened.rows(data), equal_noise=equal_noise)
    targets = opened.schema.targets
    lines = [f"{data} compared with {model.n_tasks_} task(s), {model.n_samples_seen_:,} rows"]
    lines += [line for number, name in enumerate(targets) for line in _lines(found, number, name)]
    answer(_as_dict(found, targets), *lines, as_json=as_json)


def _as_dict(found: "Comparison", targets: tuple[str, ...]) -> dict[str, Any]:
    """Return the result as plain data, by target."""
    import numpy as np

    parts = ("f", "p_value", "noise_variance", "task_noise_variance", "noncentrality", "gain_for_past", "gain_for_task")
    rows = ("differences", "statistics")
    q, freedom = found.degrees_of_freedom
    return {
        "equal_noise": found.equal_noise,
        "assumption": found.assumption,
        "share": float(found.share),
        "terms": found.terms,
        "directions": found.directions.tolist(),
        "targets": {
            target: {name: float(np.atleast_1d(getattr(found, name))[k]) for name in parts}
            | {"degrees_of_freedom": [q, float(np.atleast_1d(freedom)[k])]}
            | {name: np.atleast_2d(getattr(found, name))[k].tolist() for name in rows}
            for k, target in enumerate(targets)
        },
    }


def _lines(found: "Comparison", number: int, target: str) -> Iterator[str]:
    """Yield the result for one target."""
    import numpy as np

    q, freedom = found.degrees_of_freedom
    values = (found.f, freedom, found.p_value, found.noncentrality, found.gain_for_past, found.gain_for_task)
    f, freedom, p_value, noncentrality, for_past, for_task = (float(np.atleast_1d(value)[number]) for value in values)
    if math.isnan(f):
        yield f"{target}: one parameter fits all rows of past and task exactly; there is nothing to compare"
        return
    verb = "disagree" if p_value < 0.05 else "are compatible"
    test = "Chow's test" if found.equal_noise else "Wald's test"
    yield f"{target}: past and task {verb} ({test}: F({q}, {freedom:.4g}) = {f:.4g}, p = {p_value:.3g})"
    yield f"  assuming that {found.assumption}"
    yield f"  noncentrality about {noncentrality:.3g}; under equal noise, absorbing helps in every direction if ≤ 1"
    yield f"  for the past's parameter, absorbing {_effect(for_past)} compared with leaving the task out"
    yield f"  for the task's parameter, absorbing {_effect(for_task)} compared with learning it alone"
    yield f"  decay='adaptive' would leave {100.0 * found.share:.3g} % of the past in force"
    statistics = np.atleast_2d(found.statistics)[number]
    for j in np.argsort(-np.abs(statistics), kind="stable")[:SHOWN]:
        largest = np.argsort(-np.abs(found.directions[j]), kind="stable")[:SHOWN]
        words = " ".join(f"{found.directions[j, i]:+.2f}·{found.terms[i]}" for i in largest)
        more = " …" if len(found.terms) > SHOWN else ""
        yield f"  t = {statistics[j]:+.2f} in the direction {words}{more}"


def _effect(gain: float) -> str:
    """Return a gain in expected squared error in words."""
    if math.isinf(gain):
        return "is the only way to get an estimate"
    return f"{'lowers' if gain >= 0.0 else 'raises'} the expected squared error by {abs(gain):.3g}"
