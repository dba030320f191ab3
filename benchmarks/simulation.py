"""The simulation lab against a plain NumPy loop, exact averages against drawn ones, and statistics against rows.

`python -m benchmarks.simulation` (a minute or two; `--full` runs the whole plain loop, many minutes). Tables go to the
terminal and into docs/simulation.md, between its marks.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
from joblib.externals.loky import get_reusable_executor
from numpy.typing import NDArray

import ridgeway.cli
from benchmarks.tables import number, table
from ridgeway.research import simulation
from ridgeway.research.simulation import REPRODUCED, Setting

Array = NDArray[np.float64]

PAGE = Path("docs") / "simulation.md"
BEGIN, END = "<!-- run -->\n", "<!-- end -->"
REPETITIONS, SAMPLE = 100, 4
"""Repetitions of `ridgeway reproduce`, and those of the plain loop in the short run."""
DESIGNS, GRID = 4, np.geomspace(1e-3, 1e2, 20)
"""Designs and penalties among which the plain loop chooses λ_t for `crr:best`."""
N_TASKS, N_SAMPLES, N_FEATURES = 20, 150, 200
BANDS, BAND_METHODS = 24, ("mn", "crr:1", "crr:best", "crr:max", "gr", "gr:optimal", "gr:diagonal", "es", "oracle")
BARS = {"mn": 4.0, "crr:1": 20.0, "gr": 20.0}


def plain_best(rng: np.random.Generator, designs: int, *, shift: str, noise_variance: float) -> list[float]:
    """Choose λ_t for `crr:best`: for each of a grid the expected error over a few designs, in p × p matrices."""
    n, identity = N_SAMPLES, np.eye(N_FEATURES)
    moments, chosen = [identity] * designs, []
    for _ in range(N_TASKS):
        rows = [plain_rows(rng, plain_scales(rng, shift)) for _ in range(designs)]
        found = []
        for penalty in GRID:
            after = []
            for X, moment in zip(rows, moments, strict=True):
                gain = np.linalg.solve(X.T @ X + n * penalty * identity, X.T)
                left = identity - gain @ X
                after.append(left @ moment @ left.T + noise_variance * gain @ gain.T)
            found.append((sum(float(np.trace(moment)) for moment in after), penalty, after))
        _, best, moments = min(found, key=lambda entry: entry[0])
        chosen.append(float(best))
    return chosen


def plain_scales(rng: np.random.Generator, shift: str) -> Array:
    """Draw the standard deviations of one task's columns."""
    if shift == "none":
        return np.ones(N_FEATURES)
    return np.where(rng.random(N_FEATURES) < 0.01, 10.0, 1.0) / (10.0 if shift == "scaled" else 1.0)


def plain_rows(rng: np.random.Generator, scales: Array) -> Array:
    """Draw one task's rows."""
    return rng.normal(size=(N_SAMPLES, N_FEATURES)) * scales


def plain_repetition(
    rng: np.random.Generator, best: Sequence[float], *, shift: str, noise_variance: float
) -> dict[str, float]:
    """Return ‖ŵ_T − w_*‖² of all methods in one repetition, as one would write it with pinv and solve.

    pinv wherever a system may be singular: minimum norm, H̃ and the oracle, which at the first task have fewer rows
    than features.
    """
    n, p = N_SAMPLES, N_FEATURES
    w_star = rng.normal(size=p)
    identity = np.eye(p)
    estimates = {method: np.zeros(p) for method in methods_of(shift)}
    information, moment, expected = np.zeros((p, p)), np.zeros(p), np.zeros(p)
    for t in range(N_TASKS):
        scales = plain_scales(rng, shift)
        X = plain_rows(rng, scales)
        y = X @ w_star + np.sqrt(noise_variance) * rng.normal(size=n)
        penalties = {
            "crr:t-1": float(t),
            "crr:best": best[t],
            "crr:trace": np.trace(information) / p / n,
            "crr:max": max(np.linalg.eigvalsh(information)[-1], 0.0) / n,
            "crr:task-max": np.linalg.eigvalsh(X.T @ X)[-1] / n,
            "crr:lambda-max": (noise_variance + expected.max()) / n,
        }
        for method, w in estimates.items():
            residual = y - X @ w
            if method.startswith("crr"):
                penalty = penalties[method] if method in penalties else float(method[4:])
                weights = n * penalty * identity
            else:
                weights = {
                    "gr:optimal": information + noise_variance * identity,
                    "gr:diagonal": np.diag(np.diag(information)),
                }.get(method, 0.0 * identity)
            if method == "oracle":
                estimates[method] = np.linalg.pinv(information + X.T @ X) @ (moment + X.T @ y)
            elif method == "gr":
                estimates[method] = w + np.linalg.pinv(X.T @ X + information) @ (X.T @ residual)
            elif method == "es":
                rate = 1.0 / np.linalg.eigvalsh(X.T @ X / n)[-1]
                for _ in range(100):
                    w = w - rate / n * (X.T @ (X @ w - y))
                estimates[method] = w
            elif weights.any():
                estimates[method] = w + np.linalg.solve(X.T @ X + weights, X.T @ residual)
            else:
                estimates[method] = w + np.linalg.pinv(X) @ residual
        information, moment, expected = information + X.T @ X, moment + X.T @ y, expected + n * scales**2
    return {method: float(np.square(w - w_star).sum()) for method, w in estimates.items()}


