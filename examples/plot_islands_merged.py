"""
Penguins: three islands share a model, but no birds
===================================================

Three field stations weigh penguins. Each has its own island, and none may send its
records to the others. Can they still have the model that all birds together would
give?

Each station fits its own model and sends the state: a few numbers, however many birds
there are.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from ridgeway import GeneralizedRidge, datasets, retrospect

birds = pd.DataFrame(datasets.load_penguins().columns).dropna()
measured = ["flipper_length_mm", "bill_length_mm", "bill_depth_mm"]
stations = {}
for island, own in birds.groupby("island"):
    stations[str(island)] = GeneralizedRidge().fit(own[measured], own["body_mass_g"])
for island, station in stations.items():
    print(f"{island:10} {station.n_samples_seen_} birds")

# %%
# Merging is exact. It does not matter who merges with whom, or in which order.
biscoe, dream, torgersen = stations.values()
merged = biscoe.merge(dream).merge(torgersen)
other = torgersen.merge(biscoe.merge(dream))
print("largest difference:", f"{np.abs(merged.coef_ - other.coef_).max():.0e}")

# %%
# For comparison, the model that nobody may fit: all birds in one place.
pooled = GeneralizedRidge().fit(birds[measured], birds["body_mass_g"])

# %%
# Averaging the three slopes is a common substitute. It differs from the merged model,
# because it ignores how much each island knows, and about what.
average = float(np.mean([station.coef_[0] for station in stations.values()]))
print(f"merged {merged.coef_[0]:.1f}, average {average:.1f} g per mm")

# %%
# How much heavier is a bird whose flipper is a millimetre longer?
models = {**stations, "merged": merged, "all birds in one place": pooled}
figure, axes = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
for row, (name, each) in enumerate(models.items()):
    found = retrospect.summary(each)
    slope, (low, high) = found.coef[1], found.intervals[1]
    color = {"merged": "#0072B2", "all birds in one place": "#222222"}.get(name, "grey")
    axes.plot([low, high], [row, row], color=color, linewidth=2)
    axes.plot(slope, row, "o", color=color)
    text = f"{slope:.1f} ± {(high - low) / 2:.1f}, {each.n_samples_seen_} birds"
    axes.annotate(text, (high, row), (8, -3), textcoords="offset points")
axes.set_yticks(range(len(models)), list(models))
axes.set(xlabel="grams per millimetre of flipper, with 95 % interval", xlim=(-10, 85))
axes.invert_yaxis()
axes.grid(visible=False, axis="y")
figure.suptitle("Merged, the stations know what all birds in one place would tell")
plt.show()

# %%
# **What to see.** Torgersen has only 47 birds, and its interval is wide. The merged
# model has the same slope and the same interval as all 333 birds in one place. Its
# slope is steeper than that of any island.
#
# That is not an error of merging. Heavy Gentoos live on Biscoe only, and the slope of
# all birds reflects the difference between species. The page "Penguins: the pooled
# slope has the wrong sign" shows what to do about that.
#
# **Check.** A test runs this page and compares it with statsmodels on all birds.
