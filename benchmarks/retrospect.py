"""Simulations of what `ridgeway.retrospect` and its policies promise: `make retrospect`."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.weights import Accumulated

Array = NDArray[np.float64]

JUMPS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 200.0)
"""Sizes ‖δ‖² of the jump; an independent parameter, ‖δ‖² ≈ 2p, comes on top."""


def covered(rng: np.random.Generator, repetitions: int, *, level: float = 0.95) -> Array:
    """Return whether intervals hold the truth, (repetitions, 7): four slopes, intercept, a mean, a new observation.

    Each repetition is a sequence of three tasks of unequal weights, 24 rows in all.
    """
    hits = []
    for _ in range(repetitions):
        coef, model = rng.normal(size=4), GeneralizedRidge()
        for n in (3, 9, 12):
            X, weight = rng.normal(size=(n, 4)) + 2.0, rng.uniform(0.5, 2.0, size=n)
            model.partial_fit(X, X @ coef + 1.0 + rng.normal(size=n) / np.sqrt(weight), weight)
        bounds = retrospect.summary(model, level=level).intervals
        truth = np.r_[1.0, coef]
        x = rng.normal(size=(1, 4)) + 2.0
        at = retrospect.intervals(model, x, level=level)
        mean = float((x @ coef)[0]) + 1.0
        new = mean + rng.normal()
        hits.append(
            [
                *((bounds[:, 0] <= truth) & (truth <= bounds[:, 1])),
                at.mean_lower[0] <= mean <= at.mean_upper[0],
                at.lower[0] <= new <= at.upper[0],
            ]
        )
    return np.array(hits, dtype=np.float64)


def chow_p_values(rng: np.random.Generator, repetitions: int, size: float) -> Array:
    """Return p-values of Chow's test for a task of 6 rows, 10 features and a parameter that differs by ‖δ‖² ≈ size."""
    found = []
    for _ in range(repetitions):
        coef, model = rng.normal(size=10), GeneralizedRidge()
        for _ in range(3):
            X = rng.normal(size=(12, 10))
            model.partial_fit(X, X @ coef + 1.0 + rng.normal(size=12))
        X = rng.normal(size=(6, 10))
        y = X @ (coef + np.sqrt(size / 10.0) * rng.normal(size=10)) + 1.0 + rng.normal(size=6)
        found.append(retrospect.compare(model, X, y).p_value)
    return np.array(found)


def design(rng: np.random.Generator, n: int, p: int, *, shift: bool) -> Array:
    """Return the rows of one task in the paper's experiments."""
    scales = np.where(rng.random(p) < 0.01, 10.0, 1.0) if shift else np.ones(p)
    return rng.normal(size=(n, p)) * scales


def evidence_errors(
    seeds: Iterable[int],
    *,
    n: int = 150,
    p: int = 200,
    n_tasks: int = 20,
    noise_variance: float = 1.0,
    shift: bool = False,
) -> dict[str, Array]:
    """Return the mean of ‖ŵ_t − w_*‖² after each task: without a prior, with the learned one, and the optimum."""
    policies = {
        "plain": Accumulated(),
        "evidence": Accumulated(prior="evidence"),
        "optimum": Accumulated(prior=noise_variance),  # P = σ²·E_0⁻¹ with E_0 = I
    }
    runs = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        coef = rng.normal(size=p)
        models = [GeneralizedRidge(policy, fit_intercept=False) for policy in policies.values()]
        errors = np.empty((n_tasks, len(models)))
        for t in range(n_tasks):
            X = design(rng, n, p, shift=shift)
            y = X @ coef + np.sqrt(noise_variance) * rng.normal(size=n)
            errors[t] = [np.square(model.partial_fit(X, y).coef_ - coef).sum() for model in models]
        runs.append(errors)
    return dict(zip(policies, np.mean(runs, axis=0).T, strict=True))


def jump_errors(
    seeds: Sequence[int],
    size: float,
    *,
    n: int = 150,
    p: int = 200,
    n_tasks: int = 20,
    after: int = 10,
    noise_variance: float = 1.0,
    shift: bool = False,
) -> dict[str, Array]:
    """Return the mean of ‖ŵ_t − w_t‖² where w_t jumps by ‖δ‖² = size after task `after`.

    A size of 2p or more stands for an independent parameter. "anew" knows of the jump and forgets all before it.
    """
    runs = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        coef = rng.normal(size=p)
        models = {
            "plain": GeneralizedRidge(fit_intercept=False),
            "adaptive": GeneralizedRidge(Accumulated(decay="adaptive"), fit_intercept=False),
            "anew": GeneralizedRidge(fit_intercept=False),
        }
        errors = np.empty((n_tasks, len(models)))
        for t in range(n_tasks):
            if t == after:
                step = rng.normal(size=p)
                coef = step if size >= 2 * p else coef + step * np.sqrt(size / (step @ step))
                models["anew"] = GeneralizedRidge(fit_intercept=False)
            X = design(rng, n, p, shift=shift)
            y = X @ coef + np.sqrt(noise_variance) * rng.normal(size=n)
            errors[t] = [np.square(model.partial_fit(X, y).coef_ - coef).sum() for model in models.values()]
        runs.append(errors)
    return dict(zip(("plain", "adaptive", "anew"), np.mean(runs, axis=0).T, strict=True))
