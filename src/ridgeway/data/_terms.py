"""The terms of a model: columns, functions of columns, and products of them, as users write them.

`distance`, `log(distance)`, `distance^2`, `spline(hour, 6, 12, 18)`, `month(date)`, `category(store)`,
`carrier:distance`. A column whose name has other characters is put in backticks: `` `price (net)`^2 ``.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ridgeway.data._functions import FUNCTIONS, checked_arguments
from ridgeway.errors import InvalidParameterError

PLAIN = re.compile(r"[^\W\d][\w.]*(?:[ -][\w.]+)*")
"""A column name that needs no backticks."""
TOKENS = re.compile(r"\s*(?:(?P<quoted>`[^`]+`)|(?P<sign>[(),:^])|(?P<word>[^`(),:^]+))")
POWER = "power"

Call = tuple[str, tuple[str, ...]]
"""A function and its arguments after the first, as text."""


@dataclass(frozen=True)
class TermFactor:
    """A column, and the functions applied to it, the innermost first."""

    column: str
    calls: tuple[Call, ...] = ()

    def __str__(self) -> str:
        text = self.column if PLAIN.fullmatch(self.column) else f"`{self.column}`"
        for name, arguments in self.calls:
            text = f"{text}^{arguments[0]}" if name == POWER else f"{name}({', '.join((text, *arguments))})"
        return text


@dataclass(frozen=True)
class Term:
    """A product of factors; most terms have only one.

    Examples
    --------
    >>> from ridgeway.data import parse_terms
    >>> (term,) = parse_terms("carrier:log(distance)")
    >>> [factor.column for factor in term.factors], str(term)
    (['carrier', 'distance'], 'carrier:log(distance)')
    """

    factors: tuple[TermFactor, ...]

    def __str__(self) -> str:
        return ":".join(map(str, self.factors))


def column_term(column: str) -> Term:
    """Return the term of a column as it is, whatever its name.

    Examples
    --------
    >>> from ridgeway.data import column_term, parse_terms
    >>> str(column_term("price (net)"))
    '`price (net)`'
    >>> parse_terms("`price (net)`") == (column_term("price (net)"),)
    True
    """
    return Term((TermFactor(column),))


def parse_terms(terms: str | Iterable[str]) -> tuple[Term, ...]:
    """Return terms from a list of them, or from a text in which they are separated by commas; or raise.

    Examples
    --------
    >>> [
    ...     str(term)
    ...     for term in parse_terms("hour, spline(hour,6, 12,18), carrier : log(distance)")
    ... ]
    ['hour', 'spline(hour, 6, 12, 18)', 'carrier:log(distance)']
    """
    found: list[Term] = []
    for text in [terms] if isinstance(terms, str) else terms:
        parser = _Parser(text)
        found.append(parser.term())
        while isinstance(terms, str) and parser.take(","):
            found.append(parser.term())
        parser.end()
    return tuple(dict.fromkeys(found))


class _Parser:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise InvalidParameterError(f"a term must be text, such as 'log(distance)'; got {text!r}.")
        self._text, self._tokens, place = text, list[str](), 0
        while place < len(text.rstrip()):
            match = TOKENS.match(text, place)
            if match is None:
                raise self._wrong("a backtick is not closed")
            self._tokens.append(match.group().strip())
            place = match.end()
        self._place = 0

    def term(self) -> Term:
        factors = [self._factor()]
        while self.take(":"):
            factors.append(self._factor())
        return Term(tuple(factors))

    def end(self) -> None:
        if self._place < len(self._tokens):
            raise self._wrong(f"{self._tokens[self._place]!r} is not expected there")

    def take(self, sign: str) -> bool:
        """Take the next token if it is this sign."""
        found = self._place < len(self._tokens) and self._tokens[self._place] == sign
        self._place += found
        return found

    def _factor(self) -> TermFactor:
        name = self._word("a column")
        if self.take("("):
            if name not in FUNCTIONS or name == POWER:
                known = ", ".join(function for function in FUNCTIONS if function != POWER)
                raise self._wrong(f"{name!r} is not a function; known are {known}")
            factor, arguments = self._factor(), []
            while self.take(","):
                arguments.append(self._word("a number or a date"))
            if not self.take(")"):
                raise self._wrong("a ')' is missing")
            calls = (*factor.calls, (name, checked_arguments(name, arguments, self._text)))
        else:
            factor, calls = TermFactor(name.strip("`")), ()
        if self.take("^"):
            calls = (*calls, (POWER, checked_arguments(POWER, [self._word("a power")], self._text)))
        return TermFactor(factor.column, calls)

    def _word(self, what: str) -> str:
        word = self._tokens[self._place] if self._place < len(self._tokens) else ""
        if not word or word in "(),:^":
            raise self._wrong(f"{what} is missing" if not word else f"{word!r} is not {what}")
        self._place += 1
        return word

    def _wrong(self, what: str) -> InvalidParameterError:
        return InvalidParameterError(
            f"cannot read the term {self._text!r}: {what}. Terms look like distance, log(distance), distance^2, "
            "spline(hour, 6, 12, 18), month(date), category(store) or carrier:distance; put other column names in "
            "backticks."
        )
