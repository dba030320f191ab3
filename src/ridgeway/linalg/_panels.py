"""An upper triangular factor in panels of rows, without the zeros below them, and the rows that are added to it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeway.linalg._lapack import dtpmqrt, dtpqrt, dtrtrs
from ridgeway.linalg._memory import copied
from ridgeway.linalg._threads import SMALL, one_thread, share_out, threads_to_spare

Array = NDArray[np.float64]

NARROW, WIDE = 16, 32
"""Columns whose reflectors LAPACK puts together, in a narrow factor and in a wide one."""

OUTER, LEAST, LARGE = 192, 64, 2e9
"""Rows of a panel. Threads share out the columns right of it, so many at least, from so many products n·p² on."""


class Panels(NamedTuple):
    """An upper triangular matrix as one flat array: panels R[i:j, i:] in Fortran order, one after another.

    A narrow matrix is one panel. A wide one takes little more than half of its square: that much less is copied with
    every task, and fresh memory is dear.
    """

    flat: Array
    width: int

    @classmethod
    def zero(cls, width: int) -> "Panels":
        """Return the factor of no rows."""
        return cls(np.zeros(sum((stop - start) * (width - start) for start, stop in _cuts(width))), width)

    @classmethod
    def from_square(cls, R: Array) -> "Panels":
        """Return what stands in and above the diagonal panels of a square matrix that is upper triangular."""
        made = cls.zero(len(R))
        for (start, stop), panel in zip(_cuts(len(R)), made.views(), strict=True):
            panel[:] = R[start:stop, start:]
        return made

    @classmethod
    def diagonal(cls, diagonal: Array, right: Array) -> "Panels":
        """Return [[diag(diagonal), right], [0, 0]], square."""
        p = len(diagonal)
        made = cls.zero(p + right.shape[1])
        for (start, stop), panel in zip(_cuts(made.width), made.views(), strict=True):
            rows = min(stop, p) - start
            if rows > 0:
                np.fill_diagonal(panel[:rows, :rows], diagonal[start:stop])
                panel[:rows, p - start :] = right[start:stop]
        return made

    def views(self) -> list[Array]:
        """Return the panels, as views."""
        found, at = [], 0
        for start, stop in _cuts(self.width):
            shape = (stop - start, self.width - start)
            found.append(self.flat[at : at + shape[0] * shape[1]].reshape(shape, order="F"))
            at += shape[0] * shape[1]
        return found

    def square(self) -> Array:
        """Return the whole matrix: a view where it is one panel."""
        panels = self.views()
        if len(panels) == 1:
            return panels[0]
        R = np.zeros((self.width, self.width), order="F")
        for (start, stop), panel in zip(_cuts(self.width), panels, strict=True):
            R[start:stop, start:] = panel
        return R

    def plus(self, blocks: Iterable[Array]) -> "Panels":
        """Return the factor of these rows and of `blocks` (Fortran order, overwritten). O(n·p²), nothing of size p³."""
        total = self._replace(flat=copied(self.flat))
        panels = total.views()
        for block in blocks:
            absorb(panels, block)
        return total

    def solve(self, n_columns: int) -> Array:
        """Return R_x⁻¹·z for the leading columns R_x and the others z, none of R_x's diagonal being zero. O(p²)."""
        p = n_columns
        solved = np.empty((p, self.width - p), order="F")
        # Two threads that share a product with one column wait for each other nine times as long.
        with one_thread(), np.errstate(over="ignore", invalid="ignore"):
            for (start, stop), panel in reversed(list(zip(_cuts(self.width), self.views(), strict=True))):
                rows, known = min(stop, p) - start, p - start
                if rows > 0:
                    right = panel[:rows, known:] - panel[:rows, rows:known] @ solved[start + rows :]
                    solved[start : start + rows] = dtrtrs(panel[:rows, :rows], right)
        return solved


def row_panels(R: Array) -> list[Array]:
    """Return the panels of a square matrix, as views."""
    return [R[start:stop, start:] for start, stop in _cuts(len(R))]


def absorb(panels: Sequence[Array], block: Array) -> None:
    """Overwrite the panels of a factor by those of the factor of its rows and those of `block`, overwritten too.

    Where there is much to do, threads share out what is right of a panel: with long parts of their own they wait for
    each other less often than in one short product after another. The first of them factors the next panel meanwhile.
    """
    width = block.shape[1]
    if width >= SMALL and len(block) * width**2 >= LARGE:
        with one_thread():
            _absorb(panels, block, threads_to_spare())
    else:
        _absorb(panels, block, 1)


def reflectors(width: int, columns: int) -> int:
    """Return how many reflectors LAPACK is to put together, of so many columns of a factor."""
    most = NARROW if width < SMALL else WIDE
    return most if columns > most else 1


def _absorb(panels: Sequence[Array], block: Array, threads: int) -> None:
    factors = _factored(panels[0], block)
    for panel, after in pairwise(panels):
        factors = _carried_on(panel, after, block, factors, threads)


def _factored(panel: Array, block: Array) -> Array:
    """Factor the rows of `block` into the square that a panel begins with; return the reflectors' factors."""
    width, rows = block.shape[1], len(panel)
    start = width - panel.shape[1]
    own = block[:, start : start + rows]
    return dtpqrt(panel[:, :rows], own, triangular_rows=0, panel=reflectors(width, rows))


def _carried_on(panel: Array, after: Array, block: Array, factors: Array, threads: int) -> Array:
    """Take the reflectors of a panel to what is right of it, factor the next panel, and return what that returns."""
    rows, columns = panel.shape
    beside = block[:, block.shape[1] - columns :]
    found: list[Array] = []

    def turn(start: int, stop: int) -> None:
        dtpmqrt(beside[:, :rows], factors, panel[:, start:stop], beside[:, start:stop])
        if start == rows:  # the first share, which is the next panel's columns
            found.append(_factored(after, block))

    share_out(turn, _shares(rows, columns, len(after), threads), threads)
    return found[0]


def _shares(start: int, stop: int, ahead: int, threads: int) -> Iterator[tuple[int, int]]:
    """Yield the columns right of a panel in parts: those of the next, then ever fewer, so that all end at once."""
    step = ahead if threads > 1 else stop - start
    while start < stop:
        yield start, min(start + step, stop)
        start += step
        step = max((stop - start) // threads, LEAST)


def _cuts(width: int) -> Iterator[tuple[int, int]]:
    """Yield the rows of each panel."""
    step = max(width, 1) if width < SMALL else OUTER
    return ((start, min(start + step, width)) for start in range(0, width, step))
