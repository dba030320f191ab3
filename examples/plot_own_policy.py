"""
Your own policy
===============

A policy says how firmly to hold on to the past: the matrix H_t. Here is elastic weight consolidation (EWC) in a few
lines. It keeps only the diagonal of the information of past rows. The same object works in an estimator, in the theory,
in a simulation, and in `ridgeway.report.compare`.
"""

from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from ridgeway import GeneralizedRidge, weights
from ridgeway.research import simulation, theory

# %%
# `remember` returns what to keep of a task, and `weight` returns H_t: a number, a diagonal or a matrix.


class DiagonalEwc(weights.PenaltyPolicy):
    """H_t is the diagonal of the information of past rows."""

    def remember(self, memory: Any, rows: weights.Rows) -> Any:
        """Add up the squares of each column."""
        squares = np.square(rows.X).sum(axis=0)
        return squares if memory is None else memory + squares

    def weight(self, memory: Any, rows: weights.Rows) -> Any:
        """Return H_t as a diagonal; before the first task nothing is known."""
        return 0.0 if memory is None else memory / rows.total_weight


# %%
# In an estimator:
rng = np.random.default_rng(0)
designs = [rng.normal(size=(30, 20)) * np.where(rng.random(20) < 0.2, 3.0, 0.5) for _ in range(12)]
true_coef = rng.normal(size=20)
model = GeneralizedRidge(DiagonalEwc(), fit_intercept=False)
for X in designs:
    model.partial_fit(X, X @ true_coef + rng.normal(size=30))
print(f"error of one run: {np.square(model.coef_ - true_coef).sum():.3f}")

# %%
# In the theory, which computes the exact expected error over the noise from the gains of the policy:
problem = theory.FixedDesignProblem(designs, noise_variance=1.0, signal=true_coef)
policies: dict[str, weights.Designed] = {
    "minimum norm": weights.Zero(),
    "continual ridge, λ = 1": weights.Isotropic(1.0),
    "diagonal EWC": DiagonalEwc(),
    "generalized ridge": weights.Accumulated(),
}
exact = {name: problem.expected_error(policy).total for name, policy in policies.items()}

# %%
# The dots are the mean of 300 runs of the estimator, with two standard errors.
draws = np.empty((300, len(designs)))
for run in draws:
    model = GeneralizedRidge(DiagonalEwc(), fit_intercept=False)
    for task, X in enumerate(designs):
        model.partial_fit(X, X @ true_coef + rng.normal(size=30))
        run[task] = np.square(model.coef_ - true_coef).sum()
mean, spread = draws.mean(axis=0), draws.std(axis=0, ddof=1) / np.sqrt(len(draws))

figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
tasks = np.arange(1, len(designs) + 1)
colors = ("#d55e00", "#e69f00", "#009e73", "#0072b2")
for (name, errors), color in zip(exact.items(), colors, strict=True):
    axes.plot(tasks, errors, color=color, linewidth=1.8, label=name)
axes.errorbar(tasks, mean, 2 * spread, fmt="o", color="#009e73", markersize=4, label="diagonal EWC, simulated")
axes.set(yscale="log", xlabel="tasks learned", ylabel="expected error E‖ŵ − w*‖²", xlim=(1, len(designs)))
axes.grid(alpha=0.3)
axes.legend(frameon=False)
plt.show()

# %%
# In a simulation, beside methods of the catalogue. `gr:diagonal` is the same method, written for speed.
setting = simulation.Setting(n_tasks=5, n_samples=30, n_features=20, shift="paper")
found = simulation.run(setting, ["mn", "gr:diagonal", DiagonalEwc(), "gr"], repetitions=10)
for name in found.description.methods:
    print(f"{name:14} {found.of(name)[:, -1].mean():.4f}")
