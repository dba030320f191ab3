"""Peak resident memory, each contender in a process of its own, and the bytes of a state."""

import sys
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.bars import BYTES, KINDS, MOST_BYTES, STATE_FACTOR, verdict
from benchmarks.contenders import N_TASKS, PEER, Cell, make_tasks, makers
from benchmarks.speed import learn
from benchmarks.tables import number, table
from benchmarks.workers import MB, alone, peak_bytes
from ridgeway import ContinualRidge, GeneralizedRidge, MinimumNorm
from ridgeway.data import InformationKind
from ridgeway.weights import Accumulated

BLOCK = (50_000, 100)
WIDE, WIDE_TASKS = (50, 200_000), 3
STATE_SIZE, STATE_TASKS = (200, 4000), 2
WIDE_MODELS = {"ContinualRidge": ContinualRidge, "MinimumNorm": MinimumNorm}


@dataclass(frozen=True)
class Use:
    """Bytes that were used, and the most that may be; None where there is no bar."""

    what: str
    used: float
    at_most: float | None

    def record(self) -> dict[str, Any]:
        """Return the use as plain data."""
        return asdict(self)


def learned_blocks(name: str | None) -> tuple[float, float]:
    """Return the peak of a process that holds all tasks and learns them, and the bytes of its state.

    Without a name nothing is learned: the baseline.
    """
    tasks = make_tasks(*BLOCK, N_TASKS)
    if name is None:
        return peak_bytes(), 0.0
    model = makers(Cell(*BLOCK))[name]()
    learn(lambda: model, tasks, every=False)
    return peak_bytes(), float(state_bytes(model))


def wide_peak(name: str) -> float:
    """Return the peak of a process that learns tasks of very many features, one in memory at a time."""
    rng = np.random.default_rng(0)
    model = WIDE_MODELS[name]()
    for _ in range(WIDE_TASKS):
        model.partial_fit(rng.standard_normal(WIDE), rng.standard_normal(WIDE[0]))
    if not np.isfinite(model.coef_).all():
        raise RuntimeError(f"{name} has no finite coefficients at {WIDE}.")
    return peak_bytes()


def wide_state(kind: InformationKind) -> float:
    """Return the bytes of a state after its coefficients have been asked for, what it caches included."""
    model = GeneralizedRidge(Accumulated(prior=1.0), information=kind)
    for X, y in make_tasks(*STATE_SIZE, STATE_TASKS):
        model.partial_fit(X, y)
    if not np.isfinite(model.coef_).all():
        raise RuntimeError(f"{kind} has no finite coefficients at {STATE_SIZE}.")
    return float(state_bytes(model))


def state_bytes(thing: object) -> int:
    """Return the bytes of all arrays that can be reached from a model, a buffer that several share counted once."""
    buffers: dict[int, int] = {}
    seen: set[int] = set()
    todo: list[object] = [thing]
    while todo:
        it = todo.pop()
        if id(it) in seen:
            continue
        seen.add(id(it))
        if isinstance(it, np.ndarray):
            while isinstance(it.base, np.ndarray):
                it = it.base
            if it.base is None:
                buffers[id(it)] = it.nbytes
            todo.append(it.base)  # what lent it memory may hold more
        elif isinstance(it, dict):
            todo += it.values()
        elif isinstance(it, list | tuple | set | frozenset):
            todo += it
        elif not isinstance(it, type):
            todo += getattr(it, "__dict__", {}).values()
            todo += [getattr(it, name) for name in getattr(it, "__slots__", ()) if hasattr(it, name)]
    return sum(buffers.values())


def measured(*, full: bool) -> list[Use]:
    """Measure everything, each in a process of its own; the short version leaves out all peers but one."""
    baseline, _ = alone(2, learned_blocks, None)
    block = BLOCK[0] * BLOCK[1] * BYTES
    uses = [Use(f"{N_TASKS} tasks of {BLOCK}, held and not learned: the baseline's peak", baseline, None)]
    for name in makers(Cell(*BLOCK)) if full else (*KINDS, PEER):
        print(f"memory: {name}", file=sys.stderr, flush=True)
        peak, state = alone(2, learned_blocks, name)
        bar = block + state if name in KINDS else None
        uses.append(Use(f"{N_TASKS} tasks of {BLOCK}, {name}: rise over the baseline", peak - baseline, bar))
    for name in WIDE_MODELS:
        print(f"memory: {name}", file=sys.stderr, flush=True)
        uses.append(Use(f"{name} at {WIDE}: peak", alone(2, wide_peak, name), MOST_BYTES))
    for kind in KINDS:
        print(f"memory: state of {kind}", file=sys.stderr, flush=True)
        most = STATE_FACTOR * BYTES * STATE_SIZE[1] ** 2
        uses.append(Use(f"GeneralizedRidge, {kind}, p = {STATE_SIZE[1]}: state", alone(2, wide_state, kind), most))
    return uses


def memory_table(uses: list[Use]) -> list[str]:
    """Return the table of memory."""
    rows = [
        [u.what, number(u.used / MB), *(("–", "–") if u.at_most is None else _judged(u.used, u.at_most))] for u in uses
    ]
    return table(["what", "MB", "bar (MB)", "verdict"], rows)


def _judged(used: float, at_most: float) -> tuple[str, str]:
    return number(at_most / MB), verdict(used, at_most)
