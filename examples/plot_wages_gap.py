"""
Wages: the gap between women and men stopped closing in the 1990s
=================================================================

A survey asks Americans what they earn, from 1974 to 2018. Each wave must be deleted
once it has been analysed. Has the gap between women and men with the same education
and age become smaller? The question comes at the end, when no answers are left.

Each of the 30 waves is a task. Only full-time workers between 25 and 64 count.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from statsmodels.stats.meta_analysis import combine_effects

from ridgeway import GeneralizedRidge, datasets, retrospect

answers = pd.DataFrame(datasets.load_wages().columns)
kept = (answers["wrkstat"] == "Full-Time") & answers["age"].between(25, 64)
answers = answers[kept].dropna(subset=["realrinc", "educcat"])

# %%
# The target is the logarithm of real income, so that coefficients are ratios. Income
# rises with age and then falls, so age enters as a parabola about 45 years.
X = pd.get_dummies(answers["educcat"], dtype=float).drop(columns="High School")
age = (answers["age"] - 45) / 10
X = X.assign(age=age, age_squared=age**2, woman=(answers["gender"] == "Female") * 1.0)
y = np.log(answers["realrinc"])

# %%
# One call learns a wave, and its rows are gone.
model = GeneralizedRidge(information="by_task")
for year in sorted(answers["year"].unique()):
    wave = answers["year"] == year
    model = model.partial_fit(X[wave], y[wave], task=year)
print(f"{model.n_samples_seen_:,} answers in {model.n_tasks_} waves")

# %%
# All waves together
# ------------------
woman = retrospect.summary(model).to_frame().loc["woman", "coef"]
print(f"Women earned {-100 * np.expm1(woman):.0f} % less, in an average year.")

# %%
# Wave by wave
# ------------
# The path with ``window=1`` has the coefficients of each wave alone.
path = retrospect.coefficient_path(model, window=1)
place = path.terms.index("woman")
gap = -100 * np.expm1(path.coef[:, place])
low, high = -100 * np.expm1(path.intervals[:, place].T)
years = np.array(path.tasks, dtype=int)

figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
axes.vlines(years, low, high, color="#0072B2", alpha=0.5)
axes.plot(years, gap, "o", color="#0072B2", markersize=5)
for place, offset in [(0, (-8, 38)), (-1, (8, 0))]:
    text = f"{gap[place]:.0f} % less\nin {years[place]}"
    axes.annotate(text, (years[place], gap[place]), offset, textcoords="offset points")
axes.axvline(1993, color="#666666", linestyle=":", linewidth=1)
axes.text(1993.4, 60, "no clear change since 1993", color="#666666")
axes.set(xlabel="year of the survey", ylabel="women earn less by (%)", ylim=(0, 68))
axes.set_xlim(1972, 2026)
figure.suptitle("The gap in wages shrank from 1974 to 1993, and not since")
plt.show()

# %%
# **What to see.** In 1974, women earned 52 % less than men of the same age and
# education. In 1993 it was 31 %, and in 2018 still 33 %. Bars are 95 % intervals.
#
# Is the flat part really flat? Ask whether the waves since 1993 differ by more than
# chance: Cochran's test, by statsmodels.
slope, variance = path.coef[:, place], path.standard_errors[:, place] ** 2
recent = years >= 1993
whole = combine_effects(slope, variance).test_homogeneity().pvalue
late = combine_effects(slope[recent], variance[recent]).test_homogeneity().pvalue
print(f"all waves: p = {whole:.1g}; waves since 1993: p = {late:.2f}")

# %%
# They do not: p = 0.93. Over all 30 waves, chance alone would hardly ever give such
# differences. The income is what people said, and their occupations may differ.
#
# **Check.** A test runs this page and compares every wave with statsmodels.
