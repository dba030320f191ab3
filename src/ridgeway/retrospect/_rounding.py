"""What rounding alone can make: a smaller difference is not one."""

import numpy as np

from ridgeway._checks import Array
from ridgeway.information import Inference
from ridgeway.linalg import tolerance


def rounding_squares(known: Inference) -> Array:
    """Return the sums of squares, (n_targets,), up to which residuals, and differences of fits, may be rounding.

    A fit carries the rounding of the target and that of each of its terms, δ²·(Σ w·y² + Σ_j ŵ_j²·Σ w·x_j²) for sums
    before centring. δ is `tolerance`, or its root if the information keeps half of the digits.
    """
    held, p = known.information, known.information.n_features
    norms = np.sqrt(held.peak + held.total_weight * np.square(held.mean))
    sizes = np.vstack([norms[p:], known.coef * norms[:p, None]])
    return np.asarray(np.square(tolerance(p + held.centered) ** held.digits * sizes).sum(axis=0))
