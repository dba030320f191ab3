"""Models of tasks, and the figures of their answers."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.cli._task_figures import plot_path, plot_segments

RED, BLUE, GREEN = "#d55e00", "#0072b2", "#009e73"
PALE = "#b5b5b5"


def learned(rng, *, n_tasks=8, n=25, columns=("price", "adverts"), n_targets=1, name="m{:02d}"):
    """Return a model of tasks whose first slope jumps in the middle."""
    model = GeneralizedRidge(information="by_task")
    for task in range(n_tasks):
        X = pd.DataFrame(rng.normal(size=(n, len(columns))), columns=list(columns))
        slopes = np.r_[2.0 + 3.0 * (task >= n_tasks / 2), np.ones(len(columns) - 1)]
        y = (10.0 + X.to_numpy() @ slopes)[:, None] * np.arange(1, n_targets + 1) + rng.normal(size=(n, n_targets))
        model = model.partial_fit(X, y[:, 0] if n_targets == 1 else y, task=name.format(task))
    return model


def drawn(model):
    """Yield a figure of each kind."""
    alone = retrospect.coefficient_path(model, window=1)
    yield plot_path(retrospect.coefficient_path(model))
    yield plot_segments(retrospect.segments(model), alone)


def texts(figure):
    """Return all text that a reader sees."""
    return [text.get_text() for text in figure.findobj(lambda each: hasattr(each, "get_text")) if text.get_visible()]


def lines(axes, colour, marker=None):
    """Return the data of the lines of one colour, (n, 2) each."""
    found = [each for each in axes.get_lines() if to_hex(each.get_color()) == colour]
    return [np.array(each.get_xydata()) for each in found if marker is None or each.get_marker() == marker]


def named(figure, title):
    """Return the panel whose title starts like this."""
    return next(axes for axes in figure.axes if axes.get_title(loc="left").startswith(title))
