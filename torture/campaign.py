"""The parts of the campaign, how many times each is run, and the processes (lanes) that run them."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from torture import shim
from torture.job import progress_file
from torture.outcome import Outcome

POLL = 0.1
MEMORY = Path("/dev", "shm")


class Part(NamedTuple):
    """How a part is run.

    Attributes
    ----------
    full, short : how many times it is run
    in_lanes : whether it can be split into lanes
    shimmed : whether it needs the shim
    in_memory : whether its files may be in memory, which is faster than a disk
    """

    full: int
    short: int
    in_lanes: bool = True
    shimmed: bool = False
    in_memory: bool = False


PARTS = {
    "kills": Part(3200, 100),
    "faults": Part(10**6, 100, shimmed=True),
    "power": Part(1100, 50),
    "sectors": Part(12_000, 150, shimmed=True, in_memory=True),
    "memory": Part(6000, 80, in_memory=True),
    "files": Part(1500, 40, shimmed=True, in_memory=True),
    "writers": Part(1600, 96, in_lanes=False),
    "identity": Part(2100, 45, shimmed=True, in_memory=True),
    "readers": Part(200, 3),
    "altered": Part(100_000, 2600, in_memory=True),
    "machine": Part(100_000, 1000, in_memory=True),
    "growing": Part(10_000, 300, in_memory=True),
}


def run_part(part: str, *, short: bool, seed: int, lanes: int) -> Outcome:
    """Run a part in a temporary folder."""
    place = MEMORY if PARTS[part].in_memory and os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="torture-", dir=place) as folder:
        return _run_part(part, Path(folder), short, seed, lanes)


def _run_part(part: str, folder: Path, short: bool, seed: int, lanes: int) -> Outcome:
    """Run the lanes of a part in parallel, and combine their results."""
    plan = PARTS[part]
    times, lanes = plan.short if short else plan.full, lanes if plan.in_lanes else 1
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    if plan.shimmed:
        if reason := shim.missing():
            return Outcome(part, skipped=reason)
        environment[shim.VARIABLE] = str(shim.compiled(folder))
    begin = time.perf_counter()
    places = [folder / f"lane-{lane}" for lane in range(lanes)]
    processes = []
    for lane, place in enumerate(places):
        place.mkdir()
        command = [sys.executable, "-m", "torture.lane", part, str(place), *map(str, (times, seed, lane, lanes))]
        processes.append(subprocess.Popen(command, env=environment))
    _watch(part, processes, places, times)
    outcome = Outcome(part)
    for process, place in zip(processes, places, strict=True):
        told = place / "outcome.json"
        if process.returncode or not told.exists():
            outcome.violations.append(f"a lane of {part} ended with status {process.returncode}")
        else:
            outcome.merge(Outcome(**json.loads(told.read_text())))
    outcome.seconds = time.perf_counter() - begin
    return outcome


def _watch(part: str, processes: list[subprocess.Popen[bytes]], places: list[Path], times: int) -> None:
    """Wait for the lanes, showing progress on a terminal; end them if this process is ended."""
    try:
        while any(process.poll() is None for process in processes):
            time.sleep(POLL)
            if sys.stderr.isatty():
                done = sum(int(file.read_text() or 0) for file in map(progress_file, places) if file.exists())
                print(f"\r{part}: {done:,} of {times:,} ", end="", file=sys.stderr, flush=True)
    finally:
        for process in processes:
            process.terminate()
            process.wait()
        if sys.stderr.isatty():
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
