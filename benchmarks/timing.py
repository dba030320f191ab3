"""Contenders in turn, on the same arrays; judged by the median of paired ratios, never by a time alone."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np


class Plan(NamedTuple):
    """How long to measure: rounds until the seconds are spent; `fewest`, unless they are spent fifteen times over."""

    seconds: float
    fewest: int
    most: int


SHORT = Plan(seconds=2.5, fewest=1, most=15)
FULL = Plan(seconds=10.0, fewest=3, most=41)

REST = 0.05
"""Seconds in which this process must stand still before a contender is timed: threads spin after their work."""


FEW = 2
"""Rounds of a contender that is only shown, not judged."""


def interleave(
    passes: Mapping[str, Callable[[], float]], plan: Plan, shown: Collection[str] = ()
) -> dict[str, list[float]]:
    """Return the seconds of each pass, round by round. Every round takes all in turn and begins with the next one.

    Those that are only `shown` take part in the first rounds.
    """
    names = list(passes)
    samples: dict[str, list[float]] = {name: [] for name in names}
    begin = time.perf_counter()
    for number in range(plan.most):
        spent = time.perf_counter() - begin
        if spent > (plan.seconds if number >= plan.fewest else 15 * plan.seconds):
            break
        if number == FEW:
            names = [name for name in names if name not in shown]
        first = number % len(names)
        for name in names[first:] + names[:first]:
            _settle()
            samples[name].append(passes[name]())
    return samples


def _settle() -> None:
    """Wait until no thread of this process is at work."""
    busy = REST
    while busy > 0.1 * REST:
        before = time.process_time()
        time.sleep(REST)
        busy = time.process_time() - before


def clock(action: Callable[[], object]) -> float:
    """Return the seconds that `action` takes."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def paired_ratio(mine: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the median of mine/theirs over the rounds that have both."""
    both = min(len(mine), len(theirs))
    return float(np.median(np.divide(mine[:both], theirs[:both])))
