"""The instances that a trial tries: how many, and from which seed."""

import zlib
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

Budget = Literal["quick", "full"]
"""How long `verify` searches: for seconds, or for minutes."""
BUDGETS = get_args(Budget)
"""The names of the budgets."""


@dataclass(frozen=True)
class Search:
    """How many instances to try, and from which seed.

    Attributes
    ----------
    name : str
        The name of the statement, so that each one has its own instances.
    seed : int
        ≥ 0.
    full : bool
        Whether to run for minutes rather than seconds.

    Examples
    --------
    >>> from ridgeway.research.verify import Search
    >>> search = Search("order")
    >>> search.generator().random() == search.generator().random()  # the same instances
    True
    >>> search.count(quick=10, full=1000)
    10
    >>> Search("order", full=True).count(quick=10, full=1000)
    1000
    """

    name: str
    seed: int = 0
    full: bool = False

    def generator(self) -> np.random.Generator:
        """Return a new generator, so that the printed and the corrected form see the same instances."""
        return np.random.default_rng([self.seed, zlib.crc32(self.name.encode())])

    def count(self, quick: int, full: int) -> int:
        """Return how many instances to try."""
        return full if self.full else quick
