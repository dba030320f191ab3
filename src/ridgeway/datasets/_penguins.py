"""The bundled data set."""

import csv
from importlib.resources import files

import numpy as np

from ridgeway.datasets._dataset import Dataset

TEXT = {"species", "island", "sex"}


def load_penguins() -> Dataset:
    """Return the Palmer penguins: 344 birds of three species, one task per island and year, nine in all.

    Each species lives only on some of the islands, so the tasks differ strongly in their features. The species is not
    one of the `features`, because it almost identifies the island.

    Returns
    -------
    Dataset
        Columns species, island, bill_length_mm, bill_depth_mm, flipper_length_mm, body_mass_g (the target), sex, year.

    References
    ----------
    Gorman, Williams and Fraser (2014), PLoS ONE 9(3): e90081. CC0.

    Examples
    --------
    >>> from ridgeway.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> penguins.n_rows, penguins.target, penguins.task_columns
    (344, 'body_mass_g', ('island', 'year'))
    """
    text = (files("ridgeway.datasets") / "data" / "penguins.csv").read_text(encoding="utf-8")
    names, *rows = csv.reader(text.splitlines())
    columns = {}
    for name, values in zip(names, zip(*rows, strict=True), strict=True):
        if name in TEXT:
            columns[name] = np.array([None if value == "NA" else value for value in values], dtype=object)
        else:
            columns[name] = np.array([np.nan if value == "NA" else float(value) for value in values])
    columns["year"] = columns["year"].astype(np.int64)
    return Dataset(
        name="penguins",
        columns=columns,
        target="body_mass_g",
        task_columns=("island", "year"),
        features=("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "sex"),
        source="Palmer penguins: Gorman, Williams and Fraser (2014), PLoS ONE 9(3): e90081; "
        "Horst, Hill and Gorman (2020), palmerpenguins. CC0.",
    )
