"""`ridgeway predict`, `merge`, `export` and `import`: what goes out of a state file, and into a new one."""

import click

from ridgeway.cli._failures import guarded
from ridgeway.cli._shared import Progress, as_json_option, emit, examples, state_file

__all__ = ["export", "import_", "merge", "predict"]


@click.command(epilog=examples("ridgeway predict wages.rw new.csv --out predictions.parquet"))
@state_file
@click.argument("data", type=click.Path(), metavar="DATA")
@click.option("--out", required=True, type=click.Path(), help="A new file: .parquet, .csv or .arrow.")
@as_json_option
@guarded()
def predict(file: str, data: str, out: str, as_json: bool) -> None:
    """Predict for each row of a data file that has the features.

    Exits with 2, and writes nothing, where it cannot, or where there is a file of that name.
    """
    from ridgeway import store

    with Progress(f"predicting {data}") as progress:
        n_samples = store.open(file).predict_file(data, out, progress=progress)
    if as_json:
        emit({"out": out, "n_samples": n_samples})
    else:
        click.echo(f"{out}: {n_samples:,} predictions")


@click.command(epilog=examples("ridgeway merge north.rw south.rw --out both.rw"))
@click.argument("one", type=click.Path(), metavar="ONE.rw")
@click.argument("two", type=click.Path(), metavar="TWO.rw")
@click.option("--out", required=True, type=click.Path(), help="The state file to make, which must not exist yet.")
@as_json_option
@guarded()
def merge(one: str, two: str, out: str, as_json: bool) -> None:
    """Make a state file as if it had absorbed the tasks of two.

    Exits with 2, and says what differs, where they are not about the same or have a task in common.
    """
    from ridgeway import store

    tasks = store.open(one).merge(two, out).history()
    if as_json:
        emit({"out": out, "n_tasks": len(tasks), "n_samples": sum(record.n_samples for record in tasks)})
    else:
        click.echo(f"{out}: {len(tasks)} tasks, {sum(record.n_samples for record in tasks):,} rows")


@click.command(
    epilog=examples("ridgeway export wages.rw model.safetensors", "ridgeway export wages.rw coefficients.csv")
)
@state_file
@click.argument("out", type=click.Path(), metavar="OUT")
@as_json_option
@guarded()
def export(file: str, out: str, as_json: bool) -> None:
    """Write plain arrays and a manifest (OUT.safetensors), or the coefficients (OUT.csv).

    Exits with 2, and writes nothing, where it cannot, or where there is a file of that name.
    """
    from ridgeway import store

    store.open(file).export(out)
    if as_json:
        emit({"out": out})
    else:
        click.echo(f"{out}: exported")


@click.command("import", epilog=examples("ridgeway import model.safetensors wages.rw"))
@click.argument("source", type=click.Path(), metavar="IN.safetensors")
@state_file
@as_json_option
@guarded()
def import_(source: str, file: str, as_json: bool) -> None:
    """Make a state file of what `ridgeway export` wrote. Exits with 2 where that is not intact."""
    from ridgeway import store

    tasks = store.import_arrays(source, file).history()
    if as_json:
        emit({"file": file, "n_tasks": len(tasks), "n_samples": sum(record.n_samples for record in tasks)})
    else:
        click.echo(f"{file}: {len(tasks)} tasks, {sum(record.n_samples for record in tasks):,} rows")
