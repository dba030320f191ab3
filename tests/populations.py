"""What the population of a simulation knows."""

import numpy as np

from ridgeway.research.simulation._draws import Draws


def population_penalties(setting, seed, noise_variance):
    """The largest λ_j of eq. (lambda) for each task, with the population's covariances and e⁽⁰⁾ = 1."""
    penalties = []
    for design in Draws(setting, seed, 3).designs():
        stacked = [np.sqrt(n) * (np.diag(root) if root.ndim == 1 else root) for root, n in design.earlier]
        top = np.linalg.norm(np.vstack(stacked), 2) ** 2 if stacked else 0.0
        penalties.append((noise_variance + top) / len(design.rows))
    return penalties
