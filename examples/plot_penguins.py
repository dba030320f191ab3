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
figures = {name: figure for name, _, figure in report.draw_figures(found)}
plt.figure(figures["forgetting"])
plt.show()

# %%
# **What to see.** ``MinimumNorm`` predicts the earlier tasks 73 % worse at the end than
# when it had just learned them. ``GeneralizedRidge`` predicts them 4 % better, as the
# oracle does, which keeps all rows.

# %%
# A map shows when it happened. Each row is the state after one task, and each column
# is the error on one task. Tasks below the white line have been learned.
plt.figure(figures["losses-mn"])
plt.show()

# %%
plt.figure(figures["losses-gr"])
plt.show()

# %%
# The map of ``MinimumNorm`` gets dark below the line: what was learned is lost. The map
# of ``GeneralizedRidge`` stays light there.
#
# ``report.write_report(found, "report/")`` writes all figures and tables to a page. The
# command ``ridgeway compare penguins --out report/`` does all of this.
#
# **Check.** A test runs this page, and finds the same with NumPy and another random
# fifth of the birds.
