"""Makefile, constraints, hooks and workflow agree with each other and with pyproject.toml."""

import re
import shutil
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
PHONY = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", MAKEFILE, flags=re.M)[1].replace("\\", "").split()


def test_make_alone_lists_every_target():
    command = [shutil.which("make"), "-C", ROOT, "--no-print-directory"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.findall(r"^make (\S+) +[A-Z].*\.$", shown.stdout, flags=re.M) == PHONY


def test_the_lowest_versions_are_the_floors():
    requirements = chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    floors = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", text).groups() for text in requirements if ">=" in text)
    pins = dict(re.findall(r"^([\w-]+)==([\d.]+)$", (ROOT / "constraints-lowest.txt").read_text(), flags=re.M))
    del floors["sphinx"]  # the docs are not built at the lowest versions
    for name, floor in floors.items():
        assert re.fullmatch(rf"{re.escape(floor)}(\.0)*", pins[name]), name
    assert list(floors)[:4] == ["numpy", "scipy", "scikit-learn", "threadpoolctl"]


def test_every_floor_is_declared_once():
    """The same library has the same floor in every extra."""
    for name in ("pyarrow", "pandas", "polars"):
        found = [text for texts in PROJECT["optional-dependencies"].values() for text in texts if text.startswith(name)]
        assert len({text for text in found if ">=" in text}) == 1, found


def test_the_workflow_only_calls_make():
    workflow = (ROOT / ".github" / "workflows" / "check.yml").read_text("utf-8")
    commands = re.findall(r"run: (.*)", workflow)
    assert {command.split()[1] for command in commands if command.startswith("make ")} == {"test", "check"}
    assert all(command.startswith("make ") for command in commands)
    versions = re.findall(r'"(3\.\d+)"', re.search(r"python: \[.*\]", workflow)[0])
    assert versions == [text.split()[-1] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)]


def test_the_hooks_are_local_and_are_what_make_lint_runs():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    assert re.findall(r"repo: (.*)", hooks) == ["local"]
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", MAKEFILE, flags=re.M)[1]
    linted = re.findall(r"\$\(BIN\)/(ruff format|ruff check|[\w-]+)", recipe)
    assert re.findall(r"entry: \.venv/bin/(ruff format|ruff check|[\w-]+)", hooks) == linted


def test_the_citation_has_the_version():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.search(r"^version: (.*)$", citation, flags=re.M)[1] == PROJECT["version"]
    assert re.search(r"^license: (.*)$", citation, flags=re.M)[1] == PROJECT["license"]


def test_the_layout_is_that_of_the_contract():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layout = re.search(r"^## The layout\n\n```\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M | re.S)[
        1
    ]
    rows = [re.split(r"\s{2,}", line)[0] for line in layout.splitlines()]
    names = [name for row in rows for name in row.split(" | ")]
    layers = [name for row in contracts[0]["layers"] for name in row.split(" | ")]
    assert [name for name in names if name in layers] == layers


def test_benchmarks_that_tests_import_need_no_peer():
    """CI installs the extra `test`, not `bench`: a benchmark that a test imports must not need scikit-learn-intelex."""
    modules = {path.stem: path.read_text("utf-8") for path in (ROOT / "benchmarks").glob("*.py")}
    wanted = {name for path in (ROOT / "tests").rglob("test_*.py") for name in _benchmarks_of(path.read_text("utf-8"))}
    reached: set[str] = set()
    while wanted:
        name = wanted.pop()
        reached.add(name)
        wanted |= _benchmarks_of(modules[name]) - reached
    assert {"classes", "workers", "nist"} <= reached
    assert [name for name in reached if "sklearnex" in modules[name]] == []
    assert "sklearnex" in modules["contenders"]


def _benchmarks_of(text):
    """Return the modules of `benchmarks` that a file imports."""
    whole = re.findall(r"^from benchmarks import (.+)$", text, flags=re.M)
    parts = re.findall(r"^from benchmarks\.(\w+) import", text, flags=re.M)
    return {name.strip() for names in whole for name in names.split(",")} | set(parts)
