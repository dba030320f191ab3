"""`ridgeway compare-task`: whether a data file agrees with a state file."""

import math
from collections.abc import Iterator
from sys import float_info
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from ridgeway._text import counted
from ridgeway.cli._options import command, csv_options, data_file, state_file
from ridgeway.cli._output import answer

if TYPE_CHECKING:
    from ridgeway.retrospect import Comparison

SHOWN = 3
"""Number of coefficients or directions shown, and of terms in each direction."""
WIDTH = 80
SHARED = ("advice", "recommendation", "absorbed", "equal_noise", "assumption", "terms")
NUMBERS = (
    "difference",
    "relative_difference",
    "standardized_difference",
    "prediction_gain_for_past",
    "prediction_gain_for_task",
    "f",
    "p_value",
    "noise_variance",
    "task_noise_variance",
    "noncentrality",
    "gain_for_past",
    "gain_for_task",
)


@command("ridgeway compare-task wages.rw survey-2024.parquet  # before absorbing it")
@state_file
@data_file
@click.option("--equal-noise", is_flag=True, help="Assume that the file has the noise variance of the state.")
@csv_options
def compare_task(file: str, data: str, equal_noise: bool, csv: Any, as_json: bool) -> None:
    """Check a data file against the state, before absorbing it.

    Recommends absorbing it, absorbing it and watching, or keeping it apart. Prints how large the difference between the
    file and the state is in the unit of the target, the coefficients that differ most, and the test. Changes nothing.
    Exits with 2 if the file cannot be used or has nothing in common with the state.
    """
    from ridgeway import store

    opened = store.open(file)
    found = opened.compare_task(data, equal_noise=equal_noise, csv=csv)
    tasks = opened.history()
    targets = {name: _numbers(found, number) for number, name in enumerate(opened.schema.targets)}
    said = [f"{name}: {numbers['recommendation']}" for name, numbers in targets.items()]
    lines = [line for text in (said if len(said) > 1 else [found.recommendation]) for line in wrap(text, WIDTH)]
    past = (
        "what remains without it"
        if found.absorbed
        else f"{counted(len(tasks), 'task')}, {counted(sum(t.n_samples for t in tasks), 'row')}"
    )
    lines.append(f"{data} compared with {past}")
    lines += [line for name, numbers in targets.items() for line in _lines(found, name, numbers)]
    shared = {name: getattr(found, name) for name in SHARED}
    answer(shared | {"directions": found.directions.tolist(), "targets": targets}, *lines, as_json=as_json)


def _numbers(found: "Comparison", number: int) -> dict[str, Any]:
    """Return the result for one target as plain data."""
    import numpy as np

    q, freedom = found.degrees_of_freedom
    differences = np.atleast_2d(found.coef_differences)[number]
    intervals = found.coef_intervals.reshape(-1, len(found.terms), 2)[number]
    return {
        "recommendation": found.recommendation.splitlines()[number],
        **{name: float(np.atleast_1d(getattr(found, name))[number]) for name in NUMBERS},
        "degrees_of_freedom": [q, float(np.atleast_1d(freedom)[number])],
        "coefficients": {
            term: {"difference": float(difference), "lower": float(lower), "upper": float(upper)}
            for term, difference, (lower, upper) in zip(found.terms, differences, intervals, strict=True)
        },
        "differences": np.atleast_2d(found.differences)[number].tolist(),
        "statistics": np.atleast_2d(found.statistics)[number].tolist(),
    }


def _lines(found: "Comparison", target: str, numbers: dict[str, Any]) -> Iterator[str]:
    """Yield effect sizes and test of one target."""
    if math.isnan(numbers["f"]):
        return
    yield f"{target}: difference {numbers['difference']:.4g} (root mean square over the rows of the file)"
    yield f"  {numbers['relative_difference']:.3g} times the noise standard deviation of the file"
    yield f"  {numbers['standardized_difference']:.3g} times the standard deviation of {target} in the file"
    for side in ("past", "task"):
        gain = numbers[f"prediction_gain_for_{side}"]
        verb = "lowers" if gain >= 0.0 else "raises"
        yield f"  absorbing {verb} the mean squared error for the {side} by about {abs(gain):.3g}"
    yield from _largest(found, numbers)
    q, freedom = numbers["degrees_of_freedom"]
    test = "Chow's test" if found.equal_noise else "Wald's test"
    yield f"  {test}: F({q}, {freedom:.4g}) = {numbers['f']:.4g}, p = {numbers['p_value']:.3g}"
    yield f"  assuming that {found.assumption}"


def _largest(found: "Comparison", numbers: dict[str, Any]) -> Iterator[str]:
    """Yield the coefficients that differ most clearly or, if none can be compared, the directions."""
    import numpy as np

    rows = [(term, *row.values()) for term, row in numbers["coefficients"].items() if not math.isnan(row["difference"])]
    rows.sort(key=lambda row: -abs(row[1]) / max(row[3] - row[2], float_info.min))
    if rows:
        yield "  largest differences of coefficients, task − past, with 95 % intervals:"
    for term, difference, lower, upper in rows[:SHOWN]:
        yield f"    {term}: {difference:+.4g} [{lower:.4g}, {upper:.4g}]"
    if not rows:
        statistics = np.array(numbers["statistics"])
        for j in np.argsort(-np.abs(statistics), kind="stable")[:SHOWN]:
            largest = np.argsort(-np.abs(found.directions[j]), kind="stable")[:SHOWN]
            words = " ".join(f"{found.directions[j, i]:+.2f}·{found.terms[i]}" for i in largest)
            more = " …" if len(found.terms) > SHOWN else ""
            yield f"  t = {statistics[j]:+.2f} in the direction {words}{more}"
