"""Results as tables: lines of text that fit a width, and HTML for a notebook. Names from data are made safe."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from unicodedata import combining, east_asian_width

from ridgeway._text import escaped, visible
from ridgeway.errors import InvalidParameterError

Rows = Sequence[Sequence[str]]
"""The cells of a table as text, the head first; the first cell of a row is its name."""
Paint = Callable[[str, int, int], str]
"""Returns a cell in colour, given its text, row and column."""

WIDTH = 80
"""Columns of a terminal, unless another number is asked for."""
GAP = "  "
USUAL = 9
"""The width of a column of numbers, if there is room."""
MOST_ROWS, MOST_COLUMNS = 100, 24
"""The size of a table in a notebook; the middle of a larger one is left out."""


class Printed(ABC):
    """A title, tables with a caption each, and notes.

    `str(found)` is at most 80 columns wide, names permitting, and `f"{found:120}"` at most 120: a wider table goes on
    in further blocks, with the same names of rows. Notebooks show it as HTML.
    """

    @abstractmethod
    def _title(self) -> str:
        """Return what was computed from what, in one line."""

    @abstractmethod
    def _tables(self) -> Iterable[tuple[str, Rows]]:
        """Yield the caption, which may be empty, and the rows of each table."""

    @abstractmethod
    def _notes(self) -> list[str]:
        """Return what the numbers assume, and whatever else must be known."""

    def __str__(self) -> str:
        return format(self, str(WIDTH))

    def __format__(self, width: str) -> str:
        if width and not width.isdecimal():
            raise InvalidParameterError(f"a table is formatted with its width, such as 120; got {width!r}.")
        lines = [self._title()]
        for caption, rows in self._tables():
            lines += [*([caption] if caption else []), *table_lines(rows, int(width or WIDTH))]
        return "\n".join(map(visible, [*lines, *self._notes()]))

    def _repr_html_(self) -> str:
        """Return the tables and notes as HTML, for a notebook."""
        parts = [f"<p>{escaped(self._title())}</p>"]
        for caption, rows in self._tables():
            head, *body = _shortened(rows)
            parts += ["<table>"]
            parts += [f'<caption style="text-align: left">{escaped(caption)}</caption>'] if caption else []
            parts += ["<thead><tr>", *(f"<th>{escaped(cell)}</th>" for cell in head), "</tr></thead><tbody>"]
            for name, *cells in body:
                parts += [f'<tr><th style="text-align: left">{escaped(name)}</th>']
                parts += [*(f"<td>{escaped(cell)}</td>" for cell in cells), "</tr>"]
            parts += ["</tbody></table>"]
        return "\n".join(["<div>", *parts, *(f"<p>{escaped(note)}</p>" for note in self._notes()), "</div>"])


def table_lines(
    rows: Rows, width: int = WIDTH, *, left: Collection[int] = (0,), n_names: int = 1, paint: Paint | None = None
) -> list[str]:
    r"""Return a table as lines. What does not fit beside the names of rows goes on in further blocks, below them.

    Parameters
    ----------
    rows : the cells, the head first
    width : int
        Of a line. It is longer if the names and one column do not fit.
    left : the columns of text, aligned to the left; the others are aligned to the right
    n_names : int
        How many columns in front name a row; they are repeated in every block.
    paint : colours a cell

    Examples
    --------
    >>> print(
    ...     *table_lines([["site", "mean", "deviation"], ["north", "1.25", "0.5"]], 16),
    ...     sep="\n",
    ... )
    ----------------
    site        mean
    ----------------
    north       1.25
    ----------------
    site   deviation
    ----------------
    north        0.5
    ----------------
    """
    texts = [[visible(cell) for cell in row] for row in rows]
    exact = [max(map(_width, column)) for column in zip(*texts, strict=True)]
    usual = [size if j in left or j < n_names else max(size, USUAL) for j, size in enumerate(exact)]
    lines: list[str] = []
    for block in _blocks(exact, n_names, width):
        widths = usual if _line_width(usual, block) <= width else exact
        rule = "-" * _line_width(widths, block)
        printed = []
        for i, row in enumerate(texts):
            cells = []
            for j in block:
                space = " " * (widths[j] - _width(row[j]))
                shown = row[j] if paint is None else paint(row[j], i, j)
                cells.append(shown + space if j in left else space + shown)
            printed.append(GAP.join(cells).rstrip())
        lines += [*([] if lines else [rule]), printed[0], rule, *printed[1:], rule]
    return lines


def _line_width(widths: Sequence[int], block: Sequence[int]) -> int:
    """Return the width of a line that has the columns of a block."""
    return sum(widths[j] for j in block) + len(GAP) * (len(block) - 1)


def _blocks(widths: Sequence[int], n_names: int, width: int) -> list[list[int]]:
    """Return the columns of each block; the first ones are in all."""
    blocks = [[*range(n_names)]]
    for j in range(n_names, len(widths)):
        wider = [*blocks[-1], j]
        if len(blocks[-1]) == n_names or _line_width(widths, wider) <= width:
            blocks[-1] = wider
        else:
            blocks.append([*range(n_names), j])
    return blocks


def _width(text: str) -> int:
    """Return the columns that text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _shortened(rows: Rows) -> list[list[str]]:
    """Return the rows of a table with the middle left out, and how much that is, if it is too large."""
    head, *body = ([*row] for row in rows)
    if len(body) > MOST_ROWS:
        half, gone = MOST_ROWS // 2, len(body) - MOST_ROWS
        body[half:-half] = [[f"… {gone:,} more rows …", *("…" for _ in head[1:])]]
    if len(head) > MOST_COLUMNS:
        half, gone = MOST_COLUMNS // 2, len(head) - MOST_COLUMNS
        for row in (head, *body):
            row[half:-half] = [f"… {gone:,} more columns …" if row is head else "…"]
    return [head, *body]
