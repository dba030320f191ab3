"""Coverage of intervals under a learned prior, and the size of `compare`: `python -m benchmarks.intervals`.

Run it with the name of a column ("before", "after") to put the figures of the installed code into docs/intervals.json,
and then without one to put the tables into docs/retrospect.md.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.weights import Accumulated

Array = NDArray[np.float64]
Learn = Callable[[GeneralizedRidge], GeneralizedRidge]

PAGE = Path(__file__).parents[1] / "docs" / "retrospect.md"
RESULTS = PAGE.with_name("intervals.json")
REPETITIONS = 2000


class Signal(NamedTuple):
    """A setting: features, rows, and how w is drawn: τ², "drawn" for a τ² that is drawn too, or a fixed w."""

    p: int
    n: int
    strength: Any

    def draw(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return a design and a parameter."""
        X = rng.normal(size=(self.n, self.p))
        if isinstance(self.strength, tuple):
            return X, np.array(self.strength)
        variance = self.strength
        if variance == "drawn":  # λ/(λ + g) is uniform: σ²/λ is the variance of w
            shrinkage = rng.random()
            variance = (1.0 - shrinkage) / shrinkage / (np.square(X - X.mean(axis=0)).sum() / X.size)
        return X, np.sqrt(variance) * rng.normal(size=self.p)


SIGNALS: dict[str, Signal] = {
    "λ drawn from its prior, p = 4, n = 45": Signal(4, 45, "drawn"),
    "τ² = 0.1, p = 4, n = 45": Signal(4, 45, 0.1),
    "τ² = 0.015, p = 4, n = 45": Signal(4, 45, 0.015),
    "τ² = 0.005, p = 4, n = 45": Signal(4, 45, 0.005),
    "τ² = 0.03, p = 10, n = 60": Signal(10, 60, 0.03),
    "τ² = 0.1, p = 30, n = 20": Signal(30, 20, 0.1),
}
SPARSE: dict[str, Signal] = {
    "w = (0.5, 0, 0, 0)": Signal(4, 45, (0.5, *[0.0] * 3)),
    "w = (0.5, 0, …, 0), p = 20": Signal(20, 45, (0.5, *[0.0] * 19)),
}
GROUPED = Signal(4, 45, 0.1)
CONDITIONAL: dict[str, Learn] = {
    "one λ, taken as known": lambda model: retrospect.learn_prior(model).model,
    "one λ per pair of columns, taken as known": lambda model: retrospect.learn_prior(model, [[0, 1], [2, 3]]).model,
    "one λ per direction, taken as known": lambda model: retrospect.learn_prior(model, "direction").model,
}


class Task(NamedTuple):
    """A setting of `compare`: features, rows of the past and of the task, how noisy the task is, and the prior."""

    p: int
    n_past: int
    n: int
    noise: float
    prior: Any = 0.0


TASKS: dict[str, Task] = {
    "equal noise": Task(4, 60, 15, 1.0),
    "task 3 times as noisy": Task(4, 60, 15, 3.0),
    "task 3 times as noisy, 8 rows": Task(4, 60, 8, 3.0),
    "task a third as noisy": Task(4, 60, 15, 1.0 / 3.0),
    "p = 10, task 3 times as noisy": Task(10, 36, 21, 3.0),
    "p = 10, task a third as noisy": Task(10, 36, 21, 1.0 / 3.0),
    "evidence prior, equal noise": Task(4, 60, 15, 1.0, "evidence"),
    "evidence prior, 3 times as noisy": Task(4, 60, 15, 3.0, "evidence"),
    "evidence prior, p = 10, equal noise": Task(10, 36, 21, 1.0, "evidence"),
    "4 rows (equal noise is assumed), equal noise": Task(4, 60, 4, 1.0),
    "4 rows (equal noise is assumed), 3 times as noisy": Task(4, 60, 4, 3.0),
}


