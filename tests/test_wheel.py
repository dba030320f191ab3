"""The wheel installs alone: what a user gets, away from the checkout, runs the first example of the README."""

import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([*PIP, "wheel", *options, str(ROOT)], check=True)
    (found,) = folder.glob("*.whl")
    return found


def run(python, *arguments, cwd):
    """Run Python in isolated mode: neither PYTHONPATH nor the current folder is searched for modules."""
    return subprocess.run([python, "-I", *arguments], cwd=cwd, capture_output=True, text=True, check=False)


def test_the_wheel_runs_the_first_example_of_the_readme(wheel, tmp_path):
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    python = str(tmp_path / "env" / "bin" / "python")
    install = ["--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*PIP, "--python", python, "install", *install], check=True)
    site = Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).stdout.strip()
    )
    assert (site / "ridgeway").is_dir()
    # The dependencies come from the environment of the tests. Its own .pth files, and so the checkout, are not read.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))

    found = run(python, "-c", "import ridgeway; print(ridgeway.__file__)", cwd=tmp_path)
    assert Path(found.stdout.strip()).is_relative_to(site), found.stderr
    example = re.search(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), flags=re.M | re.S)
    (tmp_path / "example.txt").write_text(example[1], "utf-8")
    found = run(python, "-m", "doctest", "example.txt", cwd=tmp_path)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")

    (tmp_path / "example.txt").write_text(example[1].replace("True", "False"), "utf-8")
    assert run(python, "-m", "doctest", "example.txt", cwd=tmp_path).returncode == 1


def test_the_wheel_has_types_and_data_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"ridgeway/py.typed", "ridgeway/datasets/data/penguins.csv"} <= set(names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"ridgeway"}
