"""What the tests of tasks in parts share: rows in several files, and how states are compared."""

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from ridgeway import store

FEATURES = ["a", "b", "c"]
SIZES = (9000, 100, 20000, 8192, 5, 17000, 1)
"""Rows of the files: none ends where a chunk of the digest ends, some are smaller than one."""


def rows(rng, n_rows):
    X = rng.normal(size=(n_rows, 3)) * 10.0 ** rng.uniform(-2, 2, size=3)
    return pd.DataFrame(X, columns=FEATURES).assign(y=X @ [1.0, 2.0, 3.0] + rng.normal(size=n_rows))


def files_in(folder, frames, row_group_size=7000):
    """Write one file per frame and one with all rows; return the pattern of the first, and the second."""
    folder.mkdir(exist_ok=True)
    for number, frame in enumerate(frames):
        write(frame, folder / f"part-{number}.parquet", row_group_size)
    return str(folder / "part-*.parquet"), write(pd.concat(frames), folder / "all.parquet", row_group_size)


def write(frame, path, row_group_size=7000):
    parquet.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, row_group_size=row_group_size)
    return path


def made(path, **settings):
    return store.create(path, **{"features": FEATURES, "target": "y"} | settings)


def state_of(one):
    """Return the state as bytes."""
    return {name: array.tobytes() for name, array in one.model().to_arrays().items()}


def part_files(one):
    return sorted(one.path.parent.glob(f"{one.path.name}.parts/*/*"))


def spread_out(tmp_path, sizes=SIZES, seed=5):
    rng = np.random.default_rng(seed)
    return files_in(tmp_path / "data", [rows(rng, n_rows) for n_rows in sizes])
