"""Simulations of what `ridgeway.retrospect` and the learned prior promise: `make retrospect`."""

import argparse
import json
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kstest

from benchmarks.sweep import add_worker_options, sweep
from ridgeway import GeneralizedRidge, retrospect
from ridgeway.weights import Accumulated

Array = NDArray[np.float64]


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


SETTINGS: dict[str, dict[str, Any]] = {
    "σ² = 1": {},
    "σ² = 5": {"noise_variance": 5.0},
    "σ² = 1, shift": {"shift": True},
    "σ² = 5, shift": {"noise_variance": 5.0, "shift": True},
}
"""The paper's settings: T = 20 tasks of n = 150 rows and p = 200 features, w_* ~ N(0, I)."""


def coverage_part() -> dict[str, Any]:
    """10,000 sequences of tasks: how often 95 % intervals hold the truth."""
    hits = covered(np.random.default_rng(0), 10_000)
    names = ["intercept", "x0", "x1", "x2", "x3", "mean response", "new observation"]
    return dict(zip(names, hits.mean(axis=0).tolist(), strict=True))


def chow_part() -> dict[str, Any]:
    """Return the p-value of the Kolmogorov-Smirnov test under equal parameters, and the power at 5 % beyond."""
    sizes = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0]
    p_values = {size: chow_p_values(np.random.default_rng(0), 4000 if size == 0.0 else 1000, size) for size in sizes}
    return {
        "uniform": float(kstest(p_values[0.0], "uniform").pvalue),
        "sizes": sizes,
        "power": [float((values < 0.05).mean()) for values in p_values.values()],
    }


def evidence_part(setting: str) -> dict[str, Any]:
    """Return the mean errors of 100 repetitions."""
    return _listed(evidence_errors(range(100), **SETTINGS[setting]))


def peak_part() -> dict[str, Any]:
    """Return the mean errors of 100 repetitions where n_1 + … + n_4 = p."""
    return _listed(evidence_errors(range(100), n=50, n_tasks=8))


def _listed(errors: dict[str, Array]) -> dict[str, Any]:
    return {name: [float(f"{value:.6g}") for value in values] for name, values in errors.items()}


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "coverage": coverage_part,
    "chow": chow_part,
    "peak": peak_part,
    **{f"evidence, {setting}": partial(evidence_part, setting) for setting in SETTINGS},
}
RESULTS = Path(__file__).parents[1] / "docs" / "retrospect.json"


def main() -> None:
    """Run all parts, or those whose names begin as asked, and put the results into docs/retrospect.json."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("parts", nargs="*", default=[""], help=f"of: {', '.join(PARTS)}")
    add_worker_options(parser)
    options = parser.parse_args()
    asked = {name: run for name, run in PARTS.items() if name.startswith(tuple(options.parts))}
    for name, found in sweep(asked, options):
        results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        results[name] = found
        ordered = {part: results[part] for part in PARTS if part in results}
        lines = [f" {json.dumps(part, ensure_ascii=False)}: {json.dumps(ordered[part])}" for part in ordered]
        RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
