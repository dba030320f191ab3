"""A statement of the paper: its forms, the test of each, and the expected verdict."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ridgeway.research.verify._findings import StatementResult, Trial, Verdict, judge
from ridgeway.research.verify._search import Search

F = TypeVar("F")


@dataclass(frozen=True)
class Claim(Generic[F]):
    """A form of a statement, as a formula or other object, and the trial that it must pass.

    Examples
    --------
    >>> from ridgeway.research.verify import STATEMENTS, Search
    >>> printed = STATEMENTS["vanilla"].printed
    >>> printed.trial(Search("vanilla"), printed.form).holds
    True
    """

    form: F
    trial: Callable[[Search, F], Trial]


@dataclass(frozen=True)
class Statement:
    """One entry of the registry.

    Attributes
    ----------
    where : str
        Where in the paper it is.
    claim : str
        What it says, in short.
    printed : Claim
        The form in the paper.
    corrected : Claim, optional
        The form that holds, or an extension of the printed one.
    row, correction : str
        Its row in docs/paper.md, and the correction or extension in short.
    recorded : Verdict
        The expected verdict. A run with another verdict fails.
    name : str
        Its name on the command line; the registry fills it in.

    Examples
    --------
    >>> from ridgeway.research.verify import STATEMENTS
    >>> statement = STATEMENTS["vanilla"]
    >>> statement.where, str(statement.run().verdict)
    ('Thm (early stopping), remark', 'holds')
    """

    where: str
    claim: str
    printed: Claim[Any]
    corrected: Claim[Any] | None = None
    row: str = ""
    correction: str = ""
    recorded: Verdict = Verdict.HOLDS
    name: str = ""

    @property
    def forms(self) -> tuple[Any, Any]:
        """The printed form, and the corrected one or None."""
        return self.printed.form, self.corrected and self.corrected.form

    def run(self, *, seed: int = 0, full: bool = False) -> StatementResult:
        """Try both forms, and judge."""
        start = time.perf_counter()
        search = Search(self.name, seed, full)
        printed = self.printed.trial(search, self.printed.form)
        corrected = None if self.corrected is None else self.corrected.trial(search, self.corrected.form)
        texts = (self.name, self.where, self.row, self.claim, self.correction)
        verdicts = judge(printed, corrected, self.recorded), self.recorded
        return StatementResult(*texts, *verdicts, printed, corrected, time.perf_counter() - start)
