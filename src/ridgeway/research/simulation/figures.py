"""Figures of results: error, forgetting and error by direction; bands over repetitions; theory dashed.

A method has the same colour as in all other figures, and its name stands where its line ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._files import atomic_file
from ridgeway._optional import require
from ridgeway._style import BLACK, GREY, STYLE, label_ends
from ridgeway.catalogue import looks
from ridgeway.errors import InvalidDataError
from ridgeway.research.simulation._population import CLOSED_FORMS
from ridgeway.research.simulation._results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Panel", "draw_directions", "draw_errors", "draw_forgetting", "draw_panels", "save"]

DASHED: dict[str, Any] = {"color": BLACK, "linewidth": 0.8, "linestyle": (0, (3, 6))}
LONG_DASHES: dict[str, Any] = {"color": BLACK, "linewidth": 1.0, "linestyle": (0, (7, 3))}
"""The style of an expectation over all designs, in closed form."""
RINGS = {"color": BLACK, "marker": "o", "linestyle": "none", "fillstyle": "none", "markersize": 7.5}
"""The style of the oracle: GR with H̃ equals it, and rings around its markers show both."""
BAND = 2.0
"""Half the width of a band, in standard errors."""
MOST_GROUPS = 20
"""The largest number of groups of directions with similar information."""
WIDTH, HEIGHT = 4.6, 4.0
LABELS = {
    "mn": "MN", "crr:best": "CRR, best λ at each step", "crr:trace": "CRR, λ = tr(H̃)/p",
    "crr:max": "CRR, λ = λmax(H̃)", "crr:task-max": "CRR, λ = γmax(Σ)", "crr:t-1": "CRR, λ = t − 1", "gr": "GR, H̃",
    "crr:lambda-max": "CRR, largest λ of eq. (lambda)",
    "gr:optimal": "GR, optimal", "gr:diagonal": "GR, diagonal H̃", "es": "ES, 100 steps", "es:gr": "ES matched to GR",
    "gr:evidence": "GR, learned prior", "oracle": "oracle",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel of a figure of errors.

    Attributes
    ----------
    title : str
    results : Results
    noise_variance : float
    expected : Results or None
        Expectations to draw on top, dashed.

    Examples
    --------
    >>> from ridgeway.research import simulation
    >>> setting = simulation.Setting(n_tasks=3, n_samples=5, n_features=8)
    >>> found = simulation.run(setting, ["mn", "gr"], repetitions=2)
    >>> panel = simulation.figures.Panel("few rows", found, noise_variance=1.0)
    >>> figure = simulation.figures.draw_panels([panel], methods=["mn", "gr"])
    >>> figure.axes[0].get_title()
    'few rows'
    """

    title: str
    results: Results
    noise_variance: float
    expected: Results | None = None


def draw_panels(panels: Sequence[Panel], methods: Sequence[str]) -> "Figure":
    """Draw the mean error of methods against the task, in panels side by side, on one logarithmic scale.

    Examples
    --------
    >>> from ridgeway.research import simulation
    >>> levels = 1.0, 5.0
    >>> setting = simulation.Setting(3, n_samples=5, n_features=8, noise_variance=levels)
    >>> found = simulation.run(setting, ["mn", "gr"], repetitions=2)
    >>> panels = [simulation.figures.Panel(f"{level:g}", found, level) for level in levels]
    >>> simulation.figures.draw_panels(panels, ["mn", "gr"]).get_suptitle()
    'GR, H̃ ends with the smallest error'
    """
    figure, axes = _figure(len(panels))
    styles = _styles(methods)
    for axis, panel in zip(axes, panels, strict=True):
        setting = panel.results.description.setting
        tasks = np.arange(1, setting.n_tasks + 1)
        for method in methods:
            _draw_band(axis, tasks, panel.results.of(method, panel.noise_variance), method, styles[method])
        for expected in _exact_errors(panel, methods).values():
            axis.plot(tasks, expected, zorder=5, **LONG_DASHES)
        for expected in _averaged_errors(panel, methods).values():
            axis.plot(tasks, expected, zorder=5, **DASHED)
        axis.set(yscale="log")
        axis.set_title(panel.title, fontsize=10)
        _mark_tasks(axis, setting.n_tasks)
    return _finished(figure, _verdict(panels[-1], methods), "error ‖ŵ − w*‖²", _what_is_dashed(panels, methods))


def _exact_errors(panel: Panel, methods: Sequence[str]) -> dict[str, Array]:
    """Return the expected errors over all designs of the methods that have a closed form; of the oracle in any case.

    A closed form that leaves out some tasks gives way to an average over designs.
    """
    averaged = () if panel.expected is None else panel.expected.description.methods
    wanted = methods if panel.expected is not None or "oracle" in methods else [*methods, "oracle"]
    exact = {}
    for method in wanted:
        if method not in CLOSED_FORMS:
            continue
        errors = CLOSED_FORMS[method](panel.results.description.setting, panel.noise_variance)
        unknown = np.isnan(errors)
        if not unknown.all() and not (unknown.any() and method in averaged):
            exact[method] = errors
    return exact


