"""How often `retrospect.segments` finds a change, if there is one and if not: `python -m benchmarks.segments`.

Puts the figures into docs/segments.json and the tables into docs/tasks-over-time.md.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.sweep import add_worker_options, sweep
from ridgeway import GeneralizedRidge, retrospect

Array = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int, Array], Array]
"""Draws the noise of task t, counted from 1, given the rows of each sequence, (sequences, rows, features)."""

PAGE = Path(__file__).parents[1] / "docs" / "tasks-over-time.md"
RESULTS = PAGE.with_name("segments.json")
START, END = "<!-- segments: made by `python -m benchmarks.segments` -->\n", "<!-- end of segments -->\n"
SEQUENCES = 2000
CHANGED_AT = 10
"""The task, counted from 0, before which the parameter jumps."""
N_TASKS, N_ROWS, N_FEATURES = 20, 30, 4
"""Tasks of a sequence, rows of a task, and features; an intercept comes on top."""


def gaussian(rng: np.random.Generator, t: int, X: Array) -> Array:
    """Return Gaussian noise."""
    return rng.normal(size=X.shape[:2])


def second_noisy(rng: np.random.Generator, t: int, X: Array) -> Array:
    """Return Gaussian noise, in every second task three times as large."""
    return gaussian(rng, t, X) * (1.0 if t % 2 else 3.0)


def heavy(rng: np.random.Generator, t: int, X: Array) -> Array:
    """Return noise of Student's t with three degrees of freedom."""
    return rng.standard_t(3, size=X.shape[:2])


def scaled(rng: np.random.Generator, t: int, X: Array) -> Array:
    """Return Gaussian noise of a scale that is lognormal, one for each task."""
    return np.exp(0.7 * rng.normal(size=(len(X), 1))) * gaussian(rng, t, X)


@dataclass(frozen=True)
class Setting:
    """How the tasks of a sequence come about: the noise, and ‖δ‖² of the jump."""

    noise: Noise = gaussian
    jump: float = 0.0

    def tasks(self, sequences: int, seed: int = 0) -> Iterator[tuple[Array, Array]]:
        """Yield the rows and targets of each task, for all sequences."""
        rng = np.random.default_rng(seed)
        coef = rng.normal(size=(sequences, N_FEATURES))
        for t in range(1, N_TASKS + 1):
            if self.jump and t == CHANGED_AT + 1:
                step = rng.normal(size=coef.shape)
                coef = coef + step * np.sqrt(self.jump / np.square(step).sum(axis=1, keepdims=True))
            X = rng.normal(size=(sequences, N_ROWS, N_FEATURES))
            yield X, np.einsum("bnp,bp->bn", X, coef) + 1.0 + self.noise(rng, t, X)


CALM: dict[str, tuple[Setting, str]] = {
    "Gaussian noise": (Setting(), "common"),
    'Gaussian noise, noise="by_task"': (Setting(), "by_task"),
    "every second task three times as noisy": (Setting(noise=second_noisy), "common"),
    'every second task three times as noisy, noise="by_task"': (Setting(noise=second_noisy), "by_task"),
    "a noise level per task, lognormal": (Setting(noise=scaled), "common"),
    'a noise level per task, lognormal, noise="by_task"': (Setting(noise=scaled), "by_task"),
    "t₃ noise": (Setting(noise=heavy), "common"),
}
JUMPS = {f"‖δ‖² = {size:g}": Setting(jump=size) for size in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)}


def found(setting: Setting, sequences: int, noise: str = "common", seed: int = 0) -> dict[str, float]:
    """Return shares of the sequences.

    `divided`: `segments` finds a change at 5 % false alarms. `placed`: and it finds exactly one, at most one task away
    from the jump. `single`: the p-value of the best single change is below 0.5 %. `cusum`: that of `cusum` is below
    5 %.
    """
    tasks = list(setting.tasks(sequences, seed))
    rows = []
    for number in range(sequences):
        model = GeneralizedRidge(information="by_task")
        for X, y in tasks:
            model.partial_fit(X[number], y[number])
        answer = retrospect.segments(model, noise="by_task" if noise == "by_task" else "common")
        places = [int(name) - 1 for name in answer.changes]
        placed = len(places) == 1 and abs(places[0] - CHANGED_AT) <= 1
        rows.append([bool(places), placed, answer.p_value < 0.005, retrospect.cusum(model).p_value < 0.05])
    return dict(zip(("divided", "placed", "single", "cusum"), np.mean(rows, axis=0).tolist(), strict=True))


def tables(results: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the tables, in Markdown."""
    yield f"{results['sequences']} sequences of 20 tasks with 30 rows, 4 features and an intercept for each line.\n\n"
    yield "| nothing changes | `segments`, 5 % | single change, p < 0.5 % | `cusum`, p < 5 % |\n"
    yield "|---|---:|---:|---:|\n"
    for name, shares in results["calm"].items():
        cells = [_percent(shares[key], 2) for key in ("divided", "single", "cusum")]
        yield f"| {' | '.join([name, *cells])} |\n"
    yield "\n| jump after task 10 | `segments`, 5 % | one change, ± 1 task | single change, p < 0.5 % "
    yield "| `cusum`, p < 5 % |\n|---|---:|---:|---:|---:|\n"
    for name, shares in results["jumps"].items():
        cells = [_percent(shares[key]) for key in ("divided", "placed", "single", "cusum")]
        yield f"| {' | '.join([name, *cells])} |\n"


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def main() -> None:
    """Run all settings, write docs/segments.json and put the tables into docs/tasks-over-time.md."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--sequences", type=int, default=SEQUENCES)
    parser.add_argument("--print", action="store_true", help="print the tables and write nothing")
    add_worker_options(parser)
    options = parser.parse_args()
    began = time.perf_counter()
    calm = {name: partial(found, setting, options.sequences, noise) for name, (setting, noise) in CALM.items()}
    jumps = {name: partial(found, setting, options.sequences) for name, setting in JUMPS.items()}
    shares = dict(sweep(calm | jumps, options))
    results = {
        "sequences": options.sequences,
        "calm": {name: shares[name] for name in calm},
        "jumps": {name: shares[name] for name in jumps},
    }
    text = "".join(tables(results))
    if options.print:
        print(text, json.dumps(results, ensure_ascii=False), f"{time.perf_counter() - began:.0f} s", sep="\n")
        return
    RESULTS.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    first, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    PAGE.write_text(first + START + text + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
