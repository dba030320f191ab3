"""Tasks in parts: `python -m benchmarks.distributed efficiency overhead client wide kills` (each alone, or several).

Files are made in a temporary folder and deleted. Tables go to the terminal and into docs/benchmarks.md, between marks.
Run it on a quiet machine; the load average is printed with each table. `benchmarks.distributed_peers` compares.

The files of `efficiency` need 410 bytes a row: `--folder` names a disk with room for them, `--rounds` how often each
number of workers is measured, `--page` another page than docs/benchmarks.md.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, get_args

import numpy as np

from benchmarks.workers import MB, alone, peak_bytes
from ridgeway import distributed, store
from ridgeway.data import InformationKind

PAGE = Path("docs") / "benchmarks.md"
FILE_ROWS = 500_000
LEAD = {
    "efficiency": (
        "One worker of one thread against two such workers, on the same Parquet files of 500,000 rows, in turn. The "
        "times are those of `distributed.absorb`, from the first look at the files to the commit, on a cluster that is "
        "there and has imported Ridgeway; its start is a column of its own. The median of the rounds counts. "
        "Efficiency is the time of one worker, divided by twice that of two:"
    ),
    "overhead": (
        "The command with `--workers 2` against the plain command, in turn, with all that they start, import and end, "
        "on one file with one row group, so that one worker does the work. The median of the rounds counts:"
    ),
    "client": "The client's memory for few and many parts, 10 features:",
    "wide": "Many features, on two workers:",
    "kills": "A worker is killed with SIGKILL in the middle of the work:",
    "peers": "Beside dask-ml and Spark, on the same files and cores:",
}
"""The sentence above each table."""


def names_of(p: int) -> list[str]:
    """Return the names of p features."""
    return [f"x{j}" for j in range(p)]


def rows_of(rng: np.random.Generator, n_rows: int, p: int) -> dict[str, Any]:
    """Return the columns of some rows."""
    X = rng.standard_normal((n_rows, p)).T.copy()
    return dict(zip(names_of(p), X, strict=True)) | {"y": X[0] - X[-1] + rng.standard_normal(n_rows)}


def write_files(folder: Path, n_rows: int, p: int, file_rows: int = FILE_ROWS) -> str:
    """Write rows in files of the same size; return their pattern."""
    import pyarrow as pa
    from pyarrow import parquet

    for number, start in enumerate(range(0, n_rows, file_rows)):
        columns = rows_of(np.random.default_rng(number), min(file_rows, n_rows - start), p)
        parquet.write_table(pa.table(columns), folder / f"{number}.parquet", compression="none", use_dictionary=False)
    return str(folder / "*.parquet")


def made(folder: Path, p: int, kind: InformationKind = "square_root") -> store.Store:
    """Return a new state file."""
    path = Path(tempfile.mkdtemp(dir=folder)) / "state.rw"
    return store.create(path, features=names_of(p), target="y", information=kind)


def bits(state: store.Store) -> bytes:
    """Return the state as bytes."""
    arrays = state.model().to_arrays()
    return b"".join(arrays[name].tobytes() for name in sorted(arrays))


def seconds_of(function: Callable[[], object]) -> float:
    """Return how long a call takes."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def cpu_seconds(client: Any) -> float:
    """Return the processor time of the workers."""
    return float(sum(client.run(time.process_time).values()))


class Run(NamedTuple):
    """One run: seconds to start the cluster and to absorb the files, processor time of the workers, and the state."""

    start: float
    work: float
    busy: float
    state: bytes


def one_run(folder: Path, files: str, p: int, kind: InformationKind, n_workers: int) -> Run:
    """Absorb files with a new cluster."""
    state, begin = made(folder, p, kind), time.perf_counter()
    with distributed.local_client(n_workers) as client:
        client.run(__import__, "ridgeway.distributed")
        start, before = time.perf_counter() - begin, cpu_seconds(client)
        work = seconds_of(partial(distributed.absorb, state, files, "all", client=client))
        return Run(start, work, cpu_seconds(client) - before, bits(state))