def covered(rng: np.random.Generator, repetitions: int, signal: Signal, learn: Learn | None = None) -> Array:
    """Return whether 95 % intervals hold the truth: each slope, and the mean response; (repetitions, p + 1)."""
    hits = []
    for _ in range(repetitions):
        X, coef = signal.draw(rng)
        y = X @ coef + 1.0 + rng.normal(size=signal.n)
        model = GeneralizedRidge(Accumulated(prior="evidence" if learn is None else 0.0))
        for part in np.split(np.arange(signal.n), [signal.n // 3, 2 * signal.n // 3]):
            model.partial_fit(X[part], y[part])
        if learn is not None:
            model = learn(model)
        bounds = retrospect.summary(model).intervals[1:]
        x = rng.normal(size=(1, signal.p))
        at = retrospect.intervals(model, x)
        mean = float((x @ coef)[0]) + 1.0
        hits.append([*((bounds[:, 0] <= coef) & (coef <= bounds[:, 1])), at.mean_lower[0] <= mean <= at.mean_upper[0]])
    return np.array(hits, dtype=np.float64)


def p_values(rng: np.random.Generator, repetitions: int, task: Task, **settings: Any) -> Array:
    """Return the p-values of `compare` for a task that shares the parameter."""
    found = []
    for _ in range(repetitions):
        coef = np.sqrt(0.1) * rng.normal(size=task.p)
        model = GeneralizedRidge(Accumulated(task.prior))
        for _ in range(3):
            X = rng.normal(size=(task.n_past // 3, task.p))
            model.partial_fit(X, X @ coef + 1.0 + rng.normal(size=len(X)))
        X = rng.normal(size=(task.n, task.p))
        y = X @ coef + 1.0 + task.noise * rng.normal(size=task.n)
        found.append(retrospect.compare(model, X, y, **settings).p_value)
    return np.array(found)


def measured(repetitions: int = REPETITIONS) -> Iterator[tuple[str, list[float]]]:
    """Yield the name of each cell, and its figures."""
    for name, signal in SIGNALS.items():
        hits = covered(np.random.default_rng(1), repetitions, signal)
        yield f"coverage, {name}", [float(hits[:, :-1].mean()), float(hits[:, -1].mean())]
    for name, learn in CONDITIONAL.items():
        hits = covered(np.random.default_rng(1), repetitions, GROUPED, learn)
        yield f"coverage, τ² = 0.1, {name}", [float(hits[:, :-1].mean()), float(hits[:, -1].mean())]
    for name, signal in SPARSE.items():
        hits = covered(np.random.default_rng(1), repetitions, signal)
        yield f"sparse, {name}", [float(hits[:, 0].mean()), float(hits[:, :-1].mean())]
    for name, task in TASKS.items():
        yield f"size, {name}", [float((p_values(np.random.default_rng(1), repetitions, task) < 0.05).mean())]


def tables() -> Iterator[str]:
    """Yield the lines of both tables."""
    before, after = (json.loads(RESULTS.read_text(encoding="utf-8"))[column] for column in ("before", "after"))
    yield "| 95 % intervals with a learned prior | slopes before | slopes after | mean response before | after |"
    yield "|---|---:|---:|---:|---:|"
    for name in (name for name in after if name.startswith("coverage, ")):
        figures = [100.0 * side[name][i] for i in (0, 1) for side in (before, after)]
        yield f"| {name[10:]} | " + " | ".join(f"{figure:.1f} %" for figure in figures) + " |"
    yield ""
    yield "| at a fixed sparse w, n = 45 | large slope before | large slope after | all slopes before | after |"
    yield "|---|---:|---:|---:|---:|"
    for name in (name for name in after if name.startswith("sparse, ")):
        figures = [100.0 * side[name][i] for i in (0, 1) for side in (before, after)]
        yield f"| {name[8:]} | " + " | ".join(f"{figure:.1f} %" for figure in figures) + " |"
    yield ""
    yield "| `compare`: how often p < 0.05 for a task that shares the parameter | before | after |"
    yield "|---|---:|---:|"
    for name in (name for name in after if name.startswith("size, ")):
        yield f"| {name[6:]} | {100.0 * before[name][0]:.1f} % | {100.0 * after[name][0]:.1f} % |"


def main() -> None:
    """Measure a column, or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("column", nargs="?", choices=("before", "after"))
    column = parser.parse_args().column
    if column is None:
        start, end = "<!-- intervals: made by `make retrospect` -->\n", "<!-- end of intervals -->\n"
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(start)
        lines = "".join(f"{line}\n" for line in tables())
        PAGE.write_text(before + start + lines + end + rest.partition(end)[2], encoding="utf-8")
        return
    results: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    began = time.perf_counter()
    results[column] = {}
    for name, figures in measured():
        results[column][name] = figures
        print(f"{time.perf_counter() - began:5.0f} s  {name}: {figures}", flush=True)
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