def methods_of(shift: str) -> tuple[str, ...]:
    """Return the methods that `ridgeway reproduce` runs under a shift."""
    return ("crr:1",) if shift == "scaled" else REPRODUCED


def reproduce(folder: str) -> None:
    """Run the command, with two workers; in a process of its own, so that its imports and its workers count."""
    sys.argv = ["ridgeway", "reproduce", "--out", folder, "--workers", "2"]
    try:
        ridgeway.cli.main()
    finally:
        get_reusable_executor().shutdown()  # else this process waits for workers that wait for work


def reproduction_table(*, full: bool) -> list[str]:
    """Time `ridgeway reproduce`, from the start of its process to its end, and the plain loop."""
    with tempfile.TemporaryDirectory() as place:
        process = multiprocessing.get_context("spawn").Process(target=reproduce, args=(f"{place}/r",))
        begin = time.perf_counter()
        process.start()
        process.join()
        ours = time.perf_counter() - begin
    if process.exitcode:
        raise SystemExit(process.exitcode)
    count, designs = (REPETITIONS, DESIGNS) if full else (SAMPLE, 1)
    rng = np.random.default_rng(0)
    theirs = 0.0
    for shift, noise_variance in product(("none", "paper", "scaled"), (1.0, 5.0)):
        begin = time.perf_counter()
        best = [0.0] * N_TASKS
        if "crr:best" in methods_of(shift):
            best = plain_best(rng, designs, shift=shift, noise_variance=noise_variance)
        between = time.perf_counter()
        for _ in range(count):
            plain_repetition(rng, best, shift=shift, noise_variance=noise_variance)
        theirs += (between - begin) * DESIGNS / designs + (time.perf_counter() - between) * REPETITIONS / count
    scaled = "" if full else f", {count} of {REPETITIONS} repetitions timed and scaled up"
    rows = [
        [
            f"`ridgeway reproduce`, {len(REPRODUCED)} methods (1 under the scaled shift), figures and all",
            number(ours),
            "20",
            _verdict(ours < 20.0),
        ],
        [f"plain NumPy loop, the same methods{scaled}", number(theirs), "", ""],
        ["ratio", number(theirs / ours), "20", _verdict(theirs / ours >= 20.0)],
    ]
    return table(["6 settings × 100 repetitions × 20 tasks", "seconds", "bar", "verdict"], rows)


def band_table() -> list[str]:
    """Compare the standard errors at the last task of exact averages and of drawn noise."""
    setting = Setting()
    runs, times = {}, {}
    for averaging in ("drawn", "exact"):
        simulation.run(setting, BAND_METHODS, 2, 99, 2, averaging=averaging)  # workers are there, λ_t is known
        begin = time.perf_counter()
        runs[averaging] = simulation.run(setting, BAND_METHODS, BANDS, 99, 2, averaging=averaging)
        times[averaging] = time.perf_counter() - begin
    longer = np.sqrt(times["exact"] / times["drawn"])
    rows = []
    for method in BAND_METHODS:
        spreads = [float(run.of(method)[:, -1].std(ddof=1)) / np.sqrt(BANDS) for run in runs.values()]
        ratio = spreads[0] / spreads[1]
        bar = BARS.get(method)
        met = ratio / longer > 1.0 and (bar is None or ratio >= bar)
        rows.append(
            [f"`{method}`", *(f"{spread:.2g}" for spread in spreads), number(ratio), "" if bar is None else f"{bar:g}",
             number(ratio / longer), _verdict(met)]
        )  # fmt: skip
    heading = f"σ² = 1, no shift, {BANDS} repetitions"
    lines = table([heading, "drawn", "exact", "narrower", "bar", "at equal time (bar: 1)", "verdict"], rows)
    return [*lines, "", f"Drawn took {times['drawn']:.1f} s, exact {times['exact']:.1f} s."]


def statistics_table() -> list[str]:
    """Compare drawing rows with drawing their sufficient statistics."""
    lapse = {}
    for statistics in (False, True):
        setting = Setting(10, 2000, 200, statistics=statistics)
        simulation.run(setting, "gr,oracle", 1, averaging="drawn")
        begin = time.perf_counter()
        simulation.run(setting, "gr,oracle", 8, averaging="drawn")
        lapse[statistics] = time.perf_counter() - begin
    rows = [["rows", number(lapse[False]), ""], ["statistics", number(lapse[True]), number(lapse[False] / lapse[True])]]
    return table(["10 tasks, n = 2000, p = 200, 8 repetitions", "seconds", "faster"], rows)


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulation", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--full", action="store_true", help="run all repetitions of the plain loop")
    full = parser.parse_args().full
    lines = [*reproduction_table(full=full), "", *band_table(), "", *statistics_table()]
    print("\n".join(lines))
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