def efficiency(folder: Path, n_rows: int, rounds: int) -> list[str]:
    """Measure two workers against one, in turn, with both kinds of information.

    Other processes disturb the time, and the processor time of the workers less: it shows whether they wait.
    """
    p, begin = 50, time.perf_counter()
    files = write_files(folder, n_rows, p)
    print(f"{n_rows:,} rows were written in {time.perf_counter() - begin:.0f} s.", flush=True)
    head = (
        "information",
        "rows × features",
        "1 worker",
        "2 workers",
        "efficiency",
        "start",
        "processor time",
        "same bits",
    )
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    kinds: tuple[InformationKind, ...] = get_args(InformationKind)
    for kind in kinds:
        runs: dict[int, list[Run]] = {1: [], 2: []}
        for number in range(rounds):
            for n_workers in (1, 2) if number % 2 == 0 else (2, 1):
                runs[n_workers].append(one_run(folder, files, p, kind, n_workers))
                print(f"{kind}, {n_workers} workers: {runs[n_workers][-1].work:.2f} s", flush=True)
        one, two = (median(run.work for run in each) for each in runs.values())
        start = " and ".join(f"{median(run.start for run in each):.1f} s" for each in runs.values())
        busy = " and ".join(f"{median(run.busy for run in each):.1f} s" for each in runs.values())
        same = "yes" if len({run.state for each in runs.values() for run in each}) == 1 else "no"
        shown = (f"{one:.1f} s", f"{two:.1f} s", f"{one / two / 2:.2f}", start, busy, same)
        lines.append(f"| `{kind}` | {n_rows:,} × {p} | {' | '.join(shown)} |")
    return lines


def overhead(folder: Path, rounds: int, n_rows: int = 1_000_000) -> list[str]:
    """Measure the command with two workers against the plain command, both with all that they import and start."""
    write_files(folder, n_rows, 50, n_rows)
    times: dict[str, list[float]] = {"plain": [], "--workers 2": []}
    for number in range(rounds + 1):
        for name, options in (("plain", []), ("--workers 2", ["--workers", "2"])):
            state = made(folder, 50)
            words = ["absorb", str(state.path), str(folder / "0.parquet"), "--task", str(number), *options]
            command = [sys.executable, "-c", "from ridgeway.cli import main; main()", *words]
            seconds = seconds_of(partial(subprocess.run, command, check=True, capture_output=True))
            if number:  # the first round reads modules and rows from the disk
                times[name].append(seconds)
    plain, workers = (median(each) for each in times.values())
    return [
        "| rows × features | plain | `--workers 2` | more |",
        "|---|---|---|---|",
        f"| {n_rows:,} × 50 | {plain:.1f} s | {workers:.1f} s | {workers - plain:.1f} s |",
    ]


def client_memory(folder: Path) -> list[str]:
    """Measure the memory of the client, in a process of its own, for few and many parts of the same size."""
    lines = ["| parts | rows | the client's memory before | the most it had | seconds |", "|---|---|---|---|---|"]
    for n_parts in (100, 2000):
        own = folder / str(n_parts)
        own.mkdir()
        files = write_files(own, 8192 * n_parts, 10, 8192)
        figures = alone(2, one_client, files)
        lines.append(f"| {n_parts:,} | {8192 * n_parts:,} | {figures} |")
    return lines


def one_client(files: str) -> str:
    """Absorb files with two workers; return the memory of this process before and at most, and the time."""
    sizes: list[float] = []
    with tempfile.TemporaryDirectory() as folder, distributed.local_client(2) as client:
        state = made(Path(folder), 10)
        sizes.append(resident_bytes())
        learn = partial(distributed.absorb, state, files, "all", client=client)
        seconds = seconds_of(partial(learn, progress=lambda *_: sizes.append(resident_bytes())))
        return f"{sizes[0] / MB:.0f} MB | {max(sizes) / MB:.0f} MB | {seconds:.1f} s"