def _averaged_errors(panel: Panel, methods: Sequence[str]) -> dict[str, Array]:
    """Return the expected errors of the other methods, averaged over the designs of the panel."""
    if panel.expected is None:
        return {}
    exact = _exact_errors(panel, methods)
    others = [name for name in methods if name in panel.expected.description.methods and name not in exact]
    return {name: panel.expected.of(name, panel.noise_variance).mean(axis=0) for name in others}


def _what_is_dashed(panels: Sequence[Panel], methods: Sequence[str]) -> str | None:
    """Return the note under a figure of errors, or None if nothing is dashed."""
    exact = [_exact_errors(panel, methods) for panel in panels]
    averaged = [errors for panel in panels for errors in _averaged_errors(panel, methods).values()]
    names = [name for name in CLOSED_FORMS if any(name in errors for errors in exact)]
    if not names:
        return "expected error" if averaged else None
    listed = " and ".join([", ".join(map(_in_short, names[:-1])), _in_short(names[-1])]).removeprefix(" and ")
    condition = "" if all(exact) else " without a shift"
    expected = panels[0].expected
    if not averaged or expected is None:
        return f"expected error of {listed} over all designs{condition}"
    short = f"others, over {len(expected.errors)} designs"
    return f"expected error. Long dashes: {listed}{condition}, over all designs; short: {short}"


def _in_short(method: str) -> str:
    return method if method == "oracle" else method.upper()


def draw_errors(results: Results, expected: Results | None = None) -> "Figure":
    """Draw the error against the task, one panel per noise level.

    Examples
    --------
    >>> from ridgeway.research import simulation
    >>> setting = simulation.Setting(n_tasks=3, n_samples=20, n_features=8)
    >>> found = simulation.run(setting, ["mn", "gr"], repetitions=2)
    >>> simulation.figures.draw_errors(found).get_suptitle()
    'GR, H̃ ends with the smallest error'
    """
    levels = results.description.setting.noise_variance
    panels = [Panel(f"σ² = {level:g}", results, level, expected) for level in levels]
    return draw_panels(panels, results.description.methods)


def draw_forgetting(results: Results) -> "Figure":
    """Draw F_t against the task: above zero, something was forgotten.

    Examples
    --------
    >>> from ridgeway.research import simulation
    >>> setting = simulation.Setting(n_tasks=3, n_samples=20, n_features=8)
    >>> found = simulation.run(setting, ["mn", "gr"], repetitions=2)
    >>> simulation.figures.draw_forgetting(found).get_suptitle()
    'MN forgets most'
    """
    setting, methods = results.description.setting, results.description.methods
    if setting.n_tasks < 2:
        raise InvalidDataError("forgetting requires at least two tasks; this run has one.")
    figure, axes = _figure(len(setting.noise_variance))
    styles, forgetting = _styles(methods), results.forgetting()
    tasks = np.arange(2, setting.n_tasks + 1)
    for k, (axis, level) in enumerate(zip(axes, setting.noise_variance, strict=True)):
        axis.axhline(0.0, color=BLACK, linewidth=0.8)
        for i, method in enumerate(methods):
            _draw_band(axis, tasks, forgetting[:, k, i, 1:], method, styles[method])
        axis.set_yscale("symlog", linthresh=0.1)
        axis.set_title(f"σ² = {level:g}", fontsize=10)
        _mark_tasks(axis, setting.n_tasks)
    last = {method: float(forgetting[:, -1, i, -1].mean()) for i, method in enumerate(methods) if method != "oracle"}
    most = max(last, key=lambda method: last[method], default="")
    said = f"{_label(most)} forgets most" if last and last[most] > 0.0 else "No method forgets"
    return _finished(figure, said, "forgetting F (> 0: forgotten)")


def draw_directions(results: Results) -> "Figure":
    """Draw the error in each direction after the last task, against the information of the population about it.

    Examples
    --------
    >>> from ridgeway.research import simulation
    >>> setting = simulation.Setting(n_tasks=3, n_samples=20, n_features=8)
    >>> found = simulation.run(setting, ["mn", "gr"], repetitions=2)
    >>> simulation.figures.draw_directions(found).get_suptitle()
    'The error in each direction: more is known about those to the right'
    """
    setting, methods = results.description.setting, results.description.methods
    figure, axes = _figure(len(setting.noise_variance))
    styles, groups = _styles(methods), _groups(results.information)
    places = np.array([place for place, _ in groups])
    for k, (axis, level) in enumerate(zip(axes, setting.noise_variance, strict=True)):
        for i, method in enumerate(methods):
            means = [results.direction_errors[:, k, i][group].mean() for _, group in groups]
            axis.plot(places, means, label=_label(method), **styles[method])
        grid = np.geomspace(places[0], places[-1], 50)
        if level > 0.0:
            axis.plot(grid, level / (level + grid), **DASHED)
        axis.set_title(f"σ² = {level:g}", fontsize=10)
        axis.set(xlabel="information Σ n γ of the direction", xscale="log", yscale="log")
        axis.xaxis.set_minor_formatter("")  # within a decade their labels would overlap
    said = "The error in each direction: more is known about those to the right"
    return _finished(figure, said, "squared error in one direction, at the end", "optimum σ²/(σ² + Σ n γ)")


