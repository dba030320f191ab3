"""One lane of a part, in a process of its own: `python -m torture.lane PART FOLDER TIMES SEED LANE LANES`."""

import importlib
import json
import sys
import time
from pathlib import Path

from torture.children import end_as_at_the_keyboard
from torture.job import Job
from torture.outcome import Outcome


def main(part: str, folder: str, *numbers: str) -> None:
    """Run the lane, and write its outcome into its folder."""
    end_as_at_the_keyboard()
    job = Job(Path(folder), *map(int, numbers))
    begin = time.perf_counter()
    outcome: Outcome = importlib.import_module(f"torture.{part}").run(job)
    outcome.seconds = time.perf_counter() - begin
    (job.folder / "outcome.json").write_text(json.dumps(outcome.record()))


if __name__ == "__main__":
    main(*sys.argv[1:])
