"""What a check reports: the trials of a claim, the verdict on it, and the result of a run."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


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


class WorstCase:
    """The worst value of a measure so far, and the smallest instance that broke its limit."""

    def __init__(self, measure: str, limit: float) -> None:
        self._measure, self._limit = measure, limit
        self._worst, self._instances, self._broken = -float("inf"), 0, 0
        self._smallest: tuple[float, str] | None = None

    def add(self, value: float, size: float, instance: object) -> None:
        """Record an instance: its value, its size, and the instance itself, which `str` describes."""
        self._instances += 1
        self._worst = max(self._worst, value)
        if value > self._limit:
            self._broken += 1
            if self._smallest is None or size < self._smallest[0]:
                self._smallest = (size, str(instance))

    def trial(self) -> Trial:
        """Return the trial."""
        found = None if self._smallest is None else self._smallest[1]
        return Trial(self._measure, self._worst, self._limit, self._instances, found, self._broken)


def judge(printed: Trial, corrected: Trial | None, *, new_claim: bool, conclusive: bool) -> Verdict:
    """Return the verdict on a statement from the trials of its printed and its corrected form.

    Parameters
    ----------
    printed, corrected : Trial
        None if no correction is needed.
    new_claim : bool
        Whether the correction replaces a false statement by a different one, rather than fixing a slip.
    conclusive : bool
        Whether the printed form is precise enough to be refuted.
    """
    if corrected is not None and not corrected.holds:
        return Verdict.CORRECTION_FAILS
    if printed.holds:
        return Verdict.HOLDS
    if not conclusive:
        return Verdict.OPEN
    return Verdict.FAILS if corrected is None or new_claim else Verdict.CORRECTED


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
            "corrected": None if self.corrected is None else self.corrected.as_dict(),
        }
