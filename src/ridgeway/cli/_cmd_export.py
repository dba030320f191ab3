"""`ridgeway export`: a state as plain arrays, or its coefficients."""

import click

from ridgeway.cli._options import command, state_file
from ridgeway.cli._output import answer


@command("ridgeway export wages.rw model.safetensors", "ridgeway export wages.rw coefficients.csv")
@state_file
@click.argument("out", type=click.Path(), metavar="OUT")
def export(file: str, out: str, as_json: bool) -> None:
    """Write the state as plain arrays, or its coefficients.

    OUT.safetensors has the arrays and a manifest, OUT.csv the coefficients. Exits with 2 and writes nothing if this is
    not possible or the output file exists.
    """
    from ridgeway import store

    store.open(file).export(out)
    answer({"out": out}, f"{out}: exported", as_json=as_json)
