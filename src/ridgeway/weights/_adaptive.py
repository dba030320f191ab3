"""The state of a model whose tasks decide whether the past still counts."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.data import Task
from ridgeway.errors import InvalidParameterError
from ridgeway.information import Information, change_odds, useful_share
from ridgeway.weights._states import Origin, Retained, Whole

FALSE_ALARMS = 0.05
"""The most that the probabilities of setting the past aside add up to, over all tasks, if nothing changes."""
CONFIRMED = float(np.log(20.0))
"""The log odds against the past at which a task confirms that it is out of date."""


@dataclass(frozen=True, eq=False)
class Adaptive(Whole):
    """A past that is set aside if a task contradicts it, and let go if the next tasks do so too.

    `information` is what is in force: all rows since a past was last let go. While a past is set aside, it is the rows
    learned since and the share of the past that is useful beside them. The prior stays whole.
    """

    aside: Information | None = None
    """The past that the recent rows are compared with, whole."""
    recent: Information | None = None
    """The rows since: those learned since the past was set aside, or small tasks that are compared with it together."""
    tasks_recent: int = 0
    doubted: bool = False
    """Whether the past is set aside."""
    tasks_let_go: int = 0
    rows_let_go: int = 0

    @property
    def n_samples(self) -> int:
        """Rows learned, not counting rows of weight zero, whether they are in force or not."""
        kept = [self.information] if self.aside is None or self.recent is None else [self.aside, self.recent]
        return self.rows_let_go + sum(information.n_samples for information in kept)

    @property
    def tasks_in_force(self) -> int:
        """Tasks whose rows count fully now."""
        return self.tasks_recent if self.doubted else self.n_tasks - self.tasks_let_go

    def after(self, task: Task) -> Self:
        """Return the state after a task: it is added, unless it contradicts the past, which is then set aside."""
        held, state = self.information, replace(self, n_tasks=self.n_tasks + 1)
        task = task.counted() if self.origin.weight_kind == "frequency" else task
        if held.n_samples == 0:
            return replace(state, information=held.add(task))
        alone = held.empty(held.n_features, held.n_targets, centered=held.centered).add(task)
        if self.aside is not None and self.recent is not None:
            block = self.recent.add(task)
            state = replace(state, recent=block, tasks_recent=self.tasks_recent + 1)
            if self.doubted:
                return state._decided(self.aside, block, (change_odds(i, alone) for i in (self.aside, self.recent)))
        small = alone.n_samples <= held.n_features + held.centered
        level = alarm(state.n_tasks, tests=2 if small or self.aside else 1)
        if change_odds(held, alone) >= level:
            return replace(state, tasks_recent=1)._doubting(held, alone)
        state = replace(state, information=held.add(task))
        if state.aside is not None and state.recent is not None:
            return state._collected(state.aside, state.recent, level)
        return replace(state, aside=held, recent=alone, tasks_recent=1) if small else state

    def _collected(self, past: Information, block: Information, level: float) -> Self:
        """Return the state once small tasks have been collected: if they are many rows, compare them with the past."""
        if block.n_samples <= 2 * (block.n_features + block.centered):
            return self
        return self._doubting(past, block) if change_odds(past, block) >= level else self._settled()

    def _decided(self, past: Information, recent: Information, against: Iterable[float]) -> Self:
        """Return the state after a task that decides on a past that is set aside, by its odds against both.

        The past comes back, whole, if the task contradicts it less than the rows learned since. It is let go if the
        task contradicts it more, at odds of 20 to 1 at least, and there are enough rows to do without it.
        """
        against_past, against_recent = against
        if against_past < against_recent:
            return replace(self, information=past.merge(recent))._settled()
        if against_past < CONFIRMED or recent.n_samples <= recent.n_features + recent.centered:
            return self._doubting(past, recent)
        tasks, rows = self.n_tasks - self.tasks_recent, self.rows_let_go + past.n_samples
        return replace(self, information=recent, tasks_let_go=tasks, rows_let_go=rows)._settled()

    def _doubting(self, past: Information, recent: Information) -> Self:
        """Return the state with the past set aside, but for the share that is useful beside the recent rows."""
        share = useful_share(past, recent, self.origin.coef)
        held = past.thinned(share).merge(recent) if share > 0.0 else recent
        return replace(self, information=held, aside=past, recent=recent, doubted=True)

    def _settled(self) -> Self:
        return replace(self, aside=None, recent=None, tasks_recent=0, doubted=False)

    def select(self, columns: NDArray[np.intp]) -> Self:
        """Return the state of the same rows with fewer features."""
        smaller = super().select(columns)
        if self.aside is None or self.recent is None:
            return smaller
        return replace(smaller, aside=self.aside.select(columns), recent=self.recent.select(columns))

    def widened(
        self, features: NDArray[np.intp], targets: NDArray[np.intp], past: Array, prior: Any = None
    ) -> NoReturn:
        """Raise: whether the past still counts was decided with the old columns."""
        raise InvalidParameterError(
            "a state with decay='adaptive' cannot be widened: which rows count was decided task by task with the old "
            "columns, and the new ones might have decided otherwise. Start a new model, or use a fixed decay."
        )

    def _with_targets(self, targets: NDArray[np.intp], origin: Origin) -> NoReturn:
        """Raise: whether the past still counts was decided with the old classes."""
        raise InvalidParameterError(
            f"decay='adaptive' needs all classes from the start, since they decide which rows count; got "
            f"{counted(int((targets < 0).sum()), 'new one')}. Pass them to the first partial_fit as classes, or use a "
            "fixed decay."
        )


def kept_share(state: Retained, task: Information) -> float:
    """Return the share of the rows in force that an adaptive state would keep in force beside a task.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, weights
    >>> x = np.linspace(-1.0, 1.0, 40)[:, None]
    >>> noise = 0.1 * np.cos(9.0 * np.arange(40))
    >>> state = GeneralizedRidge().fit(x, 2.0 * x[:, 0] + noise).state_
    >>> same, other = (GeneralizedRidge().fit(x, b * x[:, 0] - noise) for b in (2.0, -2.0))
    >>> [weights.kept_share(state, model.information_) for model in (same, other)]
    [1.0, 0.0]
    """
    held = state.information
    if change_odds(held, task) < alarm(state.n_tasks + 1):
        return 1.0
    return useful_share(held, task, state.origin.coef)


def alarm(n_tasks: int, tests: int = 1) -> float:
    """Return the log odds at which task number `n_tasks` ≥ 2 sets the past aside, given the number of its tests.

    Their inverses add up to `FALSE_ALARMS` over a sequence of any length: Σ_{t≥2} 1/(t(t − 1)) = 1.
    """
    return float(np.log(tests * n_tasks * (n_tasks - 1) / FALSE_ALARMS))
