"""`ridgeway predict`: predictions for the rows of a data file."""

from ridgeway.cli._options import command, data_file, out_option, state_file
from ridgeway.cli._output import answer, progress_bar


@command("ridgeway predict wages.rw new.csv --out predictions.parquet")
@state_file
@data_file
@out_option(help="A new file: .parquet, .csv, .tsv or .arrow.")
def predict(file: str, data: str, out: str, as_json: bool) -> None:
    """Predict the target for each row of a data file that has the features.

    Exits with 2 and writes nothing if this is not possible or the output file exists.
    """
    from ridgeway import store

    with progress_bar(f"predicting {data}") as progress:
        n_samples = store.open(file).predict_file(data, out, progress=progress)
    answer({"out": out, "n_samples": n_samples}, f"{out}: {n_samples:,} predictions", as_json=as_json)
