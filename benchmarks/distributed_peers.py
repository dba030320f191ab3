"""Ridgeway, dask-ml and Spark on the same Parquet files and two cores: `python -m benchmarks.distributed_peers`.

dask-ml and pyspark (with a Java machine) are not dependencies of the project. If one is not installed, its row says so.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.distributed import made, names_of, rows_of, write_files, written
from ridgeway import distributed

P = 20
N_FILES = 8


class Answer(NamedTuple):
    """The coefficients (p,), the number of rows that they come from, and the seconds it took; the cluster was there."""

    coef: Any
    n_rows: float
    seconds: float


def ours(folder: Path, files: Sequence[str], p: int) -> Answer:
    """Absorb the files into a new state file."""
    state = made(folder, p)
    with distributed.local_client(2) as client:
        begin = time.perf_counter()
        distributed.absorb(state, list(files), "all", client=client)
        model = state.model()
        return Answer(model.coef_, model.n_samples_seen_, time.perf_counter() - begin)


def dask_ml(folder: Path, files: Sequence[str], p: int) -> Answer:
    """Fit the linear regression of dask-ml with its default solver, ADMM, without a penalty to speak of."""
    import dask.dataframe as dd

    model = import_module("dask_ml.linear_model").LinearRegression(C=1e12)
    with distributed.local_client(2):
        begin = time.perf_counter()
        rows = dd.read_parquet(list(files))[[*names_of(p), "y"]].to_dask_array(lengths=True)
        X, y = rows[:, :p], rows[:, p]
        return Answer(model.fit(X, y).coef_, X.shape[0], time.perf_counter() - begin)


def spark(folder: Path, files: Sequence[str], p: int) -> Answer:
    """Fit Spark's linear regression with the normal equations."""
    feature, regression = (import_module(f"pyspark.ml.{name}") for name in ("feature", "regression"))
    settings = import_module("pyspark.sql").SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = settings.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.memory", "4g").getOrCreate()
    try:
        session.range(10).count()
        begin = time.perf_counter()
        joined = feature.VectorAssembler(inputCols=names_of(p), outputCol="X")
        model = regression.LinearRegression(featuresCol="X", labelCol="y", solver="normal", regParam=0.0)
        fitted = model.fit(joined.transform(session.read.parquet(*files)))
        coef = np.array(fitted.coefficients.toArray())
        return Answer(coef, fitted.summary.numInstances, time.perf_counter() - begin)
    finally:
        session.stop()


CONTENDERS: dict[str, tuple[str, Callable[[Path, Sequence[str], int], Answer]]] = {
    "ridgeway": ("ridgeway", ours),
    "dask-ml, ADMM": ("dask_ml", dask_ml),
    "Spark, normal": ("pyspark", spark),
}


def write_hard(folder: Path, n_rows: int, p: int = 5) -> tuple[list[str], Any]:
    """Write rows whose columns are far from zero and nearly collinear; return the files and the coefficients."""
    import pyarrow as pa
    from pyarrow import parquet

    coef, files = np.arange(1.0, p + 1), []
    for number in range(2):
        X = np.column_stack(list(rows_of(np.random.default_rng(number), n_rows, p).values())[:p])
        X[:, 1] = X[:, 0] + 1e-4 * X[:, 1]
        X += 1e5
        files.append(str(folder / f"hard-{number}.parquet"))
        parquet.write_table(pa.table(dict(zip(names_of(p), X.T, strict=True)) | {"y": X @ coef}), files[-1])
    return files, coef


def digits(found: Any, expected: Any) -> str:
    """Return the correct decimal digits of the worst coefficient."""
    return f"{max(0.0, -np.log10(np.max(np.abs(found / expected - 1.0)))):.1f}"


def compared(folder: Path, n_rows: int) -> list[str]:
    """Return the table: time, digits on the hard rows, and what a file that is named twice does."""
    write_files(folder, n_rows, P, n_rows // N_FILES)
    files = [str(folder / f"{number}.parquet") for number in range(N_FILES)]
    hard, coef = write_hard(folder, 20_000)
    lines = [
        f"| | {n_rows:,} × {P} | digits, collinear to 1e-4, mean 1e5 | rows, if one file of {N_FILES} is named twice |",
        "|---|---|---|---|",
    ]
    for name, (package, learn) in CONTENDERS.items():
        if find_spec(package) is None:
            lines.append(f"| {name} | not installed | | |")
            continue
        figures = [_figure(learn, folder, *case) for case in ((files, P), (hard, len(coef)), ([*files, files[0]], P))]
        seconds = figures[0] if isinstance(figures[0], str) else f"{figures[0].seconds:.1f} s"
        correct = figures[1] if isinstance(figures[1], str) else digits(figures[1].coef, coef)
        counted = figures[2] if isinstance(figures[2], str) else f"{figures[2].n_rows:,}"
        lines.append(f"| {name} ({version(package)}) | {seconds} | {correct} | {counted} |")
    return lines


def _figure(learn: Callable[..., Answer], folder: Path, files: Sequence[str], p: int) -> Answer | str:
    """Return the answer, or the name of the error if there is none."""
    try:
        return learn(folder, files, p)
    except Exception as error:
        return f"fails: {type(error).__name__}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    with tempfile.TemporaryDirectory() as made_here:
        written("peers", compared(Path(made_here), parser.parse_args().rows))
