"""
Exams: schools differ, but few can be ranked
============================================

Some schools have better results because their pupils were better when they arrived.
This page compares 65 schools in inner London, allowing for a reading test at the
start. School 53 comes first for most pupils, but it is not the best choice for weak
readers.

Each school is a task. The 4,059 pupils are gone once the model has learned them.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from statsmodels.stats.meta_analysis import combine_effects

from ridgeway import GeneralizedRidge, datasets, retrospect

pupils = pd.DataFrame(datasets.load_exams().columns)
X, y = pupils[["standLRT"]], pupils["normexam"]
model = GeneralizedRidge(information="by_task").fit(X, y, tasks=pupils["school"])

# %%
# ``standLRT`` is the reading test at age 11 and ``normexam`` the exam at age 16. Both
# have mean 0 and standard deviation 1.

# %%
# How much do schools differ?
# ---------------------------
# Give each school its own line. The intercept is the expected result of a pupil with
# an average reading test, and the slope says how much the test matters there. Random
# effects take the lines as draws from a distribution, and estimate its mean and spread.
# The method is restricted maximum likelihood (REML).
found = retrospect.random_effects(model, ["intercept", "standLRT"])
print(found)
levels, slopes = np.sqrt(np.diag(found.covariance))
correlation = found.covariance[0, 1] / (levels * slopes)
print(f"correlation of levels and slopes over schools: {correlation:.2f}")

# %%
# On average, a pupil who is one point better in the reading test is 0.56 points better
# in the exam. The levels of schools have a standard deviation of 0.30 points. The
# noise, by which pupils of one school differ, has 0.74. So schools matter, but
# pupils of the same school differ far more than schools do.
#
# The slopes vary too, with a standard deviation of 0.12. The correlation of 0.49 means
# that schools with good results tend to be those where the reading test matters more.

# %%
# The best estimate for each school
# ---------------------------------
# A line fitted to one school alone is unreliable if the school is small: school 48 has
# two pupils. The random effects move each line towards the common one, more so the
# fewer pupils there are.
alone = retrospect.tasks(model)

marked = {"53": "#d55e00", "54": "#0072b2", "48": "#009e73"}
figure, panels = plt.subplots(1, 2, figsize=(8, 4.2), sharey=True, layout="constrained")
ends = np.array([-2.5, 2.5])
for axes, lines in zip(panels, (alone.coef, found.task_coef), strict=True):
    for school, (level, slope) in zip(found.tasks, lines, strict=True):
        look = {"color": "grey", "linewidth": 0.6, "alpha": 0.6}
        if school in marked:
            look = {"color": marked[school], "zorder": 3}
            end = np.clip(level + slope * 2.5, -2.8, 2.8)
            axes.text(2.55, end, school, color=look["color"], va="center")
        axes.plot(ends, level + slope * ends, **look)
    axes.set(xlabel="reading test (standard deviations)", xlim=ends, ylim=(-3, 3))
panels[0].set(ylabel="exam result (standard deviations)")
panels[0].set_title("each school alone", fontsize=10)
panels[1].set_title("shrunk towards the common line", fontsize=10)
figure.suptitle("Small schools borrow from the others: 48 has two pupils, 53 has 70")
plt.show()

# %%
# School 48 (two pupils) gets nearly the common line. School 54 has eight pupils; its
# slope goes from 0.04 to 0.40. School 53 has 70 pupils and keeps most of its slope:
# from 1.08 to 0.91.

# %%
# A league table, with its errors
# -------------------------------
# The figure sorts schools by the expected result of an average pupil.
order = np.argsort(found.task_coef[:, 0])
level, (low, high) = found.task_coef[order, 0], found.task_intervals[order, 0].T
apart = (low > found.coef[0]) | (high < found.coef[0])
figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
for kind, color in [(apart, "#d55e00"), (~apart, "grey")]:
    places = np.flatnonzero(kind)
    axes.vlines(places, low[kind], high[kind], color=color, linewidth=1.2)
    axes.plot(places, level[kind], "o", color=color, markersize=3)
axes.axhline(found.coef[0], color="black", linewidth=0.8, linestyle=":")
names = [found.tasks[school] for school in order]
for name in ("59", *marked):
    place = names.index(name)
    axes.annotate(name, (place, high[place]), ha="center", va="bottom", fontsize=8)
axes.set(xlabel="schools, sorted", xticks=[])
axes.set(ylabel="expected exam result (standard deviations)")
figure.suptitle(f"{apart.sum()} of {len(order)} intervals exclude the average")
plt.show()

# %%
# For 32 of 65 schools (orange), the 95 % interval does not contain the average. School
# 59 comes last and school 53 first. But the interval of school 53, 0.47 to 0.80,
# contains the estimates of the next four schools. In the middle of the table, the order
# means even less: the intervals of all grey schools contain the average.
#
# School 53 also has the steepest line. For weak readers, others are expected to do
# better:
for test in (-2, 0, 2):
    expected = found.task_coef @ [1, test]
    best = found.tasks[np.argmax(expected)]
    at_53 = expected[found.tasks.index("53")]
    print(f"test {test:2}: best {best:>2} ({expected.max():.2f}); 53 has {at_53:.2f}")

# %%
# Straight lines are assumed here, and this comparison rests on few pupils: only 6 of
# the 70 pupils of school 53 have a test below −1.

# %%
# Does the reading test matter equally everywhere?
# ------------------------------------------------
# A meta-analysis asks this about the slope alone, school by school. statsmodels combines
# the estimates of schools; school 48 has no error, because two pupils fit any line.
axes = alone.plot("standLRT")
axes.set(xlabel="exam points per point of the reading test", ylabel="school")
axes.figure.suptitle("The slopes of the schools differ by more than chance")
plt.show()

known = np.isfinite(alone.standard_errors[:, 1])
variance = alone.standard_errors[known, 1] ** 2
slope = combine_effects(alone.coef[known, 1], variance, method_re="pm")
print(f"Q {slope.q:.0f}, p = {slope.test_homogeneity().pvalue:.1g}, I² {slope.i2:.0%}")

# %%
# It does not. Chance alone would hardly ever give slopes that differ as much as these.
# About 58 % of their scatter is real (I²). The standard deviation between schools is
# 0.12, as above, although the method differs.
#
# **What we learned.** Allow for the intake of schools, show intervals, and compare for
# the pupil in question. A ranking without these says little.
#
# **Check.** A test runs this page and compares it with lme4, the usual R package for
# such models. It gives the intercept −0.01165 and the slope 0.55653. Its standard
# deviations are 0.3035, 0.1223 and 0.7441, and the correlation is 0.49. Source: F.
# Hartig, lecture notes on mixed models, 4th session, with these data (``Exam`` of
# mlmRev). The test also compares the schools with the predictions of statsmodels.