def resident_bytes() -> float:
    """Return the memory that this process has resident now; its peak may be that of the process that started it."""
    return float(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def wide(folder: Path, p: int, n_rows: int) -> list[str]:
    """Measure many features on two workers."""
    files, state = write_files(folder, n_rows, p, 8192), made(folder, p)
    with distributed.local_client(2) as client:
        seconds = seconds_of(lambda: distributed.absorb(state, files, "all", client=client))
        workers = max(client.run(peak_bytes).values())
    size = state.path.stat().st_size
    cells = (f"{n_rows:,} × {p:,}", f"{seconds:.0f} s", f"{workers / MB:,.0f} MB", f"{peak_bytes() / MB:,.0f} MB")
    return [
        "| rows × features | time | memory of a worker | memory of the client | state file |",
        "|---|---|---|---|---|",
        f"| {' | '.join(cells)} | {size / MB:,.0f} MB |",
    ]


def kills(folder: Path, count: int) -> list[str]:
    """Kill a worker after a random number of parts, many times: the bits must be the same, with each row once."""
    files, rng = write_files(folder, 400_000, 20, 25_000), np.random.default_rng(7)
    expected, same = b"", 0
    for number in range(count + 1):
        state = made(folder, 20)
        with distributed.local_client(
            2
        ) as client:  # a new one each time: Dask may not replace a worker that was killed
            victim = int(rng.choice([nanny.pid for nanny in client.cluster.workers.values()]))
            when = int(rng.integers(1, 12)) if number else 0
            outcome = distributed.absorb(state, files, "all", client=client, progress=_Killing(victim, when))
        expected = expected or bits(state)
        same += bool(number) and bits(state) == expected and outcome.record.n_samples == 400_000
    return [f"{same} of {count} runs in which a worker was killed had the same bits as one without, and each row once."]


class _Killing:
    """Kills a process when a number of parts are finished; never if it is 0."""

    def __init__(self, process: int, when: int) -> None:
        self._process, self._when, self._finished = process, when, 0

    def __call__(self, done: int, total: int | None) -> None:
        self._finished += 1
        if self._finished == self._when:
            os.kill(self._process, signal.SIGKILL)


def written(title: str, lines: list[str], page: Path = PAGE) -> None:
    """Print a table, and put it into the page between its marks."""
    lines = [LEAD[title], "", *lines, "", f"Load average {os.getloadavg()[0]:.1f} at the end, {os.cpu_count()} cores."]
    print("", *lines, sep="\n", flush=True)
    text, marks = page.read_text(encoding="utf-8"), (f"<!-- {title} -->\n", "<!-- end -->")
    pattern = re.escape(marks[0]) + ".*?" + re.escape(marks[1])
    new = marks[0] + "\n".join(["", *lines, "", marks[1]])
    page.write_text(re.sub(pattern, lambda _: new, text, count=1, flags=re.S), encoding="utf-8")


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*")
    parser.add_argument("--rows", type=int, default=10_000_000, help="of `efficiency`")
    parser.add_argument("--features", type=int, default=6000, help="of `wide`")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3, help="of `efficiency` and `overhead`")
    parser.add_argument("--folder", type=Path, help="for the files; the usual temporary folder if not given")
    parser.add_argument("--page", type=Path, default=PAGE, help="a page with marks for the tables")
    given = parser.parse_args()
    sections: dict[str, Callable[[Path], list[str]]] = {
        "efficiency": lambda folder: efficiency(folder, given.rows, given.rounds),
        "overhead": lambda folder: overhead(folder, given.rounds),
        "client": client_memory,
        "wide": lambda folder: wide(folder, given.features, 16_384),
        "kills": lambda folder: kills(folder, given.kills),
    }
    for title in given.sections or sections:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            written(title, sections[title](Path(folder)), given.page)


if __name__ == "__main__":
    main()
