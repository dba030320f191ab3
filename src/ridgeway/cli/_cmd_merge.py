"""`ridgeway merge`: two state files into a new one."""

import click

from ridgeway.cli._options import command, out_option
from ridgeway.cli._output import answer_made
from ridgeway.errors import InvalidParameterError


@command(
    "ridgeway merge north.rw south.rw --out both.rw",
    "ridgeway merge north.rw south.rw --prefixes north-,south- --out both.rw",
)
@click.argument("one", type=click.Path(), metavar="ONE.rw")
@click.argument("two", type=click.Path(), metavar="TWO.rw")
@click.option("--prefixes", help="What to put before the task ids of each file, separated by a comma.")
@click.option("--total-only", is_flag=True, help="Merge the totals alone, even if tasks are kept.")
@out_option(help="The new state file, which must not exist.")
def merge(one: str, two: str, prefixes: str | None, total_only: bool, out: str, as_json: bool) -> None:
    """Merge two state files into a new one.

    The result is as if it had absorbed the tasks of both. Columns are matched by name. Exits with 2 and says what
    differs if columns or settings differ, or if a task is in both.
    """
    from ridgeway import store

    first, comma, second = (prefixes or ",").partition(",")
    if not comma or "," in second:
        raise InvalidParameterError(
            f"--prefixes needs two prefixes, one for each file, such as north-,south-; got {prefixes!r}."
        )
    made = store.open(one).merge(two, out, prefixes=(first, second), total_only=total_only)
    answer_made(made, "out", out, as_json=as_json)
