"""Text from data and files, made safe to show: on a terminal, in a page, in a spreadsheet. Similar names. Counts."""

from collections.abc import Iterable
from difflib import get_close_matches
from html import escape

RUNNABLE = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a cell that a spreadsheet would run or hide."""


def visible(text: str) -> str:
    r"""Return text with control characters and other invisible characters written as escapes.

    Examples
    --------
    >>> print(visible("red: \x1b[31m"))
    red: \x1b[31m
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def escaped(text: str) -> str:
    """Return text for HTML, with control characters made visible.

    Examples
    --------
    >>> escaped("<b>")
    '&lt;b&gt;'
    """
    return escape(visible(text))


def quoted(text: str) -> str:
    """Return text that a spreadsheet shows rather than runs.

    Examples
    --------
    >>> quoted("=1+1")
    "'=1+1"
    """
    return f"'{text}" if text.startswith(RUNNABLE) else text


def counted(count: int, noun: str) -> str:
    """Return a count and its noun, singular or plural.

    The plural is regular: category and categories, class and classes, row and rows.

    Examples
    --------
    >>> [counted(count, "row") for count in (0, 1, 2000)]
    ['0 rows', '1 row', '2,000 rows']
    >>> [counted(2, noun) for noun in ("category", "class", "key")]
    ['2 categories', '2 classes', '2 keys']
    """
    if count == 1:
        plural = noun
    elif noun.endswith("y") and noun[-2] not in "aeiou":
        plural = f"{noun[:-1]}ies"
    else:
        plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{count:,} {plural}"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a question that names the known name closest to an unknown one, after a space; nothing if none is close.

    Names that differ in digits alone are not close: another month is another task.

    Examples
    --------
    >>> did_you_mean("tenur", ["age", "tenure"])
    " Did you mean 'tenure'?"
    >>> did_you_mean("humidity", ["age", "tenure"]), did_you_mean("2024-08", ["2024-09"])
    ('', '')
    """
    asked = str(name).casefold()
    by_case = {other.casefold(): other for other in known}
    by_case = {
        other: as_known for other, as_known in by_case.items() if other == asked or _words(other) != _words(asked)
    }
    close = get_close_matches(asked, by_case, n=1)
    return f" Did you mean {by_case[close[0]]!r}?" if close else ""


def _words(name: str) -> str:
    return "".join(c for c in name if not c.isdigit())
