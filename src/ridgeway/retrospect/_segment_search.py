"""The search for changes: the costs of all segments in units of the noise, and what chance makes of them."""

from dataclasses import dataclass

import numpy as np

from ridgeway._checks import Array
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.retrospect._no_change import ENOUGH, NoChange, Targets
from ridgeway.retrospect._reduced_tasks import refuse_exact_fit
from ridgeway.retrospect._segment_costs import SegmentCosts, critical_penalties, segment_costs


@dataclass(frozen=True, eq=False)
class SegmentSearch:
    """All segments, fitted to the targets that were learned and to draws in which nothing changes.

    Attributes
    ----------
    costs : SegmentCosts
        Of the targets that were learned, divided by σ².
    block : int
        How many consecutive tasks share coefficients in the estimate of σ².
    freedom : int
        The degrees of freedom of that estimate.
    singles, criticals : ndarray of shape (n_draws,)
        For each draw, the largest gain of a single change, and the largest gain per change of any number of them.
    """

    costs: SegmentCosts
    block: int
    freedom: int
    singles: Array
    criticals: Array

    def p_value(self) -> float:
        """Return how often the best single change gains as much by chance, the learned targets among the draws."""
        as_large = np.count_nonzero(self.singles >= self.costs.single().max())
        return float((1 + as_large) / (1 + len(self.singles)))

    def calibrated(self, false_alarms: float) -> float:
        """Return the penalty that a share of all sequences without change exceeds, the learned one among them."""
        rank = int(np.ceil((1.0 - false_alarms) * (len(self.criticals) + 1) - 1e-9))
        if rank > len(self.criticals):
            raise InvalidParameterError(
                f"false_alarms must be at least {1 / (len(self.criticals) + 1):g} with {len(self.criticals)} draws; "
                f"got {false_alarms:g}."
            )
        return float(np.sort(self.criticals)[rank - 1])


def search(null: NoChange, *, blocks: bool) -> SegmentSearch:
    """Fit all segments to the learned targets and to all draws.

    If `blocks`, the noise is also estimated from differences between neighbouring tasks if it has to be.
    """
    targets = null.observed()
    costs = segment_costs(null.tasks, targets.right)
    block, freedom = _block(costs, null.freedom) if blocks else (1, null.freedom)
    noise = _noise(costs, targets, block, freedom)
    if null.freedom == 0:
        refuse_exact_fit(null.tasks, noise * freedom)
    singles, criticals = np.zeros(0), np.zeros(0)
    for drawn in null.draws(sum(map(len, costs.up_to)) * null.tasks.right.shape[1]):
        chance = segment_costs(null.tasks, drawn.right)
        scale = _noise(chance, drawn, block, freedom)
        singles = np.append(singles, chance.single().max(axis=0) / scale)
        criticals = np.append(criticals, critical_penalties(chance) / scale)
    return SegmentSearch(costs.over(noise), block, freedom, singles, criticals)


def _block(costs: SegmentCosts, within: int) -> tuple[int, int]:
    """Return how many tasks share coefficients when the noise is estimated, and the degrees of freedom."""
    n = len(costs.up_to)
    for block in range(1, n + 1):
        freedom = within + sum(int(costs.freedom[last][first]) for first, last in _cut(n, block))
        if freedom >= ENOUGH or (block == n and freedom >= 1):
            return block, freedom
    raise InferenceError(
        "no degrees of freedom are left to estimate the noise: all tasks together have no more rows than "
        "coefficients. Learn more rows, or ask about fewer features (retrospect.submodel)."
    )


def _noise(costs: SegmentCosts, targets: Targets, block: int, freedom: int) -> Array:
    """Return σ² of each set of targets: what is left within tasks, and between the tasks of a block."""
    between = [costs.up_to[last][first] for first, last in _cut(len(costs.up_to), block)]
    return np.asarray((targets.squares + np.sum(between, axis=0)) / freedom)


def _cut(n: int, block: int) -> list[tuple[int, int]]:
    return [(first, min(first + block, n) - 1) for first in range(0, n, block)]
