"""What must be reached: the bars, as data. A measurement beside its bar is met or missed, never adjusted."""

from typing import NamedTuple

KINDS = ("moments", "square_root")


class Bar(NamedTuple):
    """The most that a ratio may be, and what bare kernels without validation reached: a target, not a promise."""

    at_most: float
    kernels: float


# Time relative to scikit-learn-intelex, two threads: (n, p) → moments and square_root, coefficients asked for once at
# the end and after every task.
SPEED: dict[tuple[int, int], dict[str, tuple[Bar, Bar]]] = {
    (100, 20): {"moments": (Bar(0.8, 0.1), Bar(0.8, 0.1)), "square_root": (Bar(1.5, 0.1), Bar(1.5, 0.1))},
    (2000, 20): {"moments": (Bar(0.8, 0.2), Bar(0.8, 0.2)), "square_root": (Bar(1.5, 0.3), Bar(1.5, 0.3))},
    (27000, 20): {"moments": (Bar(0.8, 0.66), Bar(0.8, 0.66)), "square_root": (Bar(1.5, 0.95), Bar(1.5, 0.95))},
    (200000, 10): {"moments": (Bar(0.8, 0.7), Bar(0.8, 0.7)), "square_root": (Bar(1.5, 0.76), Bar(1.5, 0.76))},
    (150, 200): {"moments": (Bar(0.52, 0.2), Bar(0.69, 0.3)), "square_root": (Bar(0.95, 0.7), Bar(0.73, 0.5))},
    (2000, 200): {"moments": (Bar(0.83, 0.75), Bar(0.99, 0.7)), "square_root": (Bar(1.56, 1.3), Bar(1.72, 1.3))},
    (50000, 100): {"moments": (Bar(0.77, 0.62), Bar(0.75, 0.6)), "square_root": (Bar(1.74, 1.2), Bar(1.8, 1.2))},
    (1000, 2000): {"moments": (Bar(0.86, 0.67), Bar(0.94, 0.75)), "square_root": (Bar(1.83, 1.6), Bar(1.4, 1.2))},
    (200, 4000): {"moments": (Bar(0.48, 0.39), Bar(0.62, 0.55)), "square_root": (Bar(1.2, 0.9), Bar(0.5, 0.4))},
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


def speed_bar(n_samples: int, n_features: int, *, every: bool, kind: str) -> Bar | None:
    """Return the bar of a cell, or None where there is none."""
    pairs = SPEED.get((n_samples, n_features), {}).get(kind)
    return None if pairs is None else pairs[every]


def verdict(value: float, at_most: float) -> str:
    """Return whether a bar is met."""
    return "met" if value <= at_most else "MISSED"
