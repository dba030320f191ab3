"""The functions of this project that one call runs: what a reader meets who follows a task.

`make flow` prints, for each of the calls below, how many functions in how many files it runs, and the walk as a call
tree. Only functions under src/ridgeway are shown. Comprehensions, generator expressions and lambdas count with the
function that contains them; module bodies do not count.
"""

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import ridgeway
from ridgeway import GeneralizedRidge, store

SOURCE = Path(ridgeway.__file__).parent
N_SAMPLES, N_FEATURES = 50, 5


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

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.root = Step("", "")
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
            stack.append(self._enter(stack[-1], function))
        elif len(stack) > 1:
            stack.pop()

    def _enter(self, caller: Step, function: tuple[str, str]) -> Step:
        if function == (caller.file, caller.name):
            return caller
        self.functions.add(function)
        if function in caller.steps:
            caller.steps[function].times += 1
        return caller.steps.setdefault(function, Step(*function))


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


def walks() -> dict[str, Walk]:
    """Return a walk for each of the calls: the second task, the coefficients after it, a state file and one table."""
    rng = np.random.default_rng(0)
    first, second = (rng.standard_normal((N_SAMPLES, N_FEATURES + 1)) for _ in range(2))
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        for _ in range(2):  # the first round is to import and to fill caches
            recorded = {"partial_fit": Walk(), "coef_": Walk(), "store": Walk()}
            model = GeneralizedRidge().partial_fit(first[:, :-1], first[:, -1])
            with recorded["partial_fit"].recording():
                model.partial_fit(second[:, :-1], second[:, -1])
            with recorded["coef_"].recording():
                _ = model.coef_
            absorb = _absorbing(Path(folder), first, second)
            with recorded["store"].recording():
                absorb()
    return recorded


def _absorbing(folder: Path, *tasks: Any) -> Callable[[], object]:
    """Return a call that opens a state file with one task and absorbs another one from a CSV file."""
    names = [*(f"x{i}" for i in range(N_FEATURES)), "y"]
    for number, rows in enumerate(tasks):
        np.savetxt(folder / f"{number}.csv", rows, delimiter=",", header=",".join(names), comments="")
    path = folder / f"{len(list(folder.glob('*.rw')))}.rw"
    store.create(path, features=names[:-1], target="y").absorb_table(folder / "0.csv", task_id="0")
    return lambda: store.open(path).absorb_table(folder / "1.csv", task_id="1")


def main() -> None:
    """Print each walk."""
    for name, walk in walks().items():
        print(f"\n{name}: {len(walk.functions)} functions in {len(walk.files)} files\n")
        for step in walk.root.steps.values():
            print("\n".join(step.lines(1)))


if __name__ == "__main__":
    main()
