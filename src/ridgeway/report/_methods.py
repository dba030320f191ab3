"""Who is compared: every estimator of Ridgeway, and the peers that are installed."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ridgeway.errors import InvalidParameterError
from ridgeway.estimators import ContinualRidge, EarlyStopping, GeneralizedRidge, MinimumNorm, Oracle
from ridgeway.weights import Accumulated

__all__ = ["METHODS", "Learner", "Method", "choose_methods"]

Array = NDArray[np.float64]

SGD_STEPS = 2000
"""SGDRegressor passes over a task as often as it takes to make this many steps, at least once."""


class Learner(Protocol):
    """Something that learns task after task."""

    def partial_fit(self, X: Array, y: Array) -> Any:
        """Learn one task."""

    def predict(self, X: Array) -> Array:
        """Return predictions of shape (n_rows,)."""


@dataclass(frozen=True)
class Method:
    """One contender: what it is called, and how a fresh one is made.

    Attributes
    ----------
    key : str
        As `--methods` has it, such as `crr:0.1`.
    name : str
    about : str
        What it does with the past, in a few words.
    make : callable
    peer : bool
        Whether it is another package's.
    """

    key: str
    name: str
    about: str
    make: Callable[[], Learner]
    peer: bool = False


class Sgd:
    """scikit-learn's SGDRegressor: a gradient step a row, of its default length or less where that would overflow."""

    def __init__(self) -> None:
        from sklearn.linear_model import SGDRegressor

        self.model = SGDRegressor(random_state=0)

    def partial_fit(self, X: Array, y: Array) -> "Sgd":
        """Learn one task."""
        longest = 1.0 + float(np.square(X).sum(axis=1).max())
        self.model.set_params(eta0=min(0.01, 0.5 / longest))
        passes = math.ceil(SGD_STEPS / len(X))
        self.model.partial_fit(np.tile(X, (passes, 1)), np.tile(y, passes))
        return self

    def predict(self, X: Array) -> Array:
        """Return predictions."""
        return self.model.predict(X)


class River:
    """river's BayesianLinearRegression: ridge regression on all rows so far, its prior 1, without an intercept."""

    def __init__(self) -> None:
        from river.linear_model import BayesianLinearRegression

        self.model = BayesianLinearRegression()

    def partial_fit(self, X: Array, y: Array) -> "River":
        """Learn one task."""
        import pandas as pd

        self.model.learn_many(pd.DataFrame(X), pd.Series(y))
        return self

    def predict(self, X: Array) -> Array:
        """Return predictions."""
        import pandas as pd

        return np.asarray(self.model.predict_many(pd.DataFrame(X)), dtype=np.float64)


def _ridge(value: float) -> Method:
    return Method(f"crr:{value:g}", "ContinualRidge", f"ŵ; λ = {value:g}", lambda: ContinualRidge(value))


def _steps(value: float) -> Method:
    about = f"ŵ; {value:g} gradient steps a task"
    return Method(f"es:{value:g}", "EarlyStopping", about, lambda: EarlyStopping(n_steps=int(value)))


def _generalized(value: float) -> Method:
    prior = f", prior {value:g}" if value else ""
    return Method(
        f"gr:{value:g}" if value else "gr",
        "GeneralizedRidge",
        f"ŵ and the information{prior}",
        lambda: GeneralizedRidge(Accumulated(prior=value)),
    )


PARAMETRIC: dict[str, tuple[Callable[[float], Method], float]] = {
    "crr": (_ridge, 1.0),
    "es": (_steps, 100.0),
    "gr": (_generalized, 0.0),
}
PLAIN = {
    "mn": Method("mn", "MinimumNorm", "ŵ", MinimumNorm),
    "oracle": Method("oracle", "Oracle", "every row: the yardstick", Oracle),
    "sgd": Method("sgd", "SGDRegressor", "ŵ; scikit-learn", Sgd, peer=True),
    "river": Method("river", "river Bayesian", "ŵ and two matrices; its prior is 1", River, peer=True),
}
METHODS = ("mn", "es", "crr", "sgd", "river", "gr", "oracle")
"""What is compared unless told otherwise, in the order of the tables."""


def choose_methods(keys: Sequence[str] | None = None) -> tuple[list[Method], list[str]]:
    """Return the methods named, all of them if None, and which of these are not installed.

    The oracle is always among them: it is what the others are measured against.

    Parameters
    ----------
    keys : sequence of str, optional
        mn, es, crr, sgd, river, gr, oracle; with a number for the steps of es (`es:20`), the penalty of crr (`crr:0.1`)
        and the prior of gr (`gr:1`).
    """
    installed = {"river": all(find_spec(package) is not None for package in ("river", "pandas"))}
    wanted = list(METHODS) if keys is None else list(dict.fromkeys([*keys, "oracle"]))
    methods = [_method(key) for key in wanted]
    absent = [method.key for method in methods if not installed.get(method.key, True)]
    if keys is not None and absent:
        raise InvalidParameterError(f"{', '.join(absent)} is not installed. Install it, or choose other methods.")
    names = [method.name for method in methods]
    shown = [m if names.count(m.name) == 1 else _numbered(m) for m in methods if m.key not in absent]
    return shown, absent


def _numbered(method: Method) -> Method:
    """Return the method with its number in its name: two of one kind are compared."""
    return Method(method.key, f"{method.name} ({method.key})", method.about, method.make, method.peer)


def _method(key: str) -> Method:
    name, _, number = key.partition(":")
    if name in PLAIN and not number:
        return PLAIN[name]
    if name not in PARAMETRIC:
        raise InvalidParameterError(
            f"there is no method {key!r}. Choose from: {', '.join(METHODS)}; with a number: crr:0.1, es:20, gr:1."
        )
    make, default = PARAMETRIC[name]
    try:
        value = float(number) if number else default
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 1e12 or (name == "es" and value != int(value)):
        raise InvalidParameterError(f"method {key!r} needs a number ≥ 0 after the colon, such as {name}:{default:g}.")
    return make(value)
