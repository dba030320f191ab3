"""`ridgeway merge`: two state files into a new one."""

import click

from ridgeway.cli._failures import guarded
from ridgeway.cli._options import as_json_option, examples
from ridgeway.cli._output import emit


@click.command(epilog=examples("ridgeway merge north.rw south.rw --out both.rw"))
@click.argument("one", type=click.Path(), metavar="ONE.rw")
@click.argument("two", type=click.Path(), metavar="TWO.rw")
@click.option("--out", required=True, type=click.Path(), help="The new state file, which must not exist.")
@as_json_option
@guarded()
def merge(one: str, two: str, out: str, as_json: bool) -> None:
    """Make a state file as if one file had absorbed the tasks of both.

    Exits with 2 and says what differs if the schemas differ or a task is in both.
    """
    from ridgeway import store

    tasks = store.open(one).merge(two, out).history()
    n_samples = sum(record.n_samples for record in tasks)
    if as_json:
        emit({"out": out, "n_tasks": len(tasks), "n_samples": n_samples})
    else:
        click.echo(f"{out}: {len(tasks)} tasks, {n_samples:,} rows")
