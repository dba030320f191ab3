"""Tables that read the same on a terminal and in Markdown."""

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: the first column to the left, the others to the right."""
    widths = [max(len(line[i]) for line in (header, *rows)) for i in range(len(header))]
    rule = [":" + "-" * (widths[0] + 1), *("-" * (width + 1) + ":" for width in widths[1:])]
    return [_line(header, widths), "|" + "|".join(rule) + "|", *(_line(row, widths) for row in rows)]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (f" {cell:{'<' if i == 0 else '>'}{widths[i]}} " for i, cell in enumerate(cells))
    return "|".join(["", first, *rest, ""])


def number(value: float) -> str:
    """Return a number to three digits, without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:.3g}"
