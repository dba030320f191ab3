"""What must be reached: the bars, as data. A measurement beside its bar is met or missed, never adjusted."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ridgeway.data import InformationKind

KINDS: tuple["InformationKind", ...] = ("moments", "square_root")

# Time relative to scikit-learn-intelex, two threads: (n, p) → moments and square_root, coefficients asked for once at
# the end and after every task.
SPEED: dict[tuple[int, int], dict[str, tuple[float, float]]] = {
    (100, 20): {"moments": (0.8, 0.8), "square_root": (1.5, 1.5)},
    (2000, 20): {"moments": (0.8, 0.8), "square_root": (1.5, 1.5)},
    (27000, 20): {"moments": (0.8, 0.8), "square_root": (1.5, 1.5)},
    (200000, 10): {"moments": (0.8, 0.8), "square_root": (1.5, 1.5)},
    (150, 200): {"moments": (0.52, 0.69), "square_root": (0.95, 0.73)},
    (2000, 200): {"moments": (0.83, 0.99), "square_root": (1.56, 1.72)},
    (50000, 100): {"moments": (0.77, 0.75), "square_root": (1.74, 1.8)},
    (1000, 2000): {"moments": (0.86, 0.94), "square_root": (1.83, 1.4)},
    (200, 4000): {"moments": (0.48, 0.62), "square_root": (1.2, 0.5)},
}
SPEED_THREADS = 2

# One row at a time: time relative to SGDRegressor.partial_fit.
ONE_ROW = 1.0
# "No slower" between two measurements of the same code leaves room for noise.
NO_SLOWER = 1.05

# Memory.
BYTES = 8
MOST_BYTES = 1e9
STATE_FACTOR = 2.2

# The state file: absorbing a Parquet file relative to a bare loop of iter_batches and XᵀX, the peak while it does, and
# a commit relative to writing and syncing the same bytes plainly.
ABSORB = 1.5
ABSORB_BYTES = 800e6
COMMIT = 2.5
# A state file with many past tasks relative to one with few.
LONG_LEDGER = 1.5
# A commit to a state file that keeps many tasks relative to one that keeps few; seconds to open it.
MANY_PARTS = 1.2
OPEN_SECONDS = 1.0


def speed_bar(n_samples: int, n_features: int, *, every: bool, kind: str) -> float | None:
    """Return the bar of a cell, or None where there is none."""
    pairs = SPEED.get((n_samples, n_features), {}).get(kind)
    return None if pairs is None else pairs[every]


def verdict(value: float, at_most: float) -> str:
    """Return whether a bar is met."""
    return "met" if value <= at_most else "MISSED"
