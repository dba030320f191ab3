"""A function of the library, and what it must return: how far they are apart."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ridgeway.research.verify import Search


@dataclass(frozen=True)
class LibraryCheck:
    """A function of the library against the same values without it.

    `instances` takes a `Search`; `function` calls the library and `expected` does not: both take an instance.
    """

    name: str
    instances: Callable
    function: Callable
    expected: Callable

    def worst(self):
        """Return the largest relative difference over all instances, and the instance."""
        differences = [
            (apart(self.function(instance), self.expected(instance)), str(instance))
            for instance in self.instances(Search(self.name))
        ]
        return max(differences)


def apart(one, two):
    """Return the largest relative difference of two arrays; entries below 1e-6 of the largest count as that large."""
    one, two = np.asarray(one, dtype=np.float64), np.asarray(two, dtype=np.float64)
    if one.shape != two.shape:
        return float("inf")
    same = (one == two) | (np.isnan(one) & np.isnan(two))
    finite = np.abs(two[np.isfinite(two)])
    with np.errstate(invalid="ignore"):
        difference = np.abs(one - two) / np.maximum(np.abs(two), 1e-6 * finite.max(initial=1e-24))
    return float(np.where(same, 0.0, np.where(np.isfinite(difference), difference, np.inf)).max())