def save(figure: "Figure", folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG, each atomically. The same figure gives the same bytes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from matplotlib.figure import Figure
    >>> from ridgeway.research.simulation import figures
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = figures.save(Figure((1, 1)), Path(folder), "empty")
    >>> [path.name for path in paths]
    ['empty.png', 'empty.svg']
    """
    from matplotlib import rc_context

    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    for path in paths:
        metadata = {"Software": None} if path.suffix == ".png" else {"Date": None}
        with rc_context(STYLE), atomic_file(path) as file:
            figure.savefig(file, format=path.suffix[1:], dpi=130, metadata=metadata)
        figure.set_layout_engine("none")  # keep the layout
    return paths


def _figure(n_panels: int) -> tuple["Figure", list["Axes"]]:
    require("matplotlib", extra="simulation")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH * n_panels, HEIGHT), layout="constrained")
        return figure, list(figure.subplots(1, n_panels, sharey=True, squeeze=False)[0])


def _styles(methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return colour, marker and dashes of each method; variants of GR and ES are dotted."""
    styles: dict[str, dict[str, Any]] = {}
    for method, (colour, marker) in looks(methods).items():
        dotted = method.startswith(("gr:", "es:"))
        line = (0, (1, 1)) if dotted else "-"
        styles[method] = {"color": colour, "marker": marker, "linestyle": line, "markersize": 3.5}
    return styles | {method: RINGS for method in methods if method == "oracle"}


def _verdict(panel: Panel, methods: Sequence[str]) -> str:
    """Return the title of a figure of errors: who ends best in its last panel."""
    last = {name: float(panel.results.of(name, panel.noise_variance)[:, -1].mean()) for name in methods}
    oracle = last.pop("oracle", None)
    if not last:
        return "The error of the oracle falls with every task"
    best = min(last, key=lambda method: last[method])
    equal = oracle is not None and abs(last[best] - oracle) <= 1e-6 * oracle
    return f"{_label(best)} ends with the smallest error" + (", that of the oracle" if equal else "")


def _draw_band(axis: "Axes", tasks: NDArray[np.int64], values: Array, method: str, style: dict[str, Any]) -> None:
    """Draw the mean over repetitions, and the band of its standard errors."""
    mean = values.mean(axis=0)
    axis.plot(tasks, mean, label=_label(method), linewidth=1.8, **style)
    if len(values) > 1 and method != "oracle":
        spread = BAND * values.std(axis=0, ddof=1) / np.sqrt(len(values))
        axis.fill_between(tasks, mean - spread, mean + spread, color=style["color"], alpha=0.25, linewidth=0)


def _groups(information: Array) -> list[tuple[float, NDArray[np.bool_]]]:
    """Return groups of directions with similar information over all repetitions: the mean, and the members."""
    seen = information[information > 0.0]
    values = np.unique(seen.round(9))
    if len(values) > MOST_GROUPS:
        values = np.quantile(seen, np.linspace(0.0, 1.0, MOST_GROUPS + 1)[:-1])
    # The tolerance keeps values together that differ only by rounding.
    places = np.searchsorted(values * (1.0 - 1e-9), information, side="right") - 1
    places[information <= 0.0] = -1
    return [(float(information[places == k].mean()), places == k) for k in np.unique(places[places >= 0])]


def _mark_tasks(axis: "Axes", n_tasks: int) -> None:
    axis.set_xlabel("task t")
    axis.set_xlim(0.5, n_tasks + 0.5)
    axis.locator_params(axis="x", integer=True)


def _label(method: str) -> str:
    kind, _, argument = method.partition(":")
    if method in LABELS:
        return LABELS[method]
    if kind == "es":
        return f"ES, {argument} steps"
    if kind == "gr" and argument:
        return f"GR, prior {argument}"
    if kind == "crr":
        return "CRR, λ by schedule" if "/" in argument else f"CRR, λ = {argument or 1}"
    return method.removesuffix("()")


def _finished(figure: "Figure", title: str, measure: str, dashed: str | None = None) -> "Figure":
    """Add the title, the label of the vertical axis, the names of the lines, and a word on what is dashed."""
    figure.suptitle(title, fontsize=11)
    figure.axes[0].set_ylabel(measure)
    last = figure.axes[-1]
    lines = [line for line in last.get_lines() if not str(line.get_label()).startswith("_")]
    ends = [(float(np.asarray(line.get_ydata())[-1]), str(line.get_label()), str(line.get_color())) for line in lines]
    label_ends(last, ends, 0.75 * HEIGHT)
    if dashed is not None:
        figure.supxlabel(f"dashed: {dashed}", fontsize=8, color=GREY)
    return figure
