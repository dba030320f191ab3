"""Twenty tasks, one after another: time relative to scikit-learn-intelex in the same run.

One cell again, in seconds, while tuning (the options are those of `--help`):

    python -m benchmarks.speed --quick-cell 150 200
    python -m benchmarks.speed --quick-cell 1000 2000 --coefficients every --only moments --rounds 3
    python -m benchmarks.speed --quick-cell 50000 100 --threads 1 --no-intercept

Every round takes the contenders in turn on the same arrays, after one warm-up each; a ratio is the median over rounds
of contender/peer. Look at ratios: under a foreign load times mean little, and with few rounds the ratios too.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from benchmarks.bars import KINDS, SPEED, SPEED_THREADS, speed_bar, verdict
from benchmarks.contenders import PEER, Array, Cell, Contender, Task, make_tasks, makers
from benchmarks.floor import Floor, lowest_seconds
from benchmarks.tables import number, table
from benchmarks.timing import SHORT, Plan, clock, interleave, paired_ratio
from benchmarks.workers import worker

WARM_UP_TASKS = 2


@dataclass(frozen=True)
class Result:
    """The samples of a cell, in seconds for all tasks, and how far apart the answers are (relative, largest)."""

    cell: Cell
    seconds: dict[str, list[float]]
    apart: float

    def ratio(self, name: str) -> float:
        """Return a contender's time relative to the peer's."""
        return paired_ratio(self.seconds[name], self.seconds[PEER])

    def record(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {"cell": asdict(self.cell) | {"prior": self.cell.prior}, "seconds": self.seconds, "apart": self.apart}


def cells(*, threads: int, fit_intercept: bool = True, most: float = np.inf) -> list[Cell]:
    """Return the cells of the table, those with more than `most` operations a task (n·p²) aside."""
    sizes = [(n, p) for n, p in SPEED if n * p**2 <= most]
    return [
        Cell(n, p, every=every, fit_intercept=fit_intercept, threads=threads)
        for n, p in sizes
        for every in (False, True)
    ]


def learn(make: Callable[[], Contender], tasks: Sequence[Task], *, every: bool) -> Array | None:
    """Learn the tasks and return the coefficients, asked for once at the end or after every task."""
    model, coef = make(), None
    for X, y in tasks:
        model.learn(X, y)
        if every:
            coef = model.coef()
    return coef if every else model.coef()


def measure(cell: Cell, plan: Plan, only: Sequence[str] = ()) -> Result:
    """Measure a cell in this process, which is to have the cell's number of cores."""
    tasks = make_tasks(cell.n_samples, cell.n_features, cell.n_tasks)
    coefs: dict[str, Array | None] = {}
    passes: dict[str, Callable[[], float]] = {}
    for name, make in makers(cell).items():
        if only and name not in (*only, PEER):
            continue

        def run(name: str = name, make: Callable[[], Contender] = make) -> float:
            return clock(lambda: coefs.update({name: learn(make, tasks, every=cell.every)}))

        learn(make, tasks[:WARM_UP_TASKS], every=True)
        passes[name] = run
    seconds = interleave(passes, plan, shown=passes.keys() - {*KINDS, PEER})
    return Result(cell, seconds, _apart(coefs))


def measured(cells: Sequence[Cell], plan: Plan, only: Callable[[Cell], Sequence[str]]) -> list[Result]:
    """Measure cells one after another, those of a size in a process of their own; `only` names the contenders.

    A contender may keep memory from one model to the next, but not from other sizes.
    """
    results = []
    for _, same in groupby(cells, key=lambda cell: (cell.n_samples, cell.n_features, cell.threads)):
        size = list(same)
        with worker(size[0].threads) as pool:
            for cell in size:
                print(f"speed: {cell}", file=sys.stderr, flush=True)
                results.append(pool.submit(measure, cell, plan, only(cell)).result())
    return results


def _apart(coefs: dict[str, Array | None]) -> float:
    """Return how far the exact contenders' coefficients are from the peer's: they must solve the same problem."""
    want = coefs[PEER]
    if want is None:
        raise RuntimeError(f"{PEER} has no coefficients to compare with. Check the contenders.")
    gaps = [float(np.abs(coef - want).max()) for coef in coefs.values() if coef is not None]
    return max(gaps) / float(np.abs(want).max())


def speed_table(results: Sequence[Result], floors: Sequence[Floor] = ()) -> list[str]:
    """Return the table of ratios: bars where they apply, and the other contenders beside them."""
    others = list(dict.fromkeys(name for r in results for name in r.seconds if name not in (*KINDS, PEER)))
    header = ["(n, p)", "coefficients", "prior", "rounds"]
    for kind in KINDS:
        header += [kind, "bar", "verdict"]
    header += [f"{PEER} (ms)", *(["floor (ms)"] if floors else []), *others, "apart"]
    return table(header, [_row(result, others, floors) for result in results])


def _row(result: Result, others: Sequence[str], floors: Sequence[Floor]) -> list[str]:
    cell = result.cell
    n, p = cell.n_samples, cell.n_features
    row = [f"({n}, {p})", cell.asked, f"{cell.prior:g}", str(len(result.seconds[PEER]))]
    for kind in KINDS:
        bar = speed_bar(n, p, every=cell.every, kind=kind) if cell.threads == SPEED_THREADS else None
        ratio = result.ratio(kind) if kind in result.seconds else None
        row += ["–" if ratio is None else number(ratio), "–" if bar is None else f"{bar:g}"]
        row += ["–" if bar is None or ratio is None else verdict(ratio, bar)]
    row.append(number(1e3 * float(np.median(result.seconds[PEER]))))
    if floors:
        solves = cell.n_tasks if cell.every else 1
        row.append(
            number(1e3 * lowest_seconds(floors, (n, p), threads=cell.threads, tasks=cell.n_tasks, solves=solves))
        )
    row += [number(result.ratio(name)) if name in result.seconds else "–" for name in others]
    return [*row, f"{result.apart:.0e}"]


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of a quick cell."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--quick-cell", nargs=2, type=int, metavar=("N", "P"), required=True, help="rows and features")
    parser.add_argument(
        "--coefficients", choices=("end", "every", "both"), default="both", help="when they are asked for"
    )
    parser.add_argument(
        "--threads", type=int, default=SPEED_THREADS, help="cores and BLAS threads (default %(default)s)"
    )
    parser.add_argument("--tasks", type=int, default=Cell.n_tasks, help="tasks in a pass (default %(default)s)")
    parser.add_argument("--no-intercept", action="store_true", help="fit_intercept=False on both sides")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="contenders besides the peer")
    parser.add_argument("--rounds", type=int, help="exactly so many rounds (default: as many as fit into seconds)")
    parser.add_argument("--seconds", type=float, default=SHORT.seconds, help="for each cell (default %(default)s)")
    return parser.parse_args(arguments)


def main() -> None:
    """Measure one size again."""
    options = parse()
    n, p = options.quick_cell
    cell = Cell(n, p, fit_intercept=not options.no_intercept, threads=options.threads, n_tasks=options.tasks)
    plan = Plan(options.seconds, 1, SHORT.most)
    if options.rounds:
        plan = Plan(np.inf, options.rounds, options.rounds)
    asked = {"end": (False,), "every": (True,), "both": (False, True)}[options.coefficients]
    results = measured([replace(cell, every=every) for every in asked], plan, lambda _: options.only)
    print("\n".join(speed_table(results)))


if __name__ == "__main__":
    main()
