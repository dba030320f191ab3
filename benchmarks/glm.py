"""Classes and counts of 36 tasks: how far learning one task after another ends from the pooled estimate.

`python -m benchmarks.glm` takes about a minute on the 291,140 flights of `datasets.load_flights`, which needs the extra
`data`.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import number, table
from ridgeway import GeneralizedLogistic, GeneralizedPoisson, weights
from ridgeway.datasets import load_flights

Array = NDArray[np.float64]
WEATHER = ("temp", "dewp", "humid", "wind_speed", "precip", "pressure", "visib")
LATE = 15.0
"""Minutes from which a flight is late."""
RIDGE = 0.1
PRIOR = weights.Accumulated(prior=1e-3)
"""In a month with little rain, a few rows separate the classes: the first task needs a prior."""
METHODS: dict[str, dict[str, Any]] = {
    "cubic": {"weights": PRIOR, "memory": "cubic"},
    "quadratic": {"weights": PRIOR, "memory": "quadratic"},
    "ridge-anchored": {"weights": weights.Isotropic(RIDGE)},
}


@dataclass(frozen=True, eq=False)
class Stream:
    """Tasks in the order of time.

    Attributes
    ----------
    X : ndarray of shape (n, p), of unit variance, so that one penalty fits all columns
    y, offset : ndarray of shape (n,)
    tasks : list of index arrays
    model : the class of the estimator
    """

    X: Array
    y: Array
    offset: Array
    tasks: list[NDArray[np.intp]]
    model: Any

    def learned(self, order: Sequence[int] | None = None, **settings: Any) -> Any:
        """Return a model that has learned the tasks in an order."""
        model = self.model(**settings)
        for place in range(len(self.tasks)) if order is None else order:
            rows = self.tasks[place]
            model.partial_fit(self.X[rows], self.y[rows], offset=self.offset[rows])
        return model

    def pooled(self) -> Any:
        """Return a model that has learned all rows at once."""
        return self.model(PRIOR).fit(self.X, self.y, offset=self.offset)

    def log_likelihood(self, model: Any) -> float:
        """Return the log-likelihood of all rows, up to a constant."""
        eta = self.X @ model.coef_ + model.intercept_ + self.offset
        rest = np.logaddexp(0.0, eta) if self.model is GeneralizedLogistic else np.exp(eta)
        return float(np.sum(self.y * eta - rest))

    def distance(self, model: Any, pooled: Any) -> float:
        """Return the largest difference of a coefficient from the pooled one, the intercept included, in its errors."""
        away = np.append(model.coef_ - pooled.coef_, model.intercept_ - pooled.intercept_)
        return float(np.max(np.abs(away) / np.append(pooled.standard_errors_, pooled.intercept_error_)))


def late_flights(every: int = 1) -> Stream:
    """Return whether each flight was late, with hour, distance and weather: one task per month and airport."""
    columns = {name: values[::every] for name, values in load_flights().columns.items()}
    X = np.column_stack([np.asarray(columns[name], dtype=float) for name in ("hour", "distance", *WEATHER)])
    y = (np.asarray(columns["arr_delay"], dtype=float) > LATE).astype(float)
    labels = [f"{month:02d} {origin}" for month, origin in zip(columns["month"], columns["origin"], strict=True)]
    return Stream(_scaled(X), y, np.zeros(len(y)), _tasks(labels), GeneralizedLogistic)


def departures() -> Stream:
    """Return how many flights left an airport in each hour, with the hour and the weather."""
    return _by_hour(late=False)


def late_per_hour() -> Stream:
    """Return how many flights of an airport were late in each hour, out of those that left: an offset."""
    return _by_hour(late=True)


def _by_hour(*, late: bool) -> Stream:
    columns = load_flights().columns
    keys = [np.asarray(columns[name], dtype=str) for name in ("origin", "month", "hour", "temp", "pressure", "humid")]
    _, first, hour = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
    left = np.bincount(hour.ravel()).astype(float)
    X = np.column_stack([np.asarray(columns[name], dtype=float)[first] for name in ("hour", *WEATHER)])
    labels = [f"{columns['month'][row]:02d} {columns['origin'][row]}" for row in first]
    if not late:
        return Stream(_scaled(X), left, np.zeros(len(left)), _tasks(labels), GeneralizedPoisson)
    counts = np.bincount(hour.ravel(), np.asarray(columns["arr_delay"], dtype=float) > LATE).astype(float)
    return Stream(_scaled(X), counts, np.log(left), _tasks(labels), GeneralizedPoisson)


STREAMS = {
    "late flights (binomial)": late_flights,
    "departures per hour (Poisson)": departures,
    "late flights per hour, with an offset (Poisson)": late_per_hour,
}


def _scaled(X: Array) -> Array:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def _tasks(labels: Sequence[str]) -> list[NDArray[np.intp]]:
    """Return the rows of each label, in the order of the labels."""
    found, places = np.unique(np.array(labels), return_inverse=True)
    return [np.flatnonzero(places == place) for place in range(len(found))]


def measured(stream: Stream, orders: int) -> list[list[str]]:
    """Return a row per method: distances in order of time and in random orders, and what the forgetting costs."""
    pooled = stream.pooled()
    best = stream.log_likelihood(pooled)
    last = stream.learned([len(stream.tasks) - 1], weights=PRIOR)
    whole = best - stream.log_likelihood(last)
    shuffled = [np.random.default_rng(seed).permutation(len(stream.tasks)).tolist() for seed in range(orders)]
    rows = []
    for name, settings in METHODS.items():
        model = stream.learned(**settings)
        share = (best - stream.log_likelihood(model)) / whole
        away = [stream.distance(stream.learned(order, **settings), pooled) for order in shuffled]
        rows.append([name, number(stream.distance(model, pooled)), number(float(np.median(away))), f"{share:.4%}"])
    return [*rows, ["last task", number(stream.distance(last, pooled)), "", "100.0000%"]]


def main() -> None:
    """Measure the streams, and print a table for each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.glm", description=__doc__)
    parser.add_argument("--orders", type=int, default=10, help="random orders of the tasks")
    options = parser.parse_args()
    head = ["memory", "order of time", "random orders, median", "log-likelihood lost"]
    for title, make in STREAMS.items():
        stream = make()
        print(f"{title}: {len(stream.y):,} rows, {len(stream.tasks)} tasks; distances in standard errors")
        print("\n".join(table(head, measured(stream, options.orders))))


if __name__ == "__main__":
    main()
