"""What a check reports: the trials of a claim, the verdict on it, and the result of a run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from math import inf
from typing import Any, ParamSpec

P = ParamSpec("P")
Instances = Iterator[tuple[float, float, object]]
"""The value, the size and the description of each instance of a trial."""


class Verdict(StrEnum):
    """The verdict on a statement."""

    HOLDS = "holds"
    CORRECTED = "holds as corrected"
    FAILS = "fails as stated"
    OPEN = "open"
    CORRECTION_FAILS = "correction fails"


@dataclass(frozen=True)
class Trial:
    """The test of one form of a statement.

    Attributes
    ----------
    measure : str
        What was measured, in words.
    value : float
        Its worst value over all instances.
    limit : float
        The form holds if the value is at most this, or, with `at_least`, at least this.
    instances : int
        Number of instances.
    counterexample : str or None
        The smallest instance found for which the form fails.
    broken : int
        Number of instances for which the form fails.
    at_least : bool
        Whether the form claims that the value is large.
    """

    measure: str
    value: float
    limit: float
    instances: int
    counterexample: str | None = None
    broken: int = 0
    at_least: bool = False

    @property
    def margin(self) -> float:
        """How far the value is on the right side of its limit; negative if the form fails."""
        return self.value - self.limit if self.at_least else self.limit - self.value

    @property
    def holds(self) -> bool:
        """Whether the form holds."""
        return self.margin >= 0

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers and text, ready for JSON."""
        return {**vars(self), "holds": self.holds, "margin": self.margin}


def worst_case(measure: str, limit: float) -> Callable[[Callable[P, Instances]], Callable[P, Trial]]:
    """Turn a function that yields `Instances` into a trial.

    The trial has the worst value, and the smallest instance whose value is above the limit.
    """

    def decorated(function: Callable[P, Instances]) -> Callable[P, Trial]:
        @wraps(function)
        def trial(*arguments: P.args, **options: P.kwargs) -> Trial:
            worst, smallest, found, instances, broken = -inf, inf, None, 0, 0
            for value, size, instance in function(*arguments, **options):
                instances += 1
                worst = max(worst, value)
                if value > limit:
                    broken += 1
                    if size < smallest:
                        smallest, found = size, str(instance)
            return Trial(measure, worst, limit, instances, found, broken)

        return trial

    return decorated


def judge(printed: Trial, corrected: Trial | None, refuted: Verdict) -> Verdict:
    """Return the verdict on a statement from the trials of its printed and its corrected form.

    Parameters
    ----------
    printed, corrected : Trial
        None if no correction is needed.
    refuted : Verdict
        If the printed form fails and the corrected one holds: `CORRECTED` if the correction fixes a slip, `FAILS` if it
        replaces a false statement by a different one, `OPEN` if the printed form is too vague to be refuted.
    """
    if corrected is not None and not corrected.holds:
        return Verdict.CORRECTION_FAILS
    if printed.holds:
        return Verdict.HOLDS
    return Verdict.FAILS if corrected is None else refuted


@dataclass(frozen=True)
class StatementResult:
    """What a run found about one statement.

    Attributes
    ----------
    name, where, claim, correction : str
        As in the registry.
    row : str
        Its row in docs/paper.md; empty for a statement that needs no correction.
    verdict, recorded : Verdict
        The verdict, and the expected one.
    printed : Trial
        The statement as printed.
    corrected : Trial or None
        The statement as corrected, or what holds instead.
    seconds : float
        The running time.
    """

    name: str
    where: str
    row: str
    claim: str
    correction: str
    verdict: Verdict
    recorded: Verdict
    printed: Trial
    corrected: Trial | None
    seconds: float

    @property
    def agrees(self) -> bool:
        """Whether the verdict is the recorded one."""
        return self.verdict is self.recorded

    @property
    def margin(self) -> float:
        """The margin of the form that should hold: the corrected one, if there is one."""
        return (self.corrected or self.printed).margin

    @property
    def instances(self) -> int:
        """Number of instances, of both forms."""
        return self.printed.instances + (self.corrected.instances if self.corrected else 0)

    @property
    def counterexample(self) -> str | None:
        """The smallest instance found for which the printed form fails."""
        return self.printed.counterexample

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers and text, ready for JSON."""
        return {
            **vars(self),
            "verdict": str(self.verdict),
            "recorded": str(self.recorded),
            "agrees": self.agrees,
            "margin": self.margin,
            "instances": self.instances,
            "counterexample": self.counterexample,
            "printed": self.printed.as_dict(),
            "corrected": self.corrected and self.corrected.as_dict(),
        }
