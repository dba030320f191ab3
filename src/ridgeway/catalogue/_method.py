"""A method: what it is called, and what it can be used for."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

from ridgeway._checks import Array
from ridgeway.errors import InvalidParameterError

SGD_STEPS = 2000
"""SGDRegressor and SGDClassifier pass over a task as often as it takes to make this many steps, at least once."""


class Predictor(Protocol):
    """An estimator that learns task after task: all that `compare` needs.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import catalogue
    >>> class LastMean:
    ...     def partial_fit(self, X, y):
    ...         self.mean = np.mean(y)
    ...     def predict(self, X):
    ...         return np.full(len(X), self.mean)
    >>> method = catalogue.Method("last-mean", "the last mean", make=LastMean)
    >>> hasattr(method.estimator(), "partial_fit")
    True
    """

    def partial_fit(self, X: Array, y: Array) -> Any:
        """Learn one task."""

    def predict(self, X: Array) -> Array:
        """Return predictions of shape (n_rows,)."""


@dataclass(frozen=True, eq=False)
class Method:
    """One entry of the catalogue. What it can be used for depends on which of the optional parts it has.

    Attributes
    ----------
    key : str
        The name by which it is asked for, such as `crr:0.1`.
    name : str
        The label in tables and reports.
    about : str
        One line: what it does, and what it remembers of the past.
    make : callable, optional
        Returns a new estimator with `partial_fit` and `predict`. `compare` needs it.
    policy : callable, optional
        Returns a `weights.DesignPolicy`. Simulations need it, unless `simulated` is given.
    simulated : object, optional
        A form for `research.simulation` that shares factors with other methods, such as `simulation.Update`.
    rule : str
        For the methods that Ridgeway brings: what they do with the past, by the key of the method of least squares that
        does the same. Simulations share factors among methods by it.
    packages : tuple of str
        Optional packages that it needs.

    Examples
    --------
    >>> from ridgeway import catalogue
    >>> method = catalogue.find("crr:0.1")
    >>> method.key, method.name, method.policy()
    ('crr:0.1', 'ContinualRidge', Isotropic(penalty=0.1))
    """

    key: str
    name: str
    about: str = ""
    make: Callable[[], Predictor] | None = None
    policy: Callable[[], Any] | None = None
    simulated: Any = None
    rule: str = ""
    packages: tuple[str, ...] = ()

    @property
    def is_installed(self) -> bool:
        """Whether the packages that it needs are installed."""
        return all(find_spec(package) is not None for package in self.packages)

    def estimator(self) -> Predictor:
        """Return a new estimator, or raise if the method is for simulations only."""
        if self.make is None:
            raise InvalidParameterError(f"method {self.key!r} has no estimator; it is for simulations only.")
        return self.make()

    @property
    def slug(self) -> str:
        """The key as part of a file name: letters, digits, dots and hyphens only."""
        return re.sub(r"[^A-Za-z0-9.]+", "-", self.key).strip("-")
