"""`ridgeway backup`: a checked copy of a state file."""

import click

from ridgeway._text import counted
from ridgeway.cli._options import command, state_file
from ridgeway.cli._output import answer


@command("ridgeway backup wages.rw copy.rw")
@state_file
@click.argument("copy", type=click.Path(), metavar="COPY.rw")
def backup(file: str, copy: str, as_json: bool) -> None:
    """Copy a state file, even while it is in use, and check it.

    The copy is checked in full. Exits with 2 and writes nothing if COPY.rw exists or FILE.rw is damaged.
    """
    from ridgeway import store

    health = store.open(file).backup(copy)
    held = f"{counted(health.n_tasks, 'task')}, {counted(health.n_samples, 'row')}"
    said = f"{copy}: an intact copy of {file}. {held}"
    answer({"file": file, "copy": copy, **health.as_dict()}, said, as_json=as_json)
