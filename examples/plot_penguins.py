"""
Penguins: which methods forget?
===============================

You have a table with a column that says where or when each row was recorded. Would a
model that learns it piece by piece still know the first pieces at the end? Here are
penguins on three islands in three years: nine tasks. Each is learned and thrown away
before the next.
"""

from matplotlib import pyplot as plt

from ridgeway import datasets, report

# %%
# The species of a bird nearly tells its island, so it is not one of the features.
penguins = datasets.load_penguins()
print(f"{penguins.n_rows} birds, to predict", penguins.target)
print("from", ", ".join(penguins.features))

# %%
# Every method learns the nine tasks in turn. A fifth of the birds of each task is held
# out, to measure errors. The sentence is also the first of the report.
found = report.compare(penguins, methods=["mn", "crr", "gr"])
print(found.sentence)

# %%
# How much worse does each method predict earlier tasks at the end?
axes = found.plot()
axes.figure.suptitle("Two of three methods forget: their error on earlier tasks rises")
plt.show()

# %%
# **What to see.** ``MinimumNorm`` predicts the earlier tasks 73 % worse at the end than
# when it had just learned them. ``GeneralizedRidge`` predicts them 4 % better, as the
# oracle does, which keeps all rows.

# %%
# A map shows when it happened. Each row is the state after one task, and each column
# is the error on one task. Tasks on and below the diagonal have been learned.
figure, panels = plt.subplots(1, 2, figsize=(8.5, 4.0), layout="constrained")
bounds = {"vmin": found["gr"].losses.min(), "vmax": found["mn"].losses.max()}
for axes, key in zip(panels, ["mn", "gr"], strict=True):
    losses = found[key].losses
    image = axes.imshow(losses, cmap="cividis_r", extent=(0.5, 9.5, 9.5, 0.5), **bounds)
    axes.set(xlabel="on task", ylabel="after task", title=found[key].method.name)
figure.colorbar(image, ax=panels, label="error (g)", shrink=0.8)
figure.suptitle("MinimumNorm loses what it learned, GeneralizedRidge does not")
plt.show()

# %%
# Below the diagonal, the map of ``MinimumNorm`` gets dark: what was learned is lost.
# The map of ``GeneralizedRidge`` stays light there.
#
# ``report.write_report(found, "report/")`` writes all figures and tables to a page. The
# command ``ridgeway compare penguins --out report/`` does all of this.
#
# **Check.** A test runs this page, and finds the same with NumPy and another random
# fifth of the birds.
