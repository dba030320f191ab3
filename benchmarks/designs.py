"""Random designs that are hard to give a rank, against extended precision.

`python -m benchmarks.designs` learns 20,000 designs with columns that are nearly constant, nearly zero or nearly equal,
of any scale and offset, in one task or several. The coefficients of the other columns must be those of the design, or
of the design without some of the columns concerned, to 1e4·eps·κ and to four digits; otherwise there must be a warning.
The exit status is 1 if that fails, if more than 1 % of clean designs warn, or if a rule that is broken on purpose is
not caught.
"""

import argparse
import itertools
import multiprocessing
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from benchmarks.extended import Array, Problem, solved
from ridgeway import GeneralizedRidge, MinimumNorm, Oracle, weights
from ridgeway.errors import PrecisionWarning
from ridgeway.linalg import EPS, Solution, tolerance

N_DESIGNS = 20_000
N_CONTROL = 400
MOST_FEATURES = 60
MOST_TASKS = 10
ROOM = 1e4
"""The error that is allowed, in units of eps·κ (κ² for `moments`)."""
FEWEST_DIGITS = 1e-4
"""The largest error that is allowed, whatever κ is."""
MOST_CLEAN_WARNINGS = 0.01
Kind = Literal["square_root", "moments", "oracle", "minimum norm"]
KINDS = get_args(Kind)


@dataclass(frozen=True)
class Design:
    """A problem, the model that learns it, and the columns with something wrong.

    Attributes
    ----------
    kind : one of KINDS
    droppable : the columns that may be left out
    concerned : the columns whose coefficients are not compared
    clean : whether nothing is wrong, and the columns are well conditioned
    """

    problem: Problem
    kind: Kind
    n_tasks: int
    droppable: tuple[int, ...]
    concerned: tuple[int, ...]
    clean: bool


def drawn(seed: int) -> Design:
    """Draw a design."""
    rng = np.random.default_rng(seed)
    clean = bool(rng.random() < 0.25)
    p = int(np.exp(rng.uniform(0.0, np.log(MOST_FEATURES + 1))))
    few = p > 3 and rng.random() < 0.1
    n = int(rng.integers(2, p)) if few else p + 2 + int(rng.integers(0, 2 * p + 10))
    X = rng.normal(size=(n, p))
    if not clean and p > 3 and rng.random() < 0.5:  # those that are not concerned may be collinear to a degree
        X[:, 1] = X[:, 0] + 10.0 ** rng.uniform(-4.0, 0.0) * X[:, 1]
    fit_intercept = bool(rng.random() < 0.7)
    if rng.random() < 0.5 and (fit_intercept or not clean):  # without an intercept, offsets make columns collinear
        X += np.where(rng.random(p) < 0.5, 10.0 ** rng.uniform(0.0, 8.0, p), 0.0)
    spread = X.std(axis=0)
    droppable, concerned = _spoiled(X, rng, 0 if clean else int(rng.integers(1, 4)))
    scales = 10.0 ** rng.uniform(-8.0, 8.0, p) if rng.random() < 0.5 else np.ones(p)
    X *= scales
    per_unit = 1.0 / (scales * spread)[:, None]
    k = int(rng.integers(1, 3))
    y = X @ (rng.normal(size=(p, k)) * per_unit) + 10.0 ** rng.uniform(-6.0, 1.0) * rng.normal(size=(n, k))
    kind = KINDS[int(rng.choice(4, p=[0.4, 0.3, 0.15, 0.15]))]
    prior = np.zeros(p)
    if kind in KINDS[:2] and rng.random() < 0.4:
        prior = np.full(p, 10.0 ** rng.uniform(-8.0, 2.0))
    start = rng.normal(size=(p, k)) * per_unit if rng.random() < 0.3 else np.zeros((p, k))
    weight = rng.uniform(0.2, 3.0, n) if rng.random() < 0.3 else np.ones(n)
    problem = Problem(X, y, weight, fit_intercept, prior, start)
    n_tasks = 1 if kind == "minimum norm" else int(rng.integers(1, min(n, MOST_TASKS) + 1))
    return Design(problem, kind, n_tasks, droppable, concerned, clean)


