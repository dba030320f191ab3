"""A share of the fault campaign; `make torture` is all of it. Each part lets stores that are broken on purpose fail."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from torture.campaign import PARTS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("part", PARTS)
def test_the_state_file_survives(part, tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    command = [sys.executable, "-m", "torture", part, "--short", "--lanes", "1", "--json", str(tmp_path / "figures")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    outcome = json.loads((tmp_path / "figures").read_text())[part]
    if outcome["skipped"]:
        pytest.skip(outcome["skipped"])
    assert outcome["counts"]
    assert not outcome["violations"]
    assert outcome["controls"]
    assert all(outcome["controls"].values())
