"""
Penguins: the pooled slope has the wrong sign
=============================================

Are penguins with deep bills heavy or light? All birds together give one answer, and
every species in every year gives the opposite one. A model that keeps its tasks apart
notices this, although it keeps no bird.

Here a task is a species in a year: nine tasks, 342 birds.
"""

import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from statsmodels.stats.meta_analysis import combine_effects

from ridgeway import GeneralizedRidge, datasets, retrospect
from ridgeway.errors import FewClustersWarning
from ridgeway.information import ByTask

COLORS = {"Adelie": "#d55e00", "Chinstrap": "#009e73", "Gentoo": "#0072b2"}

penguins = datasets.load_penguins()
birds = pd.DataFrame(penguins.columns).dropna(subset=["body_mass_g", "bill_depth_mm"])
seasons = birds["species"] + " " + birds["year"].astype(str)
X, y = birds[["bill_depth_mm"]], birds["body_mass_g"]

# %%
# The model keeps a few sums for each task. Sums of products of four columns are among
# them, because one of the questions below needs them.
model = GeneralizedRidge(information=ByTask(fourth_moments=True))
model = model.fit(X, y, tasks=seasons)
print(retrospect.summary(model))

# %%
# **All birds together.** Each millimetre of bill depth goes with 192 g *less*.
# The interval is far from zero. It looks like a safe result.

# %%
# Do the errors hold?
# -------------------
# The usual standard error assumes that the birds are independent and equally
# scattered about the line. There are two ways to assume less:
#
# - HC1 errors allow each bird its own scatter.
# - Cluster-robust errors (CR2) also allow birds of the same task to resemble each
#   other. Then nine tasks count, not 342 birds.
#
# Nine tasks are few even for CR2, and a warning says so. It is silenced here.
warnings.simplefilter("ignore", FewClustersWarning)
pooled = retrospect.summary(model)
by_row = retrospect.heteroscedastic(model)
by_season = retrospect.clustered(model)
for name, found in [("usual", pooled), ("HC1", by_row), ("CR2", by_season)]:
    slope, error = found.coef[1], found.standard_errors[1]
    low, high = found.intervals[1]
    print(f"{name:6} {slope:.0f} ± {error:.1f} g per mm, {low:.0f} to {high:.0f}")

# %%
# The birds of a task do resemble each other: the cluster-robust error is twice the
# usual one. But the slope is the same in all three rows, and still negative.
# **Better errors do not help if the question is wrong.**

# %%
# Which tasks are unlike the others?
# ----------------------------------
# Each task gets a line of its own, which is compared with the line of all the others.
# The last column is the p-value after a correction for asking nine times.
each = retrospect.tasks(model)
print(each)

# %%
# All nine tasks differ from the rest, and all nine slopes are *positive*. No single
# task is to blame: the common line fits none of them.
figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
for species, color in COLORS.items():
    rows = birds[birds["species"] == species]
    depth, mass = rows["bill_depth_mm"], rows["body_mass_g"]
    axes.plot(depth, mass, ".", color=color, alpha=0.35, markersize=5)
    for season in sorted(set(seasons[rows.index])):
        intercept, slope = each.coef[each.tasks.index(season)]
        ends = np.array([depth.min(), depth.max()])
        axes.plot(ends, intercept + slope * ends, color=color)
ends = np.array([X.to_numpy().min(), X.to_numpy().max()])
line = pooled.coef[0] + pooled.coef[1] * ends
axes.plot(ends, line, "--", color="black", linewidth=2)
places = {"Gentoo": (14.2, 6000), "Adelie": (19.8, 4650), "Chinstrap": (17.0, 2850)}
for species, (depth, mass) in places.items():
    axes.text(depth, mass, species, color=COLORS[species])
axes.text(20.2, 3250, "all birds together")
axes.set(xlabel="bill depth (mm)", ylabel="body mass (g)")
figure.suptitle("Mass rises with bill depth in each task, and falls over all birds")
plt.show()

# %%
# Gentoos are heavy birds with shallow bills. The pooled line runs from them down to
# the other two species. Its slope reflects the difference between species, and hides
# what depth means within a species.

# %%
# A level for each task
# ---------------------
# Fixed effects give each task its own level (intercept) and estimate the slope that
# the tasks have in common.
within = retrospect.fixed_effects(model)
print(within)

# %%
# Within a species and year, each millimetre goes with 267 g *more*.

# %%
# Is it one slope?
# ----------------
# The forest plot shows the slope of each task with its interval. Q measures how far
# apart the nine slopes are, compared with what chance would give. statsmodels computes
# it from their estimates and errors.
axes = each.plot("bill_depth_mm")
axes.set_xlabel("grams per millimetre of bill depth")
axes.figure.suptitle("Gentoos gain more mass with bill depth than the other two species")
plt.show()

place = each.terms.index("bill_depth_mm")
slope, error = each.coef[:, place], each.standard_errors[:, place]
slopes = combine_effects(slope, error**2)
p_value = slopes.test_homogeneity().pvalue
print(f"Q {slopes.q:.1f}, p = {p_value:.3f}, I² {slopes.i2:.0%}")

# %%
# The slopes differ more than chance explains (p = 0.001). I² says that about 69 % of
# their scatter is real. Is it the species or the year? Keep one species at a time, by
# giving the tasks of the others the weight 0, and compare its three years.
for species in COLORS:
    others = {task: 0.0 for task in each.tasks if not task.startswith(species)}
    alone = retrospect.reweighted(model, others)
    years = retrospect.tasks(alone).adjusted_p_values
    mine = [task.startswith(species) for task in each.tasks]
    common = np.average(slope[mine], weights=1.0 / error[mine] ** 2)
    print(f"{species:9} {common:.0f} g per mm; p-values of years ≥ {min(years):.2f}")

# %%
# **What we learned.** The years of a species do not differ detectably: no p-value is
# below 0.05.
# The species differ: a millimetre of bill goes with 371 g for Gentoos, but only 230 g
# for Adelies and 205 g for Chinstraps. So report a slope per species, with a level per
# species, and do not report the pooled slope.
#
# **Check.** A test runs this page and compares it with statsmodels on the 342 rows:
# the three kinds of errors, and the regression with a constant for each task (dummy
# variables). statsmodels has no CR2 errors. Its CR1 errors are compared instead, and
# CR2 is computed from the rows.
