"""Who is measured: Ridgeway, its peers, and bare kernels that validate nothing, behind one small interface."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from river.linear_model import BayesianLinearRegression
from sklearn.linear_model import SGDRegressor
from sklearnex.linear_model import IncrementalLinearRegression, IncrementalRidge

from benchmarks.bars import KINDS
from ridgeway import GeneralizedRidge
from ridgeway.data import InformationKind
from ridgeway.weights import Accumulated

Array = NDArray[np.float64]
Task = tuple[Array, Array]

N_TASKS = 20
PEER = "scikit-learn-intelex"
RIVER, SGD, NUMPY, TORCH = "river", "SGDRegressor", "NumPy kernel", "torch kernel"
# river inverts a matrix at every task; it has no intercept and its prior cannot be zero.
RIVER_MOST_FEATURES = 200


@dataclass(frozen=True)
class Cell:
    """One place of the table: sizes, how often coefficients are asked for, intercept, threads."""

    n_samples: int
    n_features: int
    every: bool = False
    fit_intercept: bool = True
    threads: int = 2
    n_tasks: int = N_TASKS

    @property
    def prior(self) -> float:
        """1 where a system that is solved has no more rows than features, and so would be singular; 0 elsewhere."""
        rows = self.n_samples * (1 if self.every else self.n_tasks)
        return float(rows <= self.n_features)

    @property
    def asked(self) -> str:
        """How often coefficients are asked for, in words."""
        return "every task" if self.every else "at the end"

    def __str__(self) -> str:
        intercept = "" if self.fit_intercept else ", no intercept"
        return f"({self.n_samples}, {self.n_features}) {self.asked}{intercept}, {self.threads} threads"


class Contender(Protocol):
    """Something that learns task after task."""

    def learn(self, X: Array, y: Array) -> None:
        """Learn one task."""

    def coef(self) -> Array | None:
        """Return the coefficients; None if they are not those of the pooled problem."""


@dataclass
class Estimator:
    """Anything with `partial_fit` and `coef_`."""

    model: Any
    exact: bool = True

    def learn(self, X: Array, y: Array) -> None:
        """Learn one task."""
        self.model.partial_fit(X, y)

    def coef(self) -> Array | None:
        """Return the coefficients."""
        coef = np.asarray(self.model.coef_).ravel()
        return coef if self.exact else None


@dataclass
class River:
    """river's BayesianLinearRegression, fed with DataFrames that share the memory of the arrays.

    One prediction is the cheapest way to make it solve.
    """

    model: BayesianLinearRegression = field(default_factory=BayesianLinearRegression)
    row: pd.DataFrame = field(default_factory=pd.DataFrame)

    def learn(self, X: Array, y: Array) -> None:
        """Learn one task."""
        frame = pd.DataFrame(X, copy=False)
        self.row = frame.iloc[:1]
        self.model.learn_many(frame, pd.Series(y, copy=False))

    def coef(self) -> None:
        """Solve for the coefficients, which carry another prior."""
        self.model.predict_many(self.row)


class NumpyKernel:
    """XᵀX, Xᵀy and sums added up, then one solve: no check, no scaling, no rank."""

    xp: Any = np

    def __init__(self, *, fit_intercept: bool, prior: float) -> None:
        self.fit_intercept, self.prior = fit_intercept, prior
        self.moments: Any = 0.0
        self.cross: Any = 0.0
        self.sum_x: Any = 0.0
        self.sum_y: Any = 0.0
        self.n_samples = 0

    def learn(self, X: Array, y: Array) -> None:
        """Learn one task."""
        A, b = self.xp.asarray(X), self.xp.asarray(y)
        self.moments = self.moments + A.T @ A
        self.cross = self.cross + A.T @ b
        self.n_samples += len(X)
        if self.fit_intercept:
            self.sum_x = self.sum_x + A.sum(0)
            self.sum_y = self.sum_y + b.sum()

    def coef(self) -> Array:
        """Return the coefficients."""
        S, s = self.moments + 0.0, self.cross
        if self.fit_intercept:
            S -= self.sum_x[:, None] * (self.sum_x / self.n_samples)
            s = s - self.sum_x * (self.sum_y / self.n_samples)
        if self.prior:
            S += self.prior * self.xp.eye(len(S), dtype=self.xp.float64)
        return np.asarray(self.xp.linalg.solve(S, s))


def makers(cell: Cell) -> dict[str, Callable[[], Contender]]:
    """Return the contenders of a cell by name, each as a function that makes a fresh one."""
    options: dict[str, Any] = {"fit_intercept": cell.fit_intercept, "prior": cell.prior}
    found: dict[str, Callable[[], Contender]] = {kind: _ridgeway(kind, **options) for kind in KINDS}
    found[PEER] = lambda: Estimator(
        IncrementalRidge(alpha=cell.prior, fit_intercept=cell.fit_intercept)
        if cell.prior
        else IncrementalLinearRegression(fit_intercept=cell.fit_intercept)
    )
    found[SGD] = lambda: Estimator(sgd(cell.n_features, fit_intercept=cell.fit_intercept), exact=False)
    if cell.n_features <= RIVER_MOST_FEATURES:
        found[RIVER] = River
    found[NUMPY] = lambda: NumpyKernel(**options)
    if find_spec("torch"):
        found[TORCH] = lambda: _torch_kernel()(**options)
    return found


def sgd(n_features: int, *, fit_intercept: bool = True) -> SGDRegressor:
    """Return an SGDRegressor whose steps are short enough not to diverge on standard normal columns."""
    return SGDRegressor(fit_intercept=fit_intercept, eta0=0.1 / n_features)


def _ridgeway(kind: InformationKind, *, fit_intercept: bool, prior: float) -> Callable[[], Contender]:
    return lambda: Estimator(GeneralizedRidge(Accumulated(prior=prior), information=kind, fit_intercept=fit_intercept))


@lru_cache(maxsize=1)
def _torch_kernel() -> type[NumpyKernel]:
    """Return the same kernel on torch, which is imported only where it is used."""
    return type("TorchKernel", (NumpyKernel,), {"xp": import_module("torch")})


@lru_cache(maxsize=1)
def make_tasks(n_samples: int, n_features: int, n_tasks: int = N_TASKS) -> tuple[Task, ...]:
    """Return the tasks of a cell, always the same: standard normal rows, a linear target and noise."""
    rng = np.random.default_rng(3)
    true_coef = rng.standard_normal(n_features)
    tasks = []
    for _ in range(n_tasks):
        X = rng.standard_normal((n_samples, n_features))
        tasks.append((X, X @ true_coef + rng.standard_normal(n_samples)))
    return tuple(tasks)
