"""What commands print: lines, JSON, tables and a progress bar. All of it shows control characters as escapes."""

import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from ridgeway._printed import Printed, table_lines
from ridgeway._text import counted, visible
from ridgeway.errors import StoreError

if TYPE_CHECKING:
    from ridgeway.store import Store

Cell = str | tuple[str, str]
"""A text that is shown as it is, or a text and its style."""

PATIENCE = 2.0
"""Seconds before a progress bar appears."""


class PrintingError(Exception):
    """A result that cannot be printed: the command itself has done what it was asked to do."""


@contextmanager
def _printing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PrintingError(error.strerror or str(error)) from error


def say(*lines: str, err: bool = False, colour: str | None = None) -> None:
    """Print lines to stdout, or to stderr if anybody listens there."""
    with suppress(OSError) if err else _printing():
        for line in map(visible, lines):
            click.echo(click.style(line, fg=colour) if colour else line, err=err)


def emit(data: Any) -> None:
    """Print data as JSON; numbers that are infinite or undefined become null."""
    text = json.dumps(_finite(data), indent=2, ensure_ascii=False, allow_nan=False)
    with _printing():
        click.echo("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))


def answer(data: Any, *lines: str, as_json: bool) -> None:
    """Print the result of a command, as JSON or as lines of text."""
    if as_json:
        emit(data)
    else:
        say(*lines)


def notes_on(empty_references: dict[str, str]) -> list[str]:
    """Return a sentence about each reference level that no row has."""
    return [f"No row has {name}, which is a reference level. {remedy}" for name, remedy in empty_references.items()]


def answer_made(made: "Store", name: str, file: str, *, as_json: bool) -> None:
    """Print what a new state file holds. It is made even if it cannot be read back, so that is not a failure."""
    try:
        tasks = made.history()
    except StoreError as error:
        unread = {name: file, "n_tasks": None, "n_samples": None}
        answer(unread, f"{file}: made, but it could not be read back ({error})", as_json=as_json)
        return
    n_samples = sum(record.n_samples for record in tasks)
    found = {name: file, "n_tasks": len(tasks), "n_samples": n_samples}
    said = f"{file}: {counted(len(tasks), 'task')}, {counted(n_samples, 'row')}"
    answer(found, said, as_json=as_json)


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def print_table(
    title: str, headings: Sequence[str], rows: Iterable[Iterable[Cell]], left: Sequence[str], n_names: int = 1
) -> None:
    """Print a table to stdout, as wide as the terminal or 80 columns.

    Parameters
    ----------
    title : str
    headings : sequence of str
    rows : one cell per heading
    left : the headings of columns of text
    n_names : how many columns in front name a row
    """
    cells = [[(cell, "") if isinstance(cell, str) else cell for cell in row] for row in (headings, *rows)]

    def paint(text: str, row: int, column: int) -> str:
        style = cells[row][column][1]
        return click.style(text, **({"bold": True} if style == "bold" else {"fg": style})) if style else text

    texts = [[text for text, _ in row] for row in cells]
    say(title)
    with _printing():
        for line in table_lines(
            texts, _columns(), left=[headings.index(name) for name in left], n_names=n_names, paint=paint
        ):
            click.echo(line)


def lines_of(found: Printed) -> list[str]:
    """Return a result as lines that fit the terminal."""
    return format(found, str(_columns())).split("\n")


def _columns() -> int:
    """Return the width of the terminal, or COLUMNS; 80 if there is neither."""
    return get_terminal_size().columns


@contextmanager
def progress_bar(words: str) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function of (done, total) that draws a bar on stderr, after two seconds and only on a terminal."""
    begin = time.monotonic()
    length_unknown: Iterator[None] = (None for _ in ())
    bar = click.progressbar(length_unknown, label=visible(words), show_pos=True, width=0, file=sys.stderr)

    def show(done: int, total: int | None) -> None:
        if not bar.entered and sys.stderr.isatty() and time.monotonic() - begin >= PATIENCE:
            bars.enter_context(bar)
        if bar.entered:
            bar.length = total
            bar.update(done - bar.pos)

    with ExitStack() as bars:
        yield show


def family_line(name: str, memory: str | None, classes: Iterable[object]) -> str:
    """Say what the target of a state file is: its family, how the past is kept, and the classes."""
    words = [f"family {name}", *([f"{memory} memory"] if memory else [])]
    labels = ", ".join(map(str, classes))
    return ", ".join([*words, *([f"classes {labels}"] if labels else [])])
