"""Kill a run with SIGKILL at random moments, resume it until it is done, and compare the tables.

`python tests/research/simulation/kill.py`: twenty kills of a run of the paper's setting. `test_runner` has
a short version.
"""

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SCRIPT = "import sys; from ridgeway.cli import main; sys.argv[0] = 'ridgeway'; main()"


def killed_and_resumed(folder, arguments, delays):
    """Run `ridgeway simulate`, killed after each delay and resumed, then to its end; return the kills that hit it."""
    command = [sys.executable, "-c", SCRIPT, "simulate", *arguments, "--resume", "--out", str(folder)]
    kills = 0
    for delay in delays:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=delay)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return kills


def main():
    arguments = ["--methods", "mn,crr:1,crr:best,gr,oracle", "--repetitions", "24", "--workers", "2"]
    rng = np.random.default_rng(int(time.time()))
    with tempfile.TemporaryDirectory() as place:
        whole, torn, single = Path(place) / "whole", Path(place) / "torn", Path(place) / "single"
        begin = time.perf_counter()
        killed_and_resumed(whole, arguments, delays=[])
        seconds = time.perf_counter() - begin
        killed_and_resumed(single, [*arguments[:-1], "1"], delays=[])
        kills, rounds = 0, 0
        while kills < 20:
            shutil.rmtree(torn, ignore_errors=True)
            left = min(20 - kills, int(rng.integers(1, 6)))
            kills += killed_and_resumed(torn, arguments, delays=rng.uniform(0.5, seconds, left))
            rounds += 1
            for name in ("results.parquet", "directions.parquet"):
                reference = (whole / name).read_bytes()
                assert (torn / name).read_bytes() == reference
                assert (single / name).read_bytes() == reference
        print(f"{kills} kills in {rounds} runs: bitwise the same tables as without, with two workers and with one")


if __name__ == "__main__":
    main()
