"""Arguments and options that several commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ridgeway.errors import InvalidParameterError

Command = TypeVar("Command", bound=Callable[..., Any])

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
jobs_option = click.option(
    "--jobs", type=int, default=-1, show_default=True, help="Number of worker processes; -1 for one per core."
)
state_file = click.argument("file", type=click.Path(), metavar="FILE.rw")
data_file = click.argument("data", type=click.Path(), metavar="DATA")


def choice(name: str, *values: str, words: str) -> Callable[[Command], Command]:
    """Return an option with fixed values, the first of which is the default."""
    return click.option(name, type=click.Choice(values), default=values[0], show_default=True, help=words)


def checked_jobs(jobs: int) -> int:
    """Return a number of worker processes, or raise."""
    if jobs == 0:
        raise InvalidParameterError("--jobs must be 1 or more, or -1 for one per core; got 0.")
    return jobs


def names(value: str | None) -> list[str]:
    """Return the names in a comma-separated list."""
    return [] if value is None else [name.strip() for name in value.split(",")]


def examples(*lines: str) -> str:
    """Return the end of a command's help."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
