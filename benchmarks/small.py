"""One row at a time, two threads against one, and float32 input: each by the median of interleaved pairs."""

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.bars import KINDS, NO_SLOWER, ONE_ROW, verdict
from benchmarks.contenders import N_TASKS, SGD, Cell, Estimator, Task, make_tasks, makers, sgd
from benchmarks.speed import learn
from benchmarks.tables import number, table
from benchmarks.timing import Plan, clock, interleave, paired_ratio
from benchmarks.workers import worker

ROWS, ROW_FEATURES = 500, 50
PAIR_SIZE = (150, 200)
FLOAT32_SIZES = ((150, 200), (2000, 200), (50_000, 100))
ROUNDS_OF_PAIRS = 2


@dataclass(frozen=True)
class Comparison:
    """The same work done in two ways, in seconds; `ratio` is the first's to the second's."""

    what: str
    kind: str
    first: list[float]
    second: list[float]
    at_most: float
    note: str = ""

    @property
    def ratio(self) -> float:
        """The median of paired ratios."""
        return paired_ratio(self.first, self.second)

    def record(self) -> dict[str, Any]:
        """Return the samples as plain data."""
        return asdict(self)


def one_row(plan: Plan) -> list[Comparison]:
    """Compare rows learned one at a time with SGDRegressor's, in this process."""
    ((X, y),) = make_tasks(ROWS, ROW_FEATURES, 1)
    rows = [(X[i : i + 1], y[i : i + 1]) for i in range(ROWS)]
    known = makers(Cell(1, ROW_FEATURES, n_tasks=ROWS))
    contenders = {kind: known[kind] for kind in KINDS} | {SGD: lambda: Estimator(sgd(ROW_FEATURES))}
    seconds = interleave({name: _timed(make, rows) for name, make in contenders.items()}, plan)
    theirs = seconds[SGD]
    return [
        Comparison(
            f"one row at a time, p = {ROW_FEATURES}: against SGDRegressor.partial_fit",
            kind,
            seconds[kind],
            theirs,
            ONE_ROW,
            f"{ROWS / np.median(seconds[kind]):,.0f} rows/s, SGD {ROWS / np.median(theirs):,.0f}",
        )
        for kind in KINDS
    ]


def float32(n_samples: int, n_features: int, plan: Plan) -> list[Comparison]:
    """Compare float32 input with the same numbers as float64, in this process: the time, and every digit."""
    narrow: list[Any] = [(X.astype(np.float32), y.astype(np.float32)) for X, y in make_tasks(n_samples, n_features)]
    wide = [(X.astype(np.float64), y.astype(np.float64)) for X, y in narrow]
    compared = []
    for kind in KINDS:
        make = makers(Cell(n_samples, n_features))[kind]
        same = np.array_equal(np.asarray(learn(make, narrow, every=False)), np.asarray(learn(make, wide, every=False)))
        seconds = interleave({"float32": _timed(make, narrow), "float64": _timed(make, wide)}, plan)
        compared.append(
            Comparison(
                f"float32 input against float64, ({n_samples}, {n_features})",
                kind,
                seconds["float32"],
                seconds["float64"],
                NO_SLOWER,
                "the same digits" if same else "OTHER DIGITS",
            )
        )
    return compared


def two_threads(plan: Plan) -> list[Comparison]:
    """Compare two threads with one: two processes that hold the same arrays, asked in turn."""
    compared = []
    with worker(1) as one, worker(2) as two:
        for kind in KINDS:
            passes = {name: _elsewhere(pool, kind) for name, pool in (("two", two), ("one", one))}
            for warm_up in passes.values():
                warm_up()
            seconds = interleave(passes, plan)
            what = f"two threads against one, {PAIR_SIZE}"
            compared.append(Comparison(what, kind, seconds["two"], seconds["one"], NO_SLOWER))
    return compared


def measured(plan: Plan) -> list[Comparison]:
    """Make all comparisons, in processes of their own."""
    plan = plan._replace(seconds=plan.seconds / 1.5, most=ROUNDS_OF_PAIRS * plan.most)
    print("small: one row at a time", file=sys.stderr, flush=True)
    with worker(2) as pool:
        compared = pool.submit(one_row, plan).result()
        for n, p in FLOAT32_SIZES:
            print(f"small: float32, ({n}, {p})", file=sys.stderr, flush=True)
            compared += pool.submit(float32, n, p, plan).result()
    print("small: two threads against one", file=sys.stderr, flush=True)
    return compared + two_threads(plan)


def small_table(compared: list[Comparison]) -> list[str]:
    """Return the table of comparisons."""
    header = ["what", "kind", "pairs", "ratio", "bar", "verdict", "note"]
    rows = [
        [c.what, c.kind, str(len(c.first)), number(c.ratio), f"{c.at_most:g}", verdict(c.ratio, c.at_most), c.note]
        for c in compared
    ]
    return table(header, rows)


def _timed(make: Callable[[], Any], tasks: list[Task]) -> Callable[[], float]:
    learn(make, tasks[:N_TASKS], every=False)
    return lambda: clock(lambda: learn(make, tasks, every=False))


def _elsewhere(pool: ProcessPoolExecutor, kind: str) -> Callable[[], float]:
    return lambda: pool.submit(_small_pass, kind).result()


def _small_pass(kind: str) -> float:
    make = makers(Cell(*PAIR_SIZE))[kind]
    tasks = make_tasks(*PAIR_SIZE)
    return clock(lambda: learn(make, tasks, every=False))
