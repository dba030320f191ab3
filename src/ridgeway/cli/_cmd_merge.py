"""`ridgeway merge`: two state files into a new one."""

import click

from ridgeway.cli._options import command, out_option
from ridgeway.cli._output import answer


@command("ridgeway merge north.rw south.rw --out both.rw")
@click.argument("one", type=click.Path(), metavar="ONE.rw")
@click.argument("two", type=click.Path(), metavar="TWO.rw")
@out_option(help="The new state file, which must not exist.")
def merge(one: str, two: str, out: str, as_json: bool) -> None:
    """Create a state file as if it had absorbed the tasks of both.

    Exits with 2 and says what differs if the schemas differ or a task is in both.
    """
    from ridgeway import store

    tasks = store.open(one).merge(two, out).history()
    n_samples = sum(record.n_samples for record in tasks)
    found = {"out": out, "n_tasks": len(tasks), "n_samples": n_samples}
    answer(found, f"{out}: {len(tasks)} tasks, {n_samples:,} rows", as_json=as_json)
