"""The search for changes: the costs of all segments in units of the noise, and what chance makes of them."""

from dataclasses import dataclass

import numpy as np

from ridgeway._checks import Array
from ridgeway.errors import InvalidParameterError
from ridgeway.retrospect._no_change import OwnNoise
from ridgeway.retrospect._segment_costs import SegmentCosts, critical_penalties, segment_costs


@dataclass(frozen=True, eq=False)
class SegmentSearch:
    """All segments, fitted to the targets that were learned and to draws in which nothing changes.

    Attributes
    ----------
    costs : SegmentCosts
        Of the targets that were learned.
    singles, criticals : ndarray of shape (n_draws,)
        For each draw, the largest gain of a single change, and the largest gain per change of any number of them.
    """

    costs: SegmentCosts
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


def search(null: OwnNoise) -> SegmentSearch:
    """Fit all segments to the learned targets and to all draws."""
    costs = segment_costs(null.tasks, null.observed())
    singles, criticals = np.zeros(0), np.zeros(0)
    for drawn in null.draws(sum(map(len, costs.up_to))):
        chance = segment_costs(null.tasks, drawn)
        singles = np.append(singles, chance.single().max(axis=0))
        criticals = np.append(criticals, critical_penalties(chance))
    return SegmentSearch(costs, singles, criticals)