def _spoiled(X: Array, rng: np.random.Generator, times: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Spoil columns of X; return those that may be left out, and all that are concerned."""
    droppable, concerned = set(), set()
    n, p = X.shape
    for j in rng.permutation(p)[:times].tolist():
        droppable.add(j)
        concerned.add(j)
        pattern = (rng.choice([-1.0, 1.0], n), rng.normal(size=n), np.cumsum(rng.normal(size=n)))[rng.integers(3)]
        match rng.integers(3):
            case 0:  # nearly constant
                X[:, j] = 1.0 + 10.0 ** rng.uniform(-17.0, -9.0) * pattern
            case 1:  # nearly zero
                X[:, j] = 10.0 ** rng.uniform(-140.0, -10.0) * pattern
            case _:  # nearly equal to another one
                i = int(rng.integers(p))
                X[:, j] = X[:, i] * (1.0 + 10.0 ** rng.uniform(-17.0, -5.0) * pattern)
                concerned.add(i)
    return tuple(droppable), tuple(concerned)


def learned(design: Design) -> tuple[Array, bool]:
    """Return the coefficients of the model, (p, k), and whether it warned."""
    problem = design.problem
    shared: dict[str, Any] = {"fit_intercept": problem.fit_intercept, "initial_coef": problem.start.T}
    model: Any
    if design.kind == "oracle":
        model = Oracle(**shared)
    elif design.kind == "minimum norm":
        model = MinimumNorm(**shared)
    else:
        model = GeneralizedRidge(weights.Accumulated(prior=problem.prior), information=design.kind, **shared)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrecisionWarning)
        for rows in np.array_split(np.arange(len(problem.X)), design.n_tasks):
            model.partial_fit(problem.X[rows], problem.y[rows], problem.weight[rows])
        coef = model.coef_.T
    return coef, bool(caught)


def keeps_its_digits(design: Design, coef: Array) -> bool:
    """Return whether the coefficients that are not concerned are right, with some of the others left out or none."""
    p = design.problem.X.shape[1]
    rest = np.setdiff1d(np.arange(p), design.concerned)
    for count in range(len(design.droppable) + 1):
        for left_out in itertools.combinations(design.droppable, count):
            kept = np.setdiff1d(np.arange(p), left_out)
            if _agrees(design, coef, kept, rest):
                return True
    return False


def _agrees(design: Design, coef: Array, kept: NDArray[np.intp], rest: NDArray[np.intp]) -> bool:
    reference = solved(design.problem.only(kept)) if len(kept) else None
    if reference is None:
        return len(rest) == 0
    allowed = min(ROOM * EPS * reference.condition ** (2 if design.kind == "moments" else 1), FEWEST_DIGITS)
    where = np.searchsorted(kept, rest)
    error = reference.norms[where, None] * np.abs(coef[rest] - reference.coef[where])
    return bool((error <= allowed * reference.size).all())


def judged(seed: int) -> Counter[str]:
    """Learn one design, and count what came of it."""
    design = drawn(seed)
    coef, warned = learned(design)
    right = keeps_its_digits(design, coef)
    found = Counter({"designs": 1, design.kind: 1, "warned": warned, "warned, digits kept": warned and right})
    found["clean"] = design.clean
    found["clean, warned"] = design.clean and warned
    found["silent failures"] = not (right or warned)
    return found


def run(seeds: range, lanes: int = 1) -> Counter[str]:
    """Judge the designs of these seeds; print those that fail silently."""
    total: Counter[str] = Counter()
    with multiprocessing.get_context("spawn").Pool(lanes) if lanes > 1 else _here() as pool:
        for seed, found in zip(seeds, pool.imap(judged, seeds, 50), strict=True):
            total.update(found)
            if found["silent failures"]:
                print(f"silent failure: seed {seed}, {drawn(seed).kind}", flush=True)
    return total


class _Here:
    """A pool of no processes."""

    def imap(self, function: Callable[[int], Counter[str]], seeds: range, _: int) -> Iterator[Counter[str]]:
        """Call the function here, one seed after another."""
        return map(function, seeds)


@contextmanager
def _here() -> Iterator[_Here]:
    yield _Here()


def _former_rule(R: Array, rhs: Array, *, size: int, offset: Any = 0.0) -> Solution:
    """Decide the rank on columns scaled to unit norm after centring, however much of them is rounding."""
    norms = np.sqrt(np.square(R).sum(axis=0))
    scale = np.where(norms > EPS * np.asarray(offset), norms, np.inf)
    U, s, Vt = np.linalg.svd(R / scale)
    magnified = np.sqrt(np.square(Vt * np.hypot(1.0, offset / scale)).sum(axis=1))
    counts = s > tolerance(size) * s[0] * magnified
    return Solution(
        (Vt.T[:, counts] @ ((U.T @ rhs)[counts] / s[counts, None])) / scale[:, None], int(counts.sum()), 1.0
    )


CONTROLS = {
    "rank on columns of unit norm": ("ridgeway.information._square_root.solve_triangle", _former_rule),
    "no warning": ("ridgeway.weights._states.warn_of_lost_digits", lambda *_: None),
}


def caught(name: str, seeds: range) -> int:
    """Return how many silent failures there are with a rule that is broken on purpose."""
    with mock.patch(*CONTROLS[name]):
        return sum(judged(seed)["silent failures"] for seed in seeds)


def main() -> int:
    """Run the campaign and its controls."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.designs", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--designs", type=int, default=N_DESIGNS, help="how many designs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--lanes", type=int, default=os.cpu_count() or 1, help="number of parallel processes")
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for the processes that this one starts
    begin = time.perf_counter()
    total = run(range(options.first, options.first + options.designs), options.lanes)
    for name, number in total.items():
        print(f"{name}: {number:,}")
    controls = {name: caught(name, range(N_CONTROL)) for name in CONTROLS}
    for name, number in controls.items():
        print(f"control, {name}: {number:,} of {N_CONTROL:,} fail silently")
    print(f"{time.perf_counter() - begin:.0f} s")
    holds = not total["silent failures"] and total["clean, warned"] <= MOST_CLEAN_WARNINGS * total["clean"]
    return 0 if holds and all(controls.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
