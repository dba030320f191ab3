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
        Of a line. Text is folded rather than cut; numbers are neither.
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
    columns = [_Column(column, j in left, j < n_names, width) for j, column in enumerate(zip(*texts, strict=True))]
    lines: list[str] = []
    for block in _blocks([column.least for column in columns], n_names, width):
        widths = _fitted([columns[j] for j in block], width - len(GAP) * (len(block) - 1))
        rule = "-" * (sum(widths) + len(GAP) * (len(block) - 1))
        printed = [_row_lines(row, i, block, widths, left, paint) for i, row in enumerate(texts)]
        lines += [*([] if lines else [rule]), *printed[0], rule, *(line for row in printed[1:] for line in row), rule]
    return lines


class _Column:
    """The usual width of a column, that of its cells, and the least: text can be folded."""

    def __init__(self, cells: Sequence[str], text: bool, name: bool, width: int) -> None:
        fold = max(width // 3, USUAL)
        head, body = cells[0], max(map(_width, cells[1:]), default=0)
        self.wish = max(_width(head), body)
        self.usual = self.wish if text or name else max(self.wish, USUAL)
        word = max(map(_width, head.split()), default=0)
        self.least = max(min(word, fold), min(body, fold) if text else body)


def _blocks(least: Sequence[int], n_names: int, width: int) -> list[list[int]]:
    """Return the columns of each block; the first ones are in all."""
    blocks = [[*range(n_names)]]
    for j in range(n_names, len(least)):
        wider = [*blocks[-1], j]
        if len(blocks[-1]) == n_names or sum(least[i] + len(GAP) for i in wider) - len(GAP) <= width:
            blocks[-1] = wider
        else:
            blocks.append([*range(n_names), j])
    return blocks


def _fitted(columns: Sequence[_Column], room: int) -> list[int]:
    """Return the usual widths of columns or, without room, others: what is left goes to those first that lack least."""
    if sum(column.usual for column in columns) <= room:
        return [column.usual for column in columns]
    widths = [column.least for column in columns]
    for j in sorted(range(len(columns)), key=lambda j: columns[j].wish - columns[j].least):
        widths[j] += max(min(columns[j].wish - columns[j].least, room - sum(widths)), 0)
    return widths


def _row_lines(
    row: Sequence[str],
    number: int,
    block: Sequence[int],
    widths: Sequence[int],
    left: Collection[int],
    paint: Paint | None,
) -> list[str]:
    """Return the lines of a row: several if a cell is folded."""
    parts = [_folded(row[j], width) for j, width in zip(block, widths, strict=True)]
    lines = []
    for k in range(max(map(len, parts))):
        cells = []
        for j, part, width in zip(block, parts, widths, strict=True):
            text = part[k] if k < len(part) else ""
            space = " " * (width - _width(text))
            shown = text if paint is None else paint(text, number, j)
            cells.append(shown + space if j in left else space + shown)
        lines.append(GAP.join(cells).rstrip())
    return lines


def _folded(text: str, width: int) -> list[str]:
    """Return text as lines: broken at spaces; within a word, after punctuation or anywhere, if it is too long."""
    if _width(text) <= width:
        return [text]
    lines: list[str] = []
    for word in text.split(" "):
        if lines and _width(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
            continue
        while _width(word) > width:
            most = next(k for k in range(len(word), 0, -1) if k == 1 or _width(word[:k]) <= width)
            soft = max(word.rfind(mark, 0, most) + 1 for mark in "-_=/:.,")
            end = soft if 2 * soft > most else most
            lines.append(word[:end])
            word = word[end:]
        lines.append(word)
    return lines


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
