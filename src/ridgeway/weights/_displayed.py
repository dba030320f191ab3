"""A state as a table of its coefficients, and as a figure."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ridgeway._checks import whole
from ridgeway._plots import draw_terms
from ridgeway._printed import Printed, Rows
from ridgeway._text import counted
from ridgeway.errors import RidgewayError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ridgeway.weights._capabilities import State


class Displayed(Printed):
    """What a state shows of itself: the estimate, which is solved for if nobody has asked before."""

    def plot(self: "State", ax: Any = None, *, target: int = 0) -> "Axes":
        """Draw the coefficients, and return the axes. Needs matplotlib (`pip install 'ridgeway[plot]'`).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        target : int, default 0
            Which target, if there are several.
        """
        coef = self.answer.coef
        target = whole(target, "target", 0, coef.shape[1] - 1)
        return draw_terms(ax, _features(len(coef)), coef[:, target], label="coefficient")

    def _title(self: "State") -> str:
        p, k = self.origin.coef.shape
        targets = f", {k} targets" if k > 1 else ""
        counts = [counted(self.n_tasks, "task"), counted(self.n_samples, "row"), counted(p, "feature")]
        return f"{type(self).__name__}: {', '.join(counts)}{targets}"

    def _tables(self: "State") -> Iterator[tuple[str, Rows]]:
        try:
            found = self.answer
        except RidgewayError:
            return
        p, k = found.coef.shape
        classes = self.origin.classes or ()
        heads = ["coef"] if k == 1 else [str(label) for label in classes] or [f"target {i}" for i in range(k)]
        names, numbers = _features(p), [*found.coef]
        if self.origin.centered:
            names, numbers = ["intercept", *names], [found.intercept, *numbers]
        rows = [[name, *(f"{value:.4g}" for value in row)] for name, row in zip(names, numbers, strict=True)]
        yield "", [["", *heads], *rows]

    def _notes(self: "State") -> list[str]:
        try:
            rank = self.answer.rank
        except RidgewayError as error:
            return [str(error)]
        return [] if rank is None else [f"rank {rank} of {len(self.origin.coef)}"]


def _features(count: int) -> list[str]:
    return [f"x{j}" for j in range(count)]
