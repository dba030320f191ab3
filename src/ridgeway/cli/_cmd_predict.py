"""`ridgeway predict`: predictions for the rows of a data file."""

import sys
from typing import Any

import click

from ridgeway._text import counted
from ridgeway.cli._options import command, csv_options, data_file, names, out_option, state_file
from ridgeway.cli._output import answer, progress_bar


@command(
    "ridgeway predict wages.rw new.csv --out predictions.parquet",
    "ridgeway predict flights.rw tomorrow.csv --id flight --interval 0.95 --out predictions.parquet",
    "ridgeway predict wages.rw - --out predictions.csv  # CSV from a pipe",
)
@state_file
@data_file
@click.option("--id", "ids", help="Columns to keep beside the predictions, separated by commas.")
@click.option("--interval", type=float, help="Level of prediction intervals, for new observations.")
@click.option("--confidence", type=float, help="Level of confidence intervals, for the mean.")
@click.option("--column", help="Name of the predicted column.  [default: predicted_TARGET]")
@csv_options
@out_option(help="A new file: .parquet, .csv, .tsv or .arrow.")
def predict(file: str, data: str, out: str, ids: str | None, as_json: bool, **options: Any) -> None:
    """Predict the target for each row of a data file.

    The file, or standard input (-), must have the columns of the features. Rows with missing values get no prediction
    if such rows were left out when learning. Exits with 2 and writes nothing if this is not possible or the output file
    exists.
    """
    from ridgeway import store
    from ridgeway.data import open_stream

    opened = store.open(file)
    table = open_stream(sys.stdin.buffer, csv=options["csv"]) if data == "-" else data
    with progress_bar(f"predicting {data}") as progress:
        found = opened.predict_file(table, out, ids=names(ids), progress=progress, **options)
    said = f"{out}: {counted(found.n_samples - found.n_missing, 'prediction')}"
    if found.n_missing:
        said += f"; {found.n_missing:,} of {found.n_samples:,} rows have none, because they have missing values"
    answer({"out": out, **found._asdict()}, said, as_json=as_json)
