"""How figures look: one colour per method everywhere, text that can be read, labels at the ends of lines.

matplotlib is needed only by those who draw.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which colour-blind readers can tell apart.
RED, PURPLE, ORANGE, SKY, GREEN, BLUE = "#D55E00", "#CC79A7", "#E69F00", "#56B4E9", "#009E73", "#0072B2"
BLACK, GREY, PALE = "#222222", "#666666", "#B5B5B5"
OTHERS = (("#8C564B", "*"), ("#6A5ACD", "X"), ("#808000", "h"), ("#708090", "<"))
"""For methods that others have registered."""
COLOURS = {
    "MinimumNorm": RED,
    "EarlyStopping": PURPLE,
    "ContinualRidge": ORANGE,
    "SGDRegressor": SKY,
    "GeneralizedRidge": BLUE,
    "Oracle": BLACK,
}
"""The colour of each estimator in every figure."""
STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",  # dark pages get a light figure, in which all colours can be told apart
    "figure.titlesize": 11.0,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "savefig.facecolor": "white",
    "svg.hashsalt": "ridgeway",  # the same figure gives the same bytes
}
"""Settings of matplotlib, for `matplotlib.style.use`."""
CONTRAST = 4.5
"""The least contrast of text on white (WCAG, level AA)."""


def shade(colour: str, share: float) -> str:
    """Return a colour mixed with white, or with black if the share is negative."""
    target = 255 if share > 0.0 else 0
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part + abs(share) * (target - part)):02X}" for part in parts)


def ink(colour: str) -> str:
    """Return the colour, or a darker shade of it that can be read as text on white."""
    while 1.05 / (_luminance(colour) + 0.05) < CONTRAST:
        colour = shade(colour, -0.05)
    return colour


def _luminance(colour: str) -> float:
    """Return the relative luminance (WCAG 2)."""
    parts = [int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def label_ends(axes: "Axes", ends: Sequence[tuple[float, str, str]], height: float, size: float = 8.5) -> None:
    """Write labels to the right of a panel, each at the height at which its line ends, moved apart if they overlap.

    Parameters
    ----------
    axes : Axes
        With all that is drawn in it.
    ends : sequence of (float, str, str)
        The last value of each line, its label and its colour.
    height : float
        Of the panel, in inches, roughly.
    size : float, default 8.5
        Of the font, in points.
    """
    axes.get_ylim()  # limits that depend on the data are set now
    to_axes = axes.transScale + axes.transLimits
    pitch = 1.3 * size / 72.0 / height
    places = [min(max(float(to_axes.transform((1.0, value))[1]), 0.0), 1.0) for value, _, _ in ends]
    places = [round(place, 6) for place in places]  # lines that end together keep their order on every machine
    wanted = sorted((place, text, colour) for place, (_, text, colour) in zip(places, ends, strict=True))
    places = spread([place for place, _, _ in wanted], pitch)
    for place, (_, text, colour) in zip(places, wanted, strict=True):
        axes.text(1.03, place, text, transform=axes.transAxes, fontsize=size, va="center", color=ink(colour))


def spread(places: Sequence[float], pitch: float) -> list[float]:
    """Return ascending places, moved as little as needed so that neighbours are at least a pitch apart.

    Groups of places that touch are centred on the mean of what their members want.
    """
    groups: list[list[float]] = []
    for place in places:
        groups.append([place])
        while len(groups) > 1 and _low(groups[-1], pitch) < _low(groups[-2], pitch) + pitch * len(groups[-2]):
            last = groups.pop()
            groups[-1] += last
    return [_low(group, pitch) + pitch * i for group in groups for i in range(len(group))]


def _low(group: Sequence[float], pitch: float) -> float:
    """Return the lowest place of a group that is centred on the mean of its members."""
    return sum(group) / len(group) - pitch * (len(group) - 1) / 2.0
