"""What commands share: options, JSON, tables, and progress past two seconds."""

import json
import math
import sys
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any

import click

from ridgeway.errors import InvalidParameterError

__all__ = [
    "Progress",
    "as_json_option",
    "checked_jobs",
    "emit",
    "examples",
    "jobs_option",
    "names",
    "print_table",
    "state_file",
]

PATIENCE = 2.0
"""Seconds after which a progress bar is shown."""
PLAIN_WIDTH = 160

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
jobs_option = click.option(
    "--jobs", type=int, default=-1, show_default=True, help="Worker processes; -1 is one per core."
)
state_file = click.argument("file", type=click.Path(), metavar="FILE.rw")


def checked_jobs(jobs: int) -> int:
    """Return a number of worker processes, or raise."""
    if jobs == 0:
        raise InvalidParameterError("--jobs must be 1 or more, or -1 for one per core; got 0.")
    return jobs


def names(value: str | None) -> list[str]:
    """Return the names in a list with commas."""
    return [] if value is None else [name.strip() for name in value.split(",")]


def emit(data: Any) -> None:
    """Print data as JSON; a number that is infinite or undefined is null."""
    click.echo(json.dumps(_finite(data), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def print_table(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()
) -> None:
    """Print a table; cells are shown as they are."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PLAIN_WIDTH)
    table = Table(title=Text(title))
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


class Progress:
    """A progress bar on stderr that appears after two seconds; silent where that is no terminal."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._begin = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int | None) -> None:
        """Take note of the rows that are done."""
        if self._bar is None:
            if time.monotonic() - self._begin < PATIENCE or not sys.stderr.isatty():
                return
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self._words, total=total)
            self._bar.start()
        self._bar.update(self._task, completed=done)


def examples(*lines: str) -> str:
    """Return the end of a command's help."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
