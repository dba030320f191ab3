"""`ridgeway predict`: predictions for the rows of a data file."""

import click

from ridgeway.cli._failures import guarded
from ridgeway.cli._options import as_json_option, data_file, examples, state_file
from ridgeway.cli._output import emit, progress_bar


@click.command(epilog=examples("ridgeway predict wages.rw new.csv --out predictions.parquet"))
@state_file
@data_file
@click.option("--out", required=True, type=click.Path(), help="A new file: .parquet, .csv, .tsv or .arrow.")
@as_json_option
@guarded()
def predict(file: str, data: str, out: str, as_json: bool) -> None:
    """Predict the target for each row of a data file that has the features.

    Exits with 2 and writes nothing if that is impossible or the output file exists.
    """
    from ridgeway import store

    with progress_bar(f"predicting {data}") as progress:
        n_samples = store.open(file).predict_file(data, out, progress=progress)
    if as_json:
        emit({"out": out, "n_samples": n_samples})
    else:
        click.echo(f"{out}: {n_samples:,} predictions")
