"""Time per task on tables of pandas, without an intercept, beside river: `python -m benchmarks.frames`.

Both learn the same DataFrames in the same process, in turn, on one core. CPU time, so that other work on the machine
counts little; coefficients are asked for at the end.
"""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from river.linear_model import BayesianLinearRegression

from benchmarks.tables import number, table
from benchmarks.workers import alone
from ridgeway import GeneralizedRidge
from ridgeway.data import InformationKind

Frames = list[tuple[pd.DataFrame, pd.Series]]

SIZES = ((100, 20), (2000, 20), (27_000, 20), (200_000, 10), (2000, 200), (50_000, 100))
N_TASKS, ROUNDS = 10, 15


def frames(n: int, p: int) -> Frames:
    """Return the tasks of a size."""
    rng, names = np.random.default_rng(0), [f"x{j}" for j in range(p)]
    return [
        (pd.DataFrame(rng.normal(size=(n, p)), columns=names), pd.Series(rng.normal(size=n))) for _ in range(N_TASKS)
    ]


def river(tasks: Frames) -> None:
    """Learn the tasks, and solve: one prediction is the cheapest way to make it."""
    model = BayesianLinearRegression()
    for X, y in tasks:
        model.learn_many(X, y)
    model.predict_many(tasks[0][0].iloc[:1])


def ridgeway(kind: InformationKind, tasks: Frames) -> None:
    """Learn the tasks, and solve."""
    model = GeneralizedRidge(information=kind, fit_intercept=False)
    for X, y in tasks:
        model.partial_fit(X, y)
    np.asarray(model.coef_)


LEARNERS: dict[str, Callable[[Frames], None]] = {
    "river": river,
    "moments": partial(ridgeway, "moments"),
    "square_root": partial(ridgeway, "square_root"),
}


def measured() -> list[list[str]]:
    """Return a row for every size: milliseconds per task and, in brackets, the median ratio to river."""
    rows = []
    for n, p in SIZES:
        tasks = frames(n, p)
        samples: dict[str, list[float]] = {name: [] for name in LEARNERS}
        for turn in range(-1, ROUNDS):
            for place in np.roll(range(len(LEARNERS)), turn):
                name = list(LEARNERS)[place]
                begin = time.process_time()
                LEARNERS[name](tasks)
                if turn >= 0:  # the first round warms up
                    samples[name].append(time.process_time() - begin)
        times = {name: np.array(found) for name, found in samples.items()}
        cells = [number(1e3 * float(np.median(times["river"])) / N_TASKS)]
        for name in ("moments", "square_root"):
            ratio = float(np.median(times[name] / times["river"]))
            cells.append(f"{number(1e3 * float(np.median(times[name])) / N_TASKS)} ({ratio:.2f})")
        rows.append([f"({n}, {p})", *cells])
    return rows


if __name__ == "__main__":
    print("\n".join(table(["(n, p)", "river", "moments", "square_root"], alone(1, measured))))
