"""The state of a model whose tasks decide whether the past still counts."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import Task
from ridgeway.information import Information, change_odds, useful_share
from ridgeway.weights._states import Retained, Whole

FALSE_ALARMS = 0.05
"""The most that the probabilities of setting the past aside add up to, over all tasks, if nothing changes."""
CONFIRMED = float(np.log(20.0))
"""The log odds against the past at which a task confirms that it is out of date."""


@dataclass(frozen=True, eq=False)
class Adaptive(Whole):
    """A past that is set aside if a task contradicts it, and let go if the next tasks do so too.

    `information` is what is in force: all rows since the past was last let go. While a past is set aside, it is the
    rows learned since, and the share of the past that is still useful. The prior stays whole.
    """

    aside: Information | None = None
    """The past that is set aside, whole: it comes back if the next tasks agree with it."""
    recent: Information | None = None
    """The rows learned since it was set aside."""
    tasks_aside: int = 0
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
        return self.n_tasks - self.tasks_aside - self.tasks_let_go

    def after(self, task: Task) -> Self:
        """Return the state after a task.

        A task that contradicts the past sets it aside. The next tasks decide by their odds against the past and
        against the rows learned since: the past comes back, whole, once a task contradicts it less than them, and is
        let go once one contradicts it more, at odds of 20 to 1 at least, and the rows since do without it.
        """
        held, state = self.information, replace(self, n_tasks=self.n_tasks + 1)
        alone = held.empty(held.n_features, held.n_targets, centered=held.centered).add(task)
        if self.aside is None or self.recent is None:
            if held.n_samples and change_odds(held, alone) >= alarm(state.n_tasks):
                return state._doubting(held, alone, self.tasks_in_force)
            return replace(state, information=held.add(task))
        recent = self.recent.add(task)
        against_past, against_recent = (change_odds(past, alone) for past in (self.aside, self.recent))
        if against_past < against_recent:
            return replace(state, information=self.aside.merge(recent), aside=None, recent=None, tasks_aside=0)
        if against_past < CONFIRMED or recent.n_samples - recent.centered <= recent.n_features:
            return state._doubting(self.aside, recent, self.tasks_aside)
        return replace(
            state,
            information=recent,
            aside=None,
            recent=None,
            tasks_aside=0,
            tasks_let_go=self.tasks_let_go + self.tasks_aside,
            rows_let_go=self.rows_let_go + self.aside.n_samples,
        )

    def select(self, columns: NDArray[np.intp]) -> Self:
        """Return the state of the same rows with fewer features."""
        smaller = super().select(columns)
        if self.aside is None or self.recent is None:
            return smaller
        return replace(smaller, aside=self.aside.select(columns), recent=self.recent.select(columns))

    def _doubting(self, past: Information, recent: Information, tasks_aside: int) -> Self:
        """Return the state with the past set aside, but for the share that is useful beside the recent rows."""
        share = useful_share(past, recent, self.origin.coef)
        held = past.thinned(share).merge(recent) if share > 0.0 else recent
        return replace(self, information=held, aside=past, recent=recent, tasks_aside=tasks_aside)


def kept_share(state: Retained, task: Information) -> float:
    """Return the share of the rows in force that an adaptive state would keep in force beside a task."""
    held = state.information
    if change_odds(held, task) < alarm(state.n_tasks + 1):
        return 1.0
    return useful_share(held, task, state.origin.coef)


def alarm(n_tasks: int) -> float:
    """Return the log odds at which task number `n_tasks` ≥ 2 sets the past aside.

    Their inverses add up to `FALSE_ALARMS` over a sequence of any length: Σ_{t≥2} 1/(t(t − 1)) = 1.
    """
    return float(np.log(n_tasks * (n_tasks - 1) / FALSE_ALARMS))
