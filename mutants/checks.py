"""The tests that may kill a mutant, and the lines that each of them runs."""

import ast
import importlib
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.metadata import packages_distributions
from importlib.util import spec_from_file_location
from itertools import groupby
from types import CodeType
from typing import Any

import coverage
import pytest

from mutants.mutant import ROOT, SOURCE, Mutant

Reach = dict[str, tuple[float, dict[str, set[int]]]]
"""Each check, with its seconds and the lines that it runs, by file."""


def files_below(paths: Sequence[str]) -> list[str]:
    """Return the files below these paths that may have tests or doctests."""
    found = []
    for path in map(ROOT.joinpath, paths):
        pattern = "test_*.py" if path.is_relative_to(ROOT / "tests") else "_[a-z]*.py"
        found += sorted(path.rglob(pattern)) if path.is_dir() else [path]
    return [str(path.relative_to(ROOT)) for path in found]


def reach_of(file: str) -> Reach | None:
    """Run a test file, and return what each check reaches; None if one fails."""
    recorder = coverage.Coverage(data_file=None, include=[f"{SOURCE}/*"], config_file=False)
    seconds: dict[str, float] = {}

    @contextmanager
    def recorded(check: str) -> Iterator[None]:
        recorder.switch_context(check)
        start = time.perf_counter()
        yield
        seconds[check] = time.perf_counter() - start
        recorder.switch_context("")

    with recorder.collect():
        killer = _first_failure(file, None, recorded)
    if killer is not None:
        return None
    data, reach = recorder.get_data(), {check: (spent, dict[str, set[int]]()) for check, spent in seconds.items()}
    for path in data.measured_files():
        for line, contexts in data.contexts_by_lineno(path).items():
            for check in contexts:
                if check in reach:
                    reach[check][1].setdefault(path, set()).add(line)
    return reach


def file_of(check: str) -> str:
    """Return the file of a test."""
    return check.split("::")[0]


def killer_of(mutant: Mutant, checks: list[str]) -> str | None:
    """Return the first of the checks that fails with the mutant, or None if it survives all.

    The checks of a file are together.
    """
    sys.meta_path.insert(0, _Finder(mutant))
    files = ((file, list(chosen)) for file, chosen in groupby(checks, file_of))
    killers = (_first_failure(file, chosen, _unrecorded) for file, chosen in files)
    return next((killer for killer in killers if killer), None)


class _Finder:
    """Finds the mutated module before the real one."""

    def __init__(self, mutant: Mutant) -> None:
        self._name, self._path, self._tree = f"ridgeway.{mutant.module}", str(mutant.path), mutant.applied()

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        if name != self._name:
            return None
        return spec_from_file_location(name, self._path, loader=_Loader(name, self._path, self._tree))


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._tree, self.path, "exec")


@contextmanager
def _unrecorded(check: str) -> Iterator[None]:
    yield


def _first_failure(file: str, chosen: list[str] | None, recorded: Any) -> str | None:
    """Return the first test of a file that fails, in the order of `chosen`."""
    watch = _Watch(chosen, recorded)
    options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={ROOT}"]
    status = pytest.main([*options, f"--config-file={ROOT / 'pyproject.toml'}", file], plugins=[watch])
    if status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return None
    return watch.failed or f"{file} (not collected)"


class _Watch:
    """Chooses the tests and remembers the first that fails."""

    def __init__(self, chosen: list[str] | None, recorded: Any) -> None:
        self._order = None if chosen is None else {check: i for i, check in enumerate(chosen)}
        self._recorded = recorded
        self.failed: str | None = None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._order is not None:
            order = self._order
            items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        with self._recorded(item.nodeid):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.failed is None:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.failed is None:
            self.failed = f"{report.nodeid} (not collected)"


def import_libraries(files: Sequence[str]) -> None:
    """Import the libraries that test files import: forked processes then start at once."""
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    libraries = packages_distributions().keys() - {"ridgeway"}
    names = {"numpy", "scipy.optimize", "sklearn.utils.validation"}
    for file in set(files):
        for node in ast.parse((ROOT / file).read_text("utf-8")).body:
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module or "")
    for name in sorted(names):
        if name.split(".")[0] in libraries:
            importlib.import_module(name)
