"""
Twenty simulated tasks, to see who gets close to the truth
==========================================================

With real data nobody knows the true coefficients. So here is a made-up world in which
they are known. Every task has fewer rows than features. Each shows some directions of
the parameter clearly and others hardly at all. Which method finds the truth?
"""

import numpy as np
from matplotlib import pyplot as plt

import ridgeway
from ridgeway import metrics

N_TASKS, N_SAMPLES, N_FEATURES, REPETITIONS = 20, 30, 40, 15
NAMES = ["MinimumNorm", "EarlyStopping", "ContinualRidge", "GeneralizedRidge", "Oracle"]

# %%
# Repeat the sequence with other truths and other rows.
errors = np.empty((REPETITIONS, len(NAMES), N_TASKS))
for seed in range(REPETITIONS):
    rng = np.random.default_rng(seed)
    true_coef = rng.normal(size=N_FEATURES)
    models = [getattr(ridgeway, name)() for name in NAMES]
    models[1].set_params(n_steps=20)
    for task in range(N_TASKS):
        scales = np.where(rng.random(N_FEATURES) < 0.2, 3.0, 0.5)
        X = rng.normal(size=(N_SAMPLES, N_FEATURES)) * scales
        y = 1.0 + X @ true_coef + rng.normal(size=N_SAMPLES)
        for row, model in enumerate(models):
            coef = model.partial_fit(X, y).coef_
            errors[seed, row, task] = metrics.estimation_error(coef, true_coef)

# %%
# The bands are two standard errors of the mean over the repetitions.
mean = errors.mean(axis=0)
band = 2 * errors.std(axis=0, ddof=1) / np.sqrt(REPETITIONS)
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
tasks = np.arange(1, N_TASKS + 1)
colors = ["C0", "C1", "C2", "C3", "black"]
for name, row, half, color in zip(NAMES, mean, band, colors, strict=True):
    oracle = name == "Oracle"
    axes.plot(tasks, row, ":" if oracle else "-", color=color, linewidth=2.5)
    axes.fill_between(tasks, row - half, row + half, color=color, alpha=0.15)
    lift = {"Oracle": 0.7}.get(name, 1.0)
    axes.text(20.3, row[-1] * lift, name, va="center")
axes.set(yscale="log", xlabel="tasks learned", ylabel="squared error of the estimate")
axes.set(xlim=(1, N_TASKS), xticks=[1, 5, 10, 15, 20])
figure.suptitle("Only GeneralizedRidge gets as close to the truth as the oracle")
plt.show()

# %%
# **What to see.** After two tasks there are more rows than features, and the oracle,
# which keeps all rows, has a unique answer. ``GeneralizedRidge`` has the same answer,
# although it threw every row away. The others stop improving far above it: after 20
# tasks the error of ``MinimumNorm`` is more than 100 times as large.
#
# **Check.** A test runs this page, and computes the estimates of two methods again with
# NumPy: least squares on all rows, and the smallest change that fits each task.
