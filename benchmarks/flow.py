"""The functions of this project that one call runs: what a reader meets who follows a task.

`make flow` prints, for each of the calls below, how many functions in how many files it runs, how often the walk
changes files, every step up to a higher layer, and the walk as a call tree. tests/test_flow.py compares the counts with
`BARS`.

Only functions under src/ridgeway count, each once. Comprehensions, generator expressions and lambdas count with the
function that contains them; module bodies do not count. A step up is a call into a layer above the caller's (the order
is that of the import-linter contract), unless a protocol or an abstract class that the caller may import declares the
method. Resuming a generator is not a step up: iterators are such a protocol.
"""

import inspect
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import ridgeway
from benchmarks.tables import table
from ridgeway import GeneralizedRidge, store

SOURCE = Path(ridgeway.__file__).parent
N_SAMPLES, N_FEATURES = 50, 5


@dataclass(frozen=True)
class Bar:
    """The most functions, files and steps up that a call may take."""

    functions: int
    files: int
    steps_up: int = 0


BARS = {
    "partial_fit": Bar(30, 10),
    "coef_": Bar(14, 6),
    "store": Bar(120, 22),
}


@dataclass(eq=False)
class Step:
    """A function on the walk, and what it called. Calls of the same function by the same caller are one step."""

    file: str
    name: str
    times: int = 1
    steps: dict[tuple[str, str], "Step"] = field(default_factory=dict)

    def lines(self, depth: int = 0) -> Iterator[str]:
        """Yield the walk as an indented tree."""
        times = f" ×{self.times}" if self.times > 1 else ""
        yield f"{'  ' * depth}{self.name}{times}  ({self.file})"
        for step in self.steps.values():
            yield from step.lines(depth + 1)


