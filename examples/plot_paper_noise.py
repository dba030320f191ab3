"""
The paper's Figure 1: remembering beats forgetting at every level of noise
==========================================================================

The method behind this library comes from a paper on continual learning (Zhao, Wang,
Huang and Lin, ICML 2024). Does its first figure hold up? It has twenty tasks of 150
rows and 200 features. No task alone can determine the parameter.

Here three methods and the oracle learn them in turn, in three repetitions. The paper
has 100; ``ridgeway reproduce`` runs all of them and judges every claim.
"""

import numpy as np
from matplotlib import pyplot as plt

from ridgeway.research import simulation

setting = simulation.Setting(noise_variance=(1.0, 5.0))
colors = {
    "mn": "#D55E00",
    "crr:1": "#E69F00",  # with λ = 1
    "gr": "#0072B2",
    "oracle": "#222222",
}
found = simulation.run(setting, list(colors), repetitions=3, seed=0)
mean = {}
for key in colors:
    for level in (1, 5):
        mean[key, level] = found.of(key, level).mean(axis=0)

# %%
# The error is the squared distance of the estimate from the truth.
figure, panels = plt.subplots(1, 2, figsize=(8, 4.2), sharey=True, layout="constrained")
tasks = np.arange(1, 21)
for axes, level in zip(panels, (1, 5), strict=True):
    for key, color in colors.items():
        ring = {"marker": "o", "fillstyle": "none", "linestyle": "none"}
        line = ring if key == "oracle" else {"linewidth": 2}
        axes.plot(tasks, mean[key, level], color=color, **line)
    axes.set(yscale="log", xlabel="tasks learned", xticks=[1, 5, 10, 15, 20])
    axes.set_title(f"noise variance {level}", fontsize=10)
panels[0].set(ylabel="squared error of the estimate")
panels[0].text(8, 6.5, "MinimumNorm", color="#B34F00")
panels[0].text(8, 2.6, "ContinualRidge", color="#8A5F00")
panels[0].text(1.2, 0.066, "GeneralizedRidge\n(rings: oracle)", color="#0072B2")
figure.suptitle("Only the method that remembers keeps improving, as the oracle does")
plt.show()

# %%
# **What to see.** The blue line runs through all rings. ``GeneralizedRidge`` equals the
# oracle, which keeps all rows, after every task. After the first task
# all are poor: 150 rows cannot determine 200 coefficients.
#
# ``MinimumNorm`` stops improving after a few tasks. It forgets as much as it learns,
# and its error ends near four times the noise variance. ``ContinualRidge`` is slow at
# first, and levels off as well.
for level in (1, 5):
    ratio = mean["mn", level][-1] / level
    print(f"noise {level}: MinimumNorm ends at {ratio:.1f} times the noise variance")

# %%
# Theory says the same. For these designs, a step of ``MinimumNorm`` keeps a quarter of
# the error and adds 150/49 times the noise variance. So it ends at 4.1 times the noise.
# The error of the oracle after t tasks is 200/(150·t − 201) times the noise.
#
# **Check.** A test runs this page and compares the errors with these two formulas.
