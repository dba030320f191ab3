"""Tables for the tests of reports: tasks that differ, tasks that do not, and names that bite."""

import numpy as np
import pandas as pd
from pyarrow import csv

from ridgeway.data import open_table
from ridgeway.datasets import Dataset

NASTY = "<script>alert('x')</script> & \"quotes\" $x^2$ {0} 100% ✓ 名前"


def opened(data):
    """Open a table or a data set as `compare` does."""
    return open_table(data.columns if isinstance(data, Dataset) else data)


def numbers_in(path):
    """Return a CSV file of a report with every digit, which not every pandas reads."""
    return csv.read_csv(path).to_pandas()


def shifted(rng, *, n_tasks=5, n=60):
    """Tasks whose features and relation differ, with a text column and some values missing."""
    frames = []
    for task in range(n_tasks):
        x = rng.normal(loc=2.0 * task, size=(n, 2))
        kind = rng.choice(["a", "b", "c"], n)
        y = 3.0 + x @ [1.0, -2.0] + 4.0 * (kind == "c") + 0.6 * x[:, 0] ** 2 + rng.normal(size=n)
        frames.append(pd.DataFrame({"site": f"s{task}", "x1": x[:, 0], "x2": x[:, 1], "kind": kind, "y": y}))
    frame = pd.concat(frames, ignore_index=True)
    frame.loc[3, "x1"] = np.nan
    frame.loc[[5, 6], "kind"] = None
    return frame


def alike(rng, *, n_tasks=5, n=60):
    """The same rows, dealt out to the tasks at random."""
    frame = shifted(rng, n_tasks=n_tasks, n=n)
    frame["site"] = rng.permutation(frame["site"].to_numpy())
    return frame


def nasty(rng):
    """Every name and category is one that a careless page, figure or file would choke on."""
    frame = shifted(rng, n_tasks=3, n=30)
    frame["site"] = frame["site"].map(lambda name: f"{name} {NASTY}")
    frame["kind"] = frame["kind"].map(lambda kind: None if kind is None or kind != kind else f"{kind} {NASTY}")
    return frame.rename(columns={"site": f"site {NASTY}", "kind": f"kind {NASTY}", "y": f"y {NASTY}"})