class Walk:
    """The functions that a call runs, recorded while `recording` is active."""

    def __init__(self, layers: dict[str, int]) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.changes = 0
        self.steps_up: dict[str, None] = {}
        self.root = Step("", "")
        self._layers = layers
        self._stacks: dict[int, list[Step]] = {}

    @property
    def files(self) -> set[str]:
        """The files that the functions are in."""
        return {file for file, _ in self.functions}

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record all calls of this thread and of threads that start meanwhile."""
        before = sys.getprofile()
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(before)
            threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "return"):
            return
        function = _function(frame.f_code)
        if function is None:
            return
        stack = self._stacks.setdefault(threading.get_ident(), [self.root])
        if event == "call":
            stack.append(self._enter(stack[-1], function, frame))
        elif len(stack) > 1:
            stack.pop()

    def _enter(self, caller: Step, function: tuple[str, str], frame: FrameType) -> Step:
        if function == (caller.file, caller.name):
            return caller
        self.functions.add(function)
        self.changes += bool(caller.file) and caller.file != function[0]
        if self._is_up(caller, function, frame):
            self.steps_up[f"{caller.name} ({caller.file}) → {function[1]} ({function[0]})"] = None
        if function in caller.steps:
            caller.steps[function].times += 1
        return caller.steps.setdefault(function, Step(*function))

    def _is_up(self, caller: Step, function: tuple[str, str], frame: FrameType) -> bool:
        to = self._layers.get(_layer(function[0]))
        here = self._layers.get(_layer(caller.file))
        if here is None or to is None or to >= here or frame.f_code.co_flags & inspect.CO_GENERATOR:
            return False
        return not any(self._layers.get(layer, -1) >= here for layer in _declaring_layers(frame))


@cache
def _function(code: CodeType) -> tuple[str, str] | None:
    """Return file and qualified name of the function that the code belongs to; None if it is not one of ours."""
    path = Path(code.co_filename)
    if code.co_name == "<module>" or not path.is_relative_to(SOURCE):
        return None
    name = code.co_qualname
    while name.endswith(">"):
        name = name.rpartition(".<locals>.")[0]
    return (path.relative_to(SOURCE).as_posix(), name) if name else None


def _layer(file: str) -> str:
    return file.partition("/")[0].removesuffix(".py")


def _declaring_layers(frame: FrameType) -> Iterator[str]:
    """Yield the layers of the protocols and abstract classes that declare the method which the frame runs."""
    arguments = inspect.getargs(frame.f_code).args
    owner = frame.f_locals.get(arguments[0]) if arguments else None
    kind = owner if isinstance(owner, type) else type(owner)
    name = frame.f_code.co_name
    for base in {*kind.__mro__, *_protocols(kind)}:
        declared: Collection[str] = getattr(base, "__abstractmethods__", frozenset()) or _members(base)
        if base.__module__.startswith("ridgeway.") and name in declared:
            yield base.__module__.split(".")[1]


def _protocols(kind: type) -> Iterator[type]:
    """Yield the protocols of this project whose members a class has."""
    ours = [module for name, module in list(sys.modules.items()) if name.startswith("ridgeway.")]
    for protocol in {thing for module in ours for thing in vars(module).values() if isinstance(thing, type)}:
        members = _members(protocol)
        if members and all(hasattr(kind, member) for member in members):
            yield protocol


def _members(kind: type) -> set[str]:
    if not getattr(kind, "_is_protocol", False):
        return set()
    bases = [base for base in kind.__mro__ if getattr(base, "_is_protocol", False) and base.__name__ != "Protocol"]
    return {name for base in bases for name in (*vars(base), *inspect.get_annotations(base)) if name[0] != "_"}


def layer_order() -> dict[str, int]:
    """Return the row of each layer in the first contract of import-linter; 0 is the top."""
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    contract = tomllib.loads(text)["tool"]["importlinter"]["contracts"][0]
    return {name: row for row, names in enumerate(contract["layers"]) for name in names.split(" | ")}


def walks(order: dict[str, int]) -> dict[str, Walk]:
    """Return a walk for each of the calls: the second task, the coefficients after it, a state file and one table."""
    rng = np.random.default_rng(0)
    first, second = (rng.standard_normal((N_SAMPLES, N_FEATURES + 1)) for _ in range(2))
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        for _ in range(2):  # the first round is to import and to fill caches
            found = {name: Walk(order) for name in BARS}
            model = GeneralizedRidge().partial_fit(first[:, :-1], first[:, -1])
            with found["partial_fit"].recording():
                model.partial_fit(second[:, :-1], second[:, -1])
            with found["coef_"].recording():
                _ = model.coef_
            absorb = _absorbing(Path(folder), first, second)
            with found["store"].recording():
                absorb()
    return found


def _absorbing(folder: Path, *tasks: Any) -> Callable[[], object]:
    """Return a call that opens a state file with one task and absorbs another one from a CSV file."""
    names = [*(f"x{i}" for i in range(N_FEATURES)), "y"]
    for number, rows in enumerate(tasks):
        np.savetxt(folder / f"{number}.csv", rows, delimiter=",", header=",".join(names), comments="")
    path = folder / f"{len(list(folder.glob('*.rw')))}.rw"
    store.create(path, features=names[:-1], target="y").absorb_table(folder / "0.csv", task_id="0")
    return lambda: store.open(path).absorb_table(folder / "1.csv", task_id="1")


def main() -> None:
    """Print the table, then each walk."""
    found = walks(layer_order())
    heading = ["", "functions", "bar", "files", "bar", "steps up", "bar", "changes of file"]
    rows = []
    for name, walk in found.items():
        bar = BARS[name]
        counts = (len(walk.functions), bar.functions, len(walk.files), bar.files)
        rows.append([name, *map(str, (*counts, len(walk.steps_up), bar.steps_up, walk.changes))])
    print("\n".join(table(heading, rows)))
    for name, walk in found.items():
        print(f"\n{name}\n")
        for step in walk.root.steps.values():
            print("\n".join(step.lines(1)))
        for up in walk.steps_up:
            print(f"  up: {up}")


if __name__ == "__main__":
    main()
