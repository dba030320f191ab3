"""
Forgetting, as a film
=====================

What does it look like when a model forgets? Nine groups of penguins are weighed, one
after another: three islands in three years. After each group the birds are gone, and
the model predicts body mass from the length of the flipper.

One model forgets, the other does not. Watch the two lines.
"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.animation import FuncAnimation

from ridgeway import GeneralizedRidge, MinimumNorm, datasets

birds = pd.DataFrame(datasets.load_penguins().columns).dropna()
groups = list(birds.groupby(["island", "year"]))

# %%
# Learn the groups in turn, and keep the line after each.
ends = np.array([[170.0], [235.0]])
forgets, keeps = MinimumNorm(), GeneralizedRidge()
lines: list[tuple[Any, Any]] = []
for _, group in groups:
    X, y = group[["flipper_length_mm"]].to_numpy(), group["body_mass_g"].to_numpy()
    forgets, keeps = forgets.partial_fit(X, y), keeps.partial_fit(X, y)
    lines.append((forgets.predict(ends), keeps.predict(ends)))

# %%
# Each picture shows one group in dark, the birds before it in grey, and the two lines.
figure, axes = plt.subplots(figsize=(6.4, 4.2))
figure.subplots_adjust(left=0.12, right=0.76, top=0.9, bottom=0.12)
red, blue = "#D55E00", "#0072B2"
(past,) = axes.plot([], [], ".", color="#B5B5B5", markersize=5)
(new,) = axes.plot([], [], "o", color="#222222", markersize=4)
(wild,) = axes.plot([], [], color=red, linewidth=2.5)
(calm,) = axes.plot([], [], color=blue, linewidth=2.5)
said = axes.text(172, 6500, "", fontsize=11)
wild_name = axes.text(236, 0, "forgets\n(MinimumNorm)", color=red, va="center")
calm_name = axes.text(236, 0, "does not\n(GeneralizedRidge)", color=blue, va="center")
axes.set(xlabel="flipper length (mm)", ylabel="body mass (g)")
axes.set(xlim=(170, 235), ylim=(2400, 6800))
figure.suptitle("One line jumps to every new group, the other settles", x=0.45)


def show(step: int) -> None:
    """Draw the picture after a group was learned."""
    (island, year), group = groups[step]
    before = pd.concat([each for _, each in groups[: step + 1]])
    past.set_data(before["flipper_length_mm"], before["body_mass_g"])
    new.set_data(group["flipper_length_mm"], group["body_mass_g"])
    said.set_text(f"{step + 1} of 9: {island} {year}")
    wild.set_data(ends[:, 0], lines[step][0])
    calm.set_data(ends[:, 0], lines[step][1])
    apart = lines[step][0][1] - lines[step][1][1]
    if abs(apart) < 450:  # grams, for the two names
        apart = 450 if apart > 1 else -450
    calm_name.set_y(lines[step][1][1])
    wild_name.set_y(lines[step][1][1] + apart)


film = FuncAnimation(figure, show, frames=len(groups), interval=1200)
plt.show()

# %%
# **What to see.** The red line always fits the newest group, dark, and often misses the
# grey birds. The blue line moves little after the first groups, and ends where least
# squares on all 333 birds ends. Both models keep no birds. The blue one also keeps how
# much it knows: two sums of squares and a product.
#
# **Check.** A test runs this page. The red line is that of the newest group alone, and
# the blue line that of all birds so far, both by NumPy.
