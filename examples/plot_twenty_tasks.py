"""
Twenty simulated tasks
======================

Every task has fewer rows than features, and each shows some directions of the true parameter strongly and others hardly
at all. All five estimators learn them in turn; the error is that of the estimate, since here the truth is known.
"""

import numpy as np
from matplotlib import pyplot as plt

from ridgeway import ContinualRidge, EarlyStopping, GeneralizedRidge, MinimumNorm, Oracle, metrics

N_TASKS, N_SAMPLES, N_FEATURES, REPETITIONS = 20, 30, 40, 20
STYLES = {
    "MinimumNorm": ("#d55e00", "-"),
    "EarlyStopping": ("#cc79a7", "-"),
    "ContinualRidge": ("#e69f00", "-"),
    "GeneralizedRidge": ("#0072b2", "-"),
    "Oracle (keeps all rows)": ("black", ":"),
}

# %%
# Play the sequence a few times, with other truths and other rows.
errors = np.empty((REPETITIONS, len(STYLES), N_TASKS))
for seed in range(REPETITIONS):
    rng = np.random.default_rng(seed)
    true_coef = rng.normal(size=N_FEATURES)
    models = [MinimumNorm(), EarlyStopping(n_steps=20), ContinualRidge(), GeneralizedRidge(), Oracle()]
    for task in range(N_TASKS):
        scales = np.where(rng.random(N_FEATURES) < 0.2, 3.0, 0.5)
        X = rng.normal(size=(N_SAMPLES, N_FEATURES)) * scales
        y = 1.0 + X @ true_coef + rng.normal(size=N_SAMPLES)
        for row, model in enumerate(models):
            errors[seed, row, task] = metrics.estimation_error(model.partial_fit(X, y).coef_, true_coef)

# %%
# Once as many rows were seen as there are features, the oracle has an answer, and `GeneralizedRidge` is that answer,
# although it threw every row away.
mean, spread = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(REPETITIONS)
figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
tasks = np.arange(1, N_TASKS + 1)
for (name, (color, line)), row, band in zip(STYLES.items(), mean, spread, strict=True):
    above = name.startswith("Oracle")
    axes.plot(tasks, row, line, color=color, linewidth=3.0 if above else 1.8, label=name, zorder=3 if above else 2)
    axes.fill_between(tasks, row - 2 * band, row + 2 * band, color=color, alpha=0.15, linewidth=0)
axes.set(yscale="log", xlabel="tasks learned", ylabel="estimation error ‖ŵ − w*‖²", xlim=(1, N_TASKS))
axes.set_xticks([1, *range(5, N_TASKS + 1, 5)])
axes.grid(alpha=0.3, which="major")
axes.legend(frameon=False, loc="lower left")
plt.show()
