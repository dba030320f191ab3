"""Text from data and files, made safe to show: on a terminal, and in a spreadsheet."""

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


def quoted(text: str) -> str:
    """Return text that a spreadsheet shows rather than runs.

    Examples
    --------
    >>> quoted("=1+1")
    "'=1+1"
    """
    return f"'{text}" if text.startswith(RUNNABLE) else text
