"""The benchmarks: `python -m benchmarks` (a few minutes) or `python -m benchmarks --full`.

Tables go to the terminal and into docs/benchmarks.md, between its marks; raw samples into build/bench/samples.json;
pictures into docs/images/. One cell alone: `python -m benchmarks.speed --help`.
"""

import argparse
import json
import os
import platform
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from threadpoolctl import ThreadpoolController

from benchmarks import floor, memory, scaling, small, speed, store
from benchmarks.bars import KINDS
from benchmarks.contenders import PEER, Cell
from benchmarks.timing import FULL, SHORT

SAMPLES = Path("build") / "bench" / "samples.json"
PAGE, IMAGES = Path("docs") / "benchmarks.md", Path("docs") / "images"
BEGIN, END = "<!-- run -->\n", "<!-- end -->"
PACKAGES = ("ridgeway", "numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "river", "torch")
# In the short version, sizes with more operations a task (n·p²) are measured with two threads only, and without those
# contenders that have no bar.
SHORT_MOST_OPERATIONS = 1e8


def machine(load: float) -> list[str]:
    """Return what was measured where: versions, date, processor."""
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} not installed")
    found_blas = ThreadpoolController().select(internal_api="openblas").info()
    blas = [f"{library['version']} with {library['architecture']} kernels" for library in found_blas]
    chosen = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith("OPENBLAS_") and value)
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cpu = names[0] if names else platform.processor()
    return [
        f"Measured on {datetime.now(UTC):%d %B %Y}, {os.cpu_count()} cores of {cpu}, load average {load:.1f} before",
        f"the run (0 is a quiet machine). Python {platform.python_version()}, {', '.join(found)}.",
        f"OpenBLAS of NumPy and SciPy: {', '.join(blas)}; set by the environment: {', '.join(chosen) or 'nothing'}.",
    ]


def speed_sections(full: bool, floors: list[floor.Floor]) -> tuple[dict[str, list[str]], list[speed.Result]]:
    """Measure the tables of ratios; return them by title, and all results, those with bars and an intercept first."""
    plan = FULL if full else SHORT
    most = float("inf") if full else SHORT_MOST_OPERATIONS
    wanted = {
        f"Time relative to {PEER}, 2 threads": speed.cells(threads=2),
        f"Time relative to {PEER}, 1 thread": speed.cells(threads=1, most=most),
    }
    if full:
        wanted[f"Time relative to {PEER}, no intercept, 2 threads"] = speed.cells(threads=2, fit_intercept=False)

    def only(cell: Cell) -> tuple[str, ...]:
        return KINDS if cell.n_samples * cell.n_features**2 > most else ()

    sections, results = {}, []
    for title, cells in wanted.items():
        measured = speed.measured(cells, plan, only)
        sections[title] = speed.speed_table(measured, floors)
        results += measured
    return sections, results


def write_page(lines: list[str]) -> None:
    """Put the run between the marks of the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + rest.partition(END)[2])


def main() -> None:
    """Measure everything; print, store, draw, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--full", action="store_true", help="more rounds, all sizes, and without an intercept too")
    full = parser.parse_args().full
    begin, load, plan = time.perf_counter(), os.getloadavg()[0], FULL if full else SHORT
    # Memory comes first: a process inherits the peak of the one that starts it.
    uses = memory.measured(full=full)
    files = store.measured(full=full)
    floors = [floor.measured(threads) for threads in (1, 2)]
    sections, results = speed_sections(full, floors)
    compared = small.measured(plan)
    points = scaling.measured(plan, full=full)
    sections["The same work in two ways"] = small.small_table(compared)
    sections["Memory"] = memory.memory_table(uses)
    sections["The state file"] = store.store_table(files)
    sections["The machine's floor"] = floor.floor_table(floors)
    for axis, words in scaling.AXES.items():
        sections[f"Time per task against {words}"] = scaling.scaling_table(points, axis)
    minutes = (time.perf_counter() - begin) / 60
    kind = "The full run" if full else "The short run (`make bench FULL=1` is the full one)"
    head = [*machine(load), f"{kind} took {minutes:.1f} minutes."]
    body = [line for title, lines in sections.items() for line in ("", f"### {title}", "", *lines)]
    print("\n".join(head + body))
    SAMPLES.parent.mkdir(parents=True, exist_ok=True)
    records = {
        "speed": [result.record() for result in results],
        "small": [comparison.record() for comparison in compared],
        "memory": [use.record() for use in uses],
        "store": [it.record() for it in files],
        "floor": [rates.record() for rates in floors],
        "scaling": [point.record() for point in points],
    }
    SAMPLES.write_text(json.dumps({"head": head, **records}, indent=1))
    draw(results, points)
    write_page(head + body)


def draw(results: list[speed.Result], points: list[scaling.Point]) -> None:
    """Draw the pictures. matplotlib is imported here, after the memory of other processes has been measured."""
    from benchmarks import plots

    plots.draw_ratios([r for r in results if r.cell.threads == 2 and r.cell.fit_intercept], IMAGES / "bench-ratios.png")
    plots.draw_scaling(points, IMAGES / "bench-scaling.png")


if __name__ == "__main__":
    main()
