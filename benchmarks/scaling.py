"""Time per task against the number of rows and of features, with the exponents that the times follow."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.bars import KINDS
from benchmarks.contenders import PEER, Cell, make_tasks, makers
from benchmarks.tables import number, table
from benchmarks.timing import Plan, clock, interleave
from benchmarks.workers import worker

NAMES = (*KINDS, PEER)
FEATURES, SAMPLES = 100, 200
ALL_N = (100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
ALL_P = (50, 100, 200, 500, 1000, 2000, 4000, 8000)
SHORT_MOST_N, SHORT_MOST_P = 100_000, 2000
# Below these sizes the fixed cost of a call shows; the exponent is fitted from here on.
FIT_FROM = {"n": 10_000, "p": 500}
AXES = {"n": f"rows n of a task (p = {FEATURES})", "p": f"features p (n = {SAMPLES})"}


@dataclass(frozen=True)
class Point:
    """The seconds that one task takes, once the model has learned one, without asking for coefficients."""

    axis: str
    size: int
    seconds: dict[str, list[float]]

    def median(self, name: str) -> float:
        """Return a contender's median seconds."""
        return float(np.median(self.seconds[name]))

    def record(self) -> dict[str, Any]:
        """Return the samples as plain data."""
        return asdict(self)


def measure(axis: str, size: int, plan: Plan) -> Point:
    """Measure one size in this process."""
    n, p = (size, FEATURES) if axis == "n" else (SAMPLES, size)
    ((X, y),) = make_tasks(n, p, 1)
    known = makers(Cell(n, p))
    models = {name: known[name]() for name in NAMES}
    for model in models.values():
        model.learn(X, y)
    passes = {name: (lambda model=model: clock(lambda: model.learn(X, y))) for name, model in models.items()}
    return Point(axis, size, interleave(passes, plan))


def measured(plan: Plan, *, full: bool) -> list[Point]:
    """Measure all sizes, in a process of their own with two cores."""
    plan = plan._replace(seconds=plan.seconds / 5)
    sizes = [("n", n) for n in ALL_N if full or n <= SHORT_MOST_N]
    sizes += [("p", p) for p in ALL_P if full or p <= SHORT_MOST_P]
    points = []
    with worker(2) as pool:
        for axis, size in sizes:
            print(f"scaling: {axis} = {size}", file=sys.stderr, flush=True)
            points.append(pool.submit(measure, axis, size, plan).result())
    return points


def exponent(points: Sequence[Point], axis: str, name: str) -> float:
    """Return the slope of log time over log size, fitted where the fixed cost no longer shows."""
    chosen = [point for point in points if point.axis == axis and point.size >= FIT_FROM[axis]]
    sizes, times = np.log([p.size for p in chosen]), np.log([p.median(name) for p in chosen])
    return float(np.polyfit(sizes, times, 1)[0])


def scaling_table(points: Sequence[Point], axis: str) -> list[str]:
    """Return the times along an axis, and the exponent from each size to the next in brackets."""
    chosen = [point for point in points if point.axis == axis]
    rows = []
    for before, point in zip([None, *chosen[:-1]], chosen, strict=True):
        cells = [f"{number(1e3 * point.median(name))} ({_step(before, point, name)})" for name in NAMES]
        rows.append([f"{point.size:,}", *cells])
    fitted = [f"{exponent(points, axis, name):.2f}" for name in NAMES]
    rows.append([f"fitted from {axis} = {FIT_FROM[axis]:,}", *fitted])
    return table([f"{axis}", *(f"{name} (ms)" for name in NAMES)], rows)


def _step(before: Point | None, point: Point, name: str) -> str:
    if before is None:
        return "–"
    return f"{np.log(point.median(name) / before.median(name)) / np.log(point.size / before.size):.2f}"
