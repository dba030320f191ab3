"""Coverage of classical and cluster-robust intervals in simulations: `python -m benchmarks.robust`."""

import argparse
import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.sweep import add_worker_options, sweep
from ridgeway import GeneralizedRidge, retrospect
from ridgeway.errors import FewClustersWarning

Array = NDArray[np.float64]
Noise = Callable[[np.random.Generator, Array, NDArray[np.intp]], Array]
"""Draws the noise of all rows, from a generator, the features and the task of each row."""

TERMS = ("intercept", "between", "within")
COEF = np.array([1.0, 0.5, -0.5])
N_TASKS = (8, 20, 100)
ROWS = (10, 41)
"""The rows of a task are drawn from this range."""
KINDS = ("classical", "CR1", "CR2", "CR3")
RESULTS = Path(__file__).parents[1] / "docs" / "robust-errors.json"


def alike(rng: np.random.Generator, X: Array, task: NDArray[np.intp]) -> Array:
    """Random intercepts: all rows of a task share half of the variance."""
    return np.asarray(rng.normal(size=task.max() + 1)[task] + rng.normal(size=len(task)))


def unequal(rng: np.random.Generator, X: Array, task: NDArray[np.intp]) -> Array:
    """Tasks that differ in noise, those far from the mean of the first feature most; all rows are independent."""
    return np.asarray(np.exp(0.75 * np.abs(X[:, 0])) * rng.normal(size=len(task)))


def slopes(rng: np.random.Generator, X: Array, task: NDArray[np.intp]) -> Array:
    """Random slopes: each task has its own effect of the second feature, and its own intercept."""
    own = rng.normal(size=(2, task.max() + 1))[:, task]
    return np.asarray(0.5 * own[0] + own[1] * X[:, 1] + rng.normal(size=len(task)))


SETTINGS: dict[str, Noise] = {"clustered": alike, "heteroscedastic tasks": unequal, "random slopes": slopes}


def design(rng: np.random.Generator, n_tasks: int) -> tuple[Array, NDArray[np.intp]]:
    """Return a feature that is the same for all rows of a task and one that is not, and the task of each row."""
    task = np.repeat(np.arange(n_tasks), rng.integers(*ROWS, size=n_tasks))
    return np.column_stack([rng.normal(size=n_tasks)[task], rng.normal(size=len(task))]), task


def intervals(model: GeneralizedRidge, kind: Any, level: float) -> Array:
    """Return the intervals of one kind, (n_terms, 2)."""
    if kind == "classical":
        return retrospect.summary(model, level=level).intervals
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewClustersWarning)
        return retrospect.clustered(model, kind, level=level).intervals


def covered(setting: str, n_tasks: int, sequences: int, level: float = 0.95) -> dict[str, Array]:
    """Return how often the intervals of each kind hold the truth, for each term, and their mean length."""
    hits = {kind: np.zeros(len(TERMS)) for kind in KINDS}
    lengths = {kind: np.zeros(len(TERMS)) for kind in KINDS}
    for sequence in range(sequences):
        rng = np.random.default_rng([list(SETTINGS).index(setting), n_tasks, sequence])
        X, task = design(rng, n_tasks)
        y = COEF[0] + X @ COEF[1:] + SETTINGS[setting](rng, X, task)
        model = GeneralizedRidge(information="by_task").fit(X, y, tasks=task)
        for kind in KINDS:
            low, high = intervals(model, kind, level).T
            hits[kind] += (low <= COEF) & (high >= COEF)
            lengths[kind] += high - low
    return {kind: np.stack([hits[kind], lengths[kind]]) / sequences for kind in KINDS}


def measured(setting: str, n_tasks: int, sequences: int) -> dict[str, Any]:
    """Return one cell of the table."""
    found = covered(setting, n_tasks, sequences)
    rounded = {kind: [[float(f"{number:.5g}") for number in row] for row in found[kind]] for kind in KINDS}
    coverage, length = ({kind: rows[place] for kind, rows in rounded.items()} for place in (0, 1))
    return {"setting": setting, "n_tasks": n_tasks, "coverage": coverage, "length": length}


def table(results: dict[str, Any]) -> str:
    """Return the coverage as text: a line for each term of each cell, and whether it keeps the promise."""
    lines = [f"{'setting':<24}{'tasks':>6}  {'term':<10}" + "".join(f"{kind:>11}" for kind in KINDS)]
    for cell in results["cells"]:
        for number, term in enumerate(TERMS):
            shares = [cell["coverage"][kind][number] for kind in KINDS]
            mark = "" if kept(cell, number) else "  *"
            numbers = "".join(f"{100 * share:>10.1f}%" for share in shares)
            lines.append(f"{cell['setting']:<24}{cell['n_tasks']:>6}  {term:<10}{numbers}{mark}")
    return "\n".join([*lines, "* CR2 outside of 93 to 97 %, or CR3 below 93 %, where classical is below 85 %"])


def kept(cell: dict[str, Any], number: int) -> bool:
    """Say whether CR2 lies within 93 to 97 % and CR3 is at least 93 %, if the classical interval is below 85 %."""
    classical, _, second, third = (cell["coverage"][kind][number] for kind in KINDS)
    return bool(classical >= 0.85 or (0.93 <= second <= 0.97 and third >= 0.93))


def main() -> None:
    """Simulate all cells, print the table, and write the results as JSON."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--sequences", type=int, default=2000, help="sequences of tasks in each cell")
    parser.add_argument("--out", type=Path, default=RESULTS)
    add_worker_options(parser)
    asked = parser.parse_args()
    wanted = {
        f"{setting}, {n_tasks} tasks": partial(measured, setting, n_tasks, asked.sequences)
        for setting in SETTINGS
        for n_tasks in N_TASKS
    }
    found = dict(sweep(wanted, asked))
    results = {"sequences": asked.sequences, "terms": TERMS, "cells": [found[name] for name in wanted]}
    asked.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table(results))


if __name__ == "__main__":
    main()
