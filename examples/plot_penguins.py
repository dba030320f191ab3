"""
Who forgets, on real tasks
==========================

Penguins on three islands in three years: nine tasks, learned one after another, each thrown away before the next. What
does a method still know of the first islands after the last one?
"""

from matplotlib import pyplot as plt

from ridgeway import datasets, report
from ridgeway.report import draw_figures

# %%
# The species of a bird all but names its island, and is not among the features.
penguins = datasets.load_penguins()
print(penguins.n_rows, "birds; to predict", penguins.target, "from", ", ".join(penguins.features))

# %%
# Every method learns the nine tasks in turn. A fifth of each task's rows is held out.
found = report.compare(penguins)
print(found.sentence)

# %%
# Each figure of the report can be had alone. A row of this one is a moment, a column a task: below the line, tasks that
# have been learned.
figures = {name: figure for name, _, figure in draw_figures(found)}
for name in ("forgetting", "losses-mn", "losses-gr"):
    figures[name].set_dpi(110)
    plt.figure(figures[name])

# %%
# ``report.write_report(found, "report/")`` makes the page. The command ``ridgeway compare penguins --out report/`` does
# all of this.
