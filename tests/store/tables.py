"""What the tests of the state file share."""

import numpy as np
import pyarrow as pa

from ridgeway.data import open_table, tasks_in


def task(rng, rows=20, p=3):
    X = rng.normal(size=(rows, p))
    return X, X @ np.arange(1.0, p + 1) + rng.normal(size=rows)


def same(one, two):
    return one.coef_.tobytes() == two.coef_.tobytes() and one.intercept_ == two.intercept_


def written(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        with pa.ipc.new_file(str(path), pa.Table.from_pandas(frame, preserve_index=False).schema) as sink:
            sink.write_table(pa.Table.from_pandas(frame, preserve_index=False))
    return path


def read_rows(path, schema):
    """Return the rows of a table in blocks."""
    return [block for _, block in tasks_in(open_table(path), schema, "")]
