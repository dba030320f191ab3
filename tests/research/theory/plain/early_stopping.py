"""Penalties and learning rates that stand for each other, and their values without the library."""

from itertools import product

import numpy as np
from research.theory.library_check import LibraryCheck

from ridgeway.errors import InvalidParameterError
from ridgeway.research.theory import (
    learning_rates_from_penalties,
    penalties_from_early_stopping,
    weight_matrix_from_early_stopping,
)
from ridgeway.research.verify import STATEMENTS
from ridgeway.research.verify._cases import gaussian_designs
from ridgeway.research.verify._early_stopping_statements import _rate_matrix

any_eigenvectors = STATEMENTS["early-stopping-any-matrix"].corrected.form

GRID = [*product((0.0, 0.25, 1.0, 3.0), (0.0, 0.1, 0.5, 1.0, 1.5, 2.0, 4.0), (1, 2, 3, 6))]
"""Eigenvalues, rates or penalties, and numbers of steps."""


def library_penalty(case):
    """Return the library's λ, beside another direction, or NaN if it refuses."""
    gamma, rate, n_steps = case
    try:
        return float(penalties_from_early_stopping([gamma, 0.1], rate, n_steps)[0])
    except InvalidParameterError:
        return float("nan")


def penalty(case):
    """Return λ with λ/(λ + γ) = (1 − sγ)^m, its limits for γ = 0 and s = 0, and NaN if there is none."""
    gamma, rate, n_steps = case
    kept = (1 - rate * gamma) ** n_steps
    if kept == 1:
        return float("inf") if rate == 0 or gamma > 0 else 1 / (n_steps * rate)
    return gamma * kept / (1 - kept) if 0 <= kept < 1 else float("nan")


def rate(case):
    """Return s of the proof of Thm (early stopping), and its limits for γ = 0 and λ = ∞."""
    gamma, held, n_steps = case
    if gamma == 0:
        return 1 / (n_steps * held) if held else 0.0
    return float((1 - (1 / (1 + gamma / held) if held else 0.0) ** (1 / n_steps)) / gamma)


def rate_matrices(search):
    rng = search.generator()
    for number in range(10):
        X = gaussian_designs(rng, 1, 7, 1 + number % 4)[0]
        covariance = X.T @ X / len(X)
        yield covariance, _rate_matrix(rng, covariance, shared=False), 1 + number % 5
    yield np.diag([1.0, 2.0]), np.diag([1.0, 0.5]), 3  # AΣ = I: H = 0


CHECKS = [
    LibraryCheck("penalties_from_early_stopping", lambda search: GRID, library_penalty, penalty),
    LibraryCheck(
        "learning_rates_from_penalties",
        lambda search: [*GRID, (1.0, float("inf"), 2)],
        lambda case: float(learning_rates_from_penalties([case[0]], case[1], case[2])[0]),
        rate,
    ),
    LibraryCheck(
        "weight_matrix_from_early_stopping",
        rate_matrices,
        lambda case: weight_matrix_from_early_stopping(*case),
        lambda case: any_eigenvectors(*case),
    ),
]
