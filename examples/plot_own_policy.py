"""
Your own policy: elastic weight consolidation in ten lines
==========================================================

You study continual learning and have an idea of how firmly a model should hold on to
its past. That is the matrix :math:`H_t`, and a policy computes it. What does your idea
cost, compared with the best that is possible?

The example is elastic weight consolidation (EWC): it keeps only the diagonal of the
information of past rows. The same object works in an estimator, in the theory, in a
simulation, and in ``ridgeway.report.compare``.
"""

from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from ridgeway import GeneralizedRidge, weights
from ridgeway.research import simulation, theory

# %%
# ``remember`` returns what to keep of a task. ``weight`` returns :math:`H_t`: a number, a
# diagonal or a matrix.


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
# In the theory, which computes the exact expected error from the designs alone:
rng = np.random.default_rng(0)
scales = [np.where(rng.random(20) < 0.2, 3.0, 0.5) for _ in range(12)]
designs = [rng.normal(size=(30, 20)) * scale for scale in scales]
true_coef = rng.normal(size=20)
problem = theory.FixedDesignProblem(designs, noise_variance=1.0, signal=true_coef)
policies: dict[str, tuple[weights.Designed, str]] = {
    "minimum norm": (weights.Zero(), "#D55E00"),
    "continual ridge, λ = 1": (weights.Isotropic(1.0), "#E69F00"),
    "diagonal EWC": (DiagonalEwc(), "#8C564B"),
    "generalized ridge": (weights.Accumulated(), "#0072B2"),
}
exact = {}
for name, (policy, _) in policies.items():
    exact[name] = problem.expected_error(policy).total

# %%
# In an estimator, 150 times with new noise:
draws = np.empty((150, len(designs)))
for run in draws:
    model = GeneralizedRidge(DiagonalEwc(), fit_intercept=False)
    for task, X in enumerate(designs):
        model.partial_fit(X, X @ true_coef + rng.normal(size=30))
        run[task] = np.square(model.coef_ - true_coef).sum()
mean, spread = draws.mean(axis=0), draws.std(axis=0, ddof=1) / np.sqrt(len(draws))

# %%
# Lines are exact. Dots are the mean of the 150 runs, with two standard errors.
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
tasks = np.arange(1, len(designs) + 1)
for name, errors in exact.items():
    axes.plot(tasks, errors, color=policies[name][1], linewidth=2)
    axes.text(12.2, errors[-1], name, va="center")
axes.errorbar(tasks, mean, 2 * spread, fmt="o", color="#8C564B", markersize=4)
axes.set(yscale="log", xlabel="tasks learned", ylabel="expected squared error")
axes.set(xlim=(0.8, len(designs)), xticks=tasks)
figure.suptitle("A diagonal memory is far better than none, and not the best")
plt.show()

# %%
# **What to see.** The dots lie on the line, so estimator and theory agree. After 12
# tasks the error of diagonal EWC is 1.7 times that of generalized ridge, which keeps
# the whole matrix.

# %%
# In a simulation, beside methods of the catalogue. ``gr:diagonal`` is the same method,
# written for speed.
setting = simulation.Setting(n_tasks=5, n_samples=30, n_features=20, shift="paper")
found = simulation.run(setting, ["gr:diagonal", DiagonalEwc(), "gr"], repetitions=5)
for name in found.description.methods:
    print(f"{name:14} {found.of(name)[:, -1].mean():.4f}")

# %%
# **Check.** A test runs this page and computes the expected error of EWC again, from
# its definition.
