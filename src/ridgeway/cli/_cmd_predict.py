"""`ridgeway predict`: predictions for the rows of a data file."""

from typing import Any

import click

from ridgeway.cli._options import command, csv_options, data_file, names, out_option, state_file
from ridgeway.cli._output import answer, progress_bar

BATCH = 2**16
"""How many predictions are read at a time."""


@command(
    "ridgeway predict wages.rw new.csv --out predictions.parquet",
    "ridgeway predict flights.rw tomorrow.csv --id flight --interval 0.95 --out predictions.parquet",
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
    """Predict the target for each row of a data file that has the columns of the features.

    Rows with missing values get no prediction if they were left out when learning. Exits with 2 and writes nothing if
    this is not possible or the output file exists.
    """
    from ridgeway import store

    kept = names(ids)
    with progress_bar(f"predicting {data}") as progress:
        n_samples = store.open(file).predict_file(data, out, ids=kept, progress=progress, **options)
    predicted = _count_predictions(out, len(set(kept)))
    missing, said = n_samples - predicted, f"{out}: {predicted:,} predictions"
    if missing:
        said += f"; {missing:,} of {n_samples:,} rows have none, because they have missing values"
    answer({"out": out, "n_samples": n_samples, "n_missing": missing}, said, as_json=as_json)


def _count_predictions(out: str, n_ids: int) -> int:
    """Count the rows that were written with a prediction, which is in the first column after the ids."""
    import pyarrow as pa

    from ridgeway.data import open_table

    table = open_table(out)
    name = table.columns[n_ids]
    batches = table.batches([name], rows=BATCH, kinds={name: pa.float64()})
    return sum(len(batch) - int(batch.column(name).null_count) for batch in batches)
