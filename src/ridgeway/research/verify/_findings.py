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
    """The verdict on a statement.

    Examples
    --------
    >>> from ridgeway.research.verify import Verdict
    >>> str(Verdict.CORRECTED), Verdict.CORRECTED.as_printed
    ('holds as corrected', False)
    >>> str(Verdict.EXTENDED), Verdict.EXTENDED.as_printed
    ('holds; extended', True)
    """

    HOLDS = "holds"
    MORE = "holds; more is true"
    EXTENDED = "holds; extended"
    CORRECTED = "holds as corrected"
    READING = "fails in this reading"
    FAILS = "fails as stated"
    OPEN = "open"
    CORRECTION_FAILS = "correction fails"

    @property
    def as_printed(self) -> bool:
        """Whether the printed form holds."""
        return self in (Verdict.HOLDS, Verdict.MORE, Verdict.EXTENDED)


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

    Examples
    --------
    >>> from ridgeway.research.verify import Trial
    >>> found = Trial("largest relative difference", value=1e-12, limit=1e-9, instances=100)
    >>> found.holds, found.margin
    (True, 9.99e-10)
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
                worst = max(worst, float(value))
                if value > limit:
                    broken += 1
                    if size < smallest:
                        smallest, found = size, str(instance)
            return Trial(measure, worst, limit, instances, found, broken)

        return trial

    return decorated


def judge(printed: Trial, corrected: Trial | None, recorded: Verdict) -> Verdict:
    """Return the verdict on a statement from its trials: the recorded one if all of them support it.

    Parameters
    ----------
    printed, corrected : Trial
        The printed form, and the corrected or extended one. The latter is None if the statement needs none.
    recorded : Verdict
        The expected verdict.
    """
    if corrected is not None and not corrected.holds:
        return Verdict.CORRECTION_FAILS
    if printed.holds == recorded.as_printed:
        return recorded
    return Verdict.HOLDS if printed.holds else Verdict.FAILS


@dataclass(frozen=True)
class StatementResult:
    """What a run found about one statement.

    Attributes
    ----------
    name, where, claim, correction : str
        As in the registry.
    row : str
        Its row in docs/paper.md; empty if there is nothing to add to the statement.
    verdict, recorded : Verdict
        The verdict, and the expected one.
    printed : Trial
        The statement as printed.
    corrected : Trial or None
        The statement as corrected or extended, or what holds instead.
    seconds : float
        The running time.

    Examples
    --------
    >>> from ridgeway.research import verify
    >>> found = verify.STATEMENTS["ridge-second-penalty"].run()
    >>> str(found.verdict), found.agrees, found.corrected.holds
    ('holds as corrected', True, True)
    >>> print(found.counterexample)
    n_1=n², n_2=n³, n=1e+02: λ_2=0.048 still works, 47.9 times the limit
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
        """The margin of the form that should hold: the corrected or extended one, if there is one."""
        return (self.corrected or self.printed).margin

    @property
    def instances(self) -> int:
        """Number of instances, of both trials."""
        return self.printed.instances + (self.corrected.instances if self.corrected else 0)

    @property
    def counterexample(self) -> str | None:
        """The smallest instance found for which the printed form fails; None if it holds."""
        return None if self.printed.holds else self.printed.counterexample

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
