"""Coverage of intervals under a learned prior, and the size of `compare`: `python -m benchmarks.intervals`.

Puts the figures into docs/intervals.json and the tables into docs/retrospect.md. The column "before" was measured in
the same way when the learned penalty was taken as known and `compare` assumed equal noise; it stays.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.sweep import add_worker_options, sweep
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
    """Return whether 95 % intervals hold the truth: each slope, and the mean response; (repetitions, p + 1).

    An interval holds the truth if neither tail beyond it has less than 2.5 %.
    """
    hits = []
    for _ in range(repetitions):
        X, coef = signal.draw(rng)
        y = X @ coef + 1.0 + rng.normal(size=signal.n)
        model = GeneralizedRidge(Accumulated(prior="evidence" if learn is None else 0.0))
        for part in np.split(np.arange(signal.n), [signal.n // 3, 2 * signal.n // 3]):
            model.partial_fit(X[part], y[part])
        if learn is not None:
            model = learn(model)
        x = rng.normal(size=signal.p)
        functionals, on_intercept = np.column_stack([np.eye(signal.p), x]), np.r_[np.zeros(signal.p), 1.0]
        state: Any = model.state_
        found = state.inference().marginals(functionals, on_intercept)
        hits.append(found.p_values(np.r_[coef, x @ coef + 1.0])[0] >= 0.05)
    return np.array(hits, dtype=np.float64)


def covered_if_broken(rng: np.random.Generator, repetitions: int, *, clustered: bool) -> Array:
    """Return whether classical 95 % intervals of one slope hold the truth if what they assume does not hold.

    Ten tasks of 20 rows. If `clustered`, the rows of a task share a part of x and a part of the noise. If not, every
    other task has three times the noise, and x varies three times as much.
    """
    hits = []
    for _ in range(repetitions):
        model = GeneralizedRidge()
        for t in range(10):
            spread = 1.0 if clustered or t % 2 else 3.0
            x = rng.normal(size=(20, 1)) * spread + clustered * rng.normal()
            y = 1.0 + x[:, 0] + spread * rng.normal(size=20) + clustered * 0.5 * rng.normal()
            model.partial_fit(x, y)
        low, high = retrospect.summary(model).intervals[1]
        hits.append(low <= 1.0 <= high)
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


def _coverage(signal: Signal) -> list[float]:
    """Return the coverage of slopes and of the mean response."""
    hits = covered(np.random.default_rng(1), REPETITIONS, signal)
    return [float(hits[:, :-1].mean()), float(hits[:, -1].mean())]


def _at_sparse(signal: Signal) -> list[float]:
    """Return the coverage of the first slope and of all."""
    hits = covered(np.random.default_rng(1), REPETITIONS, signal)
    return [float(hits[:, 0].mean()), float(hits[:, :-1].mean())]


def _size(task: Task) -> list[float]:
    """Return how often a task that shares the parameter is found to differ at 5 %."""
    return [float((p_values(np.random.default_rng(1), REPETITIONS, task) < 0.05).mean())]


def _broken(clustered: bool) -> list[float]:
    """Return the coverage of a slope."""
    return [float(covered_if_broken(np.random.default_rng(1), REPETITIONS, clustered=clustered).mean())]


CELLS: dict[str, Callable[[], list[float]]] = {
    **{f"coverage, {name}": partial(_coverage, signal) for name, signal in SIGNALS.items()},
    **{f"sparse, {name}": partial(_at_sparse, signal) for name, signal in SPARSE.items()},
    "broken, every other task 3 times as noisy, and x 3 times as spread": partial(_broken, False),
    "broken, rows of a task share half a standard deviation of noise, and a part of x": partial(_broken, True),
    **{f"size, {name}": partial(_size, task) for name, task in TASKS.items()},
}


def _percent(column: dict[str, list[float]], name: str, place: int = 0) -> str:
    return f"{100.0 * column[name][place]:.1f} %"


def tables() -> Iterator[str]:
    """Yield the lines of both tables."""
    before, after = (json.loads(RESULTS.read_text(encoding="utf-8"))[column] for column in ("before", "after"))
    for begin, head in (
        ("coverage, ", "95 % intervals with a learned prior | slopes before | slopes after | mean response before"),
        ("sparse, ", "at a fixed sparse w, n = 45 | large slope before | large slope after | all slopes before"),
    ):
        yield f"| {head} | after |"
        yield "|---|---:|---:|---:|---:|"
        for name in (name for name in CELLS if name.startswith(begin)):
            cells = (_percent(side, name, i) for i in (0, 1) for side in (before, after))
            yield f"| {name.removeprefix(begin)} | {' | '.join(cells)} |"
        yield ""
    yield "| classical 95 % intervals of a slope if the rows are not as assumed, 10 tasks of 20 rows | coverage |"
    yield "|---|---:|"
    for name in (name for name in CELLS if name.startswith("broken, ")):
        yield f"| {name[8:]} | {_percent(after, name)} |"
    yield ""
    yield "| `compare`: how often p < 0.05 for a task that shares the parameter | before | after |"
    yield "|---|---:|---:|"
    for name in (name for name in CELLS if name.startswith("size, ")):
        yield f"| {name[6:]} | {_percent(before, name)} | {_percent(after, name)} |"


def main() -> None:
    """Measure all cells, or those whose names begin as asked, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cells", nargs="*", default=[""], help=f"of: {', '.join(CELLS)}")
    add_worker_options(parser)
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    found = dict(sweep({name: cell for name, cell in CELLS.items() if name.startswith(tuple(options.cells))}, options))
    after = results["after"] | found
    results["after"] = {name: after[name] for name in CELLS if name in after}
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    start, end = "<!-- intervals: made by `make retrospect` -->\n", "<!-- end of intervals -->\n"
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(start)
    lines = "".join(f"{line}\n" for line in tables())
    PAGE.write_text(before + start + lines + end + rest.partition(end)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
