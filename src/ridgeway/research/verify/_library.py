"""The functions of `theory` that users call, against values computed here without them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ridgeway.research.verify._findings import Instances, worst_case
from ridgeway.research.verify._search import Search

Instance = TypeVar("Instance")


@dataclass(frozen=True)
class LibraryCheck(Generic[Instance]):
    """A function of `theory`, and what it must return.

    Attributes
    ----------
    name : str
        The function, in words.
    instances : function of a search
        What to try.
    function : function of an instance
        Calls the library.
    expected : function of an instance
        The same value without the library.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.research.verify import STATEMENTS, Search
    >>> check = STATEMENTS["oracle"].library[0]
    >>> instance = next(iter(check.instances(Search("oracle"))))
    >>> check.name, np.allclose(check.function(instance), check.expected(instance))
    ('oracle_error', True)
    """

    name: str
    instances: Callable[[Search], Iterable[Instance]]
    function: Callable[[Instance], ArrayLike]
    expected: Callable[[Instance], ArrayLike]


@worst_case("largest relative difference from the library", 1e-7)
def try_library(search: Search, checks: tuple[LibraryCheck[Any], ...]) -> Instances:
    """Compare every function with what it must return."""
    for check in checks:
        for number, instance in enumerate(check.instances(search)):
            yield apart(check.function(instance), check.expected(instance)), number, f"{check.name}: {instance}"


def apart(found: ArrayLike, expected: ArrayLike) -> float:
    """Return the largest relative difference of two arrays; entries below 1e-6 of the largest count as that large."""
    one, two = (np.asarray(values, dtype=np.float64) for values in (found, expected))
    if one.shape != two.shape:
        return float("inf")
    same = (one == two) | (np.isnan(one) & np.isnan(two))
    finite = np.abs(two[np.isfinite(two)])
    with np.errstate(invalid="ignore"):
        difference = np.abs(one - two) / np.maximum(np.abs(two), 1e-6 * finite.max(initial=1e-24))
    return float(np.where(same, 0.0, np.where(np.isfinite(difference), difference, np.inf)).max())
