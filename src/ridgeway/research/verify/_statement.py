"""A statement of the paper: its forms, the test of each, the expected verdict, and mutations that must change it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from ridgeway.research.verify._findings import StatementResult, Trial, Verdict, judge
from ridgeway.research.verify._library import LibraryCheck, try_library
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
    mutations : mapping of str to mapping
        Negative controls: the forms ("printed", "corrected") that each mutation replaces. Every mutation must change
        the verdict.
    corrected : Claim, optional
        The form that holds, or an extension of the printed one.
    library : tuple of LibraryCheck
        The functions of `theory` that compute what the statement is about, and what they must return.
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
    >>> [statement.mutated(control).run().agrees for control in statement.controls]
    [False]
    """

    where: str
    claim: str
    printed: Claim[Any]
    mutations: Mapping[str, Mapping[Literal["printed", "corrected"], Any]]
    corrected: Claim[Any] | None = None
    library: tuple[LibraryCheck[Any], ...] = ()
    row: str = ""
    correction: str = ""
    recorded: Verdict = Verdict.HOLDS
    name: str = ""

    @property
    def controls(self) -> dict[str, Mapping[Literal["printed", "corrected"], Any]]:
        """The mutations, and one more if both forms have the same trial: the corrected form in print."""
        if self.corrected is None or self.corrected.trial is not self.printed.trial or self.recorded.as_printed:
            return dict(self.mutations)
        return {**self.mutations, "corrected in print": {"printed": self.corrected.form}}

    @property
    def forms(self) -> tuple[Any, Any]:
        """The printed form, and the corrected one or None."""
        return self.printed.form, self.corrected and self.corrected.form

    def run(self, *, seed: int = 0, full: bool = False) -> StatementResult:
        """Try both forms and the library, and judge."""
        start = time.perf_counter()
        search = Search(self.name, seed, full)
        printed = self.printed.trial(search, self.printed.form)
        corrected = None if self.corrected is None else self.corrected.trial(search, self.corrected.form)
        library = try_library(search, self.library) if self.library else None
        texts = (self.name, self.where, self.row, self.claim, self.correction)
        verdicts = judge(printed, corrected, library, self.recorded), self.recorded
        return StatementResult(*texts, *verdicts, printed, corrected, library, time.perf_counter() - start)

    def mutated(self, mutation: str) -> "Statement":
        """Return the statement with the forms of one of its controls."""
        forms = self.controls[mutation]
        printed = replace(self.printed, form=forms.get("printed", self.printed.form))
        corrected = self.corrected and replace(self.corrected, form=forms.get("corrected", self.corrected.form))
        return replace(self, printed=printed, corrected=corrected)
