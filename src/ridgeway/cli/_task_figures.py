"""The figures of the commands about tasks, and their files. Of several targets, the first is drawn."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ridgeway._files import atomic_file
from ridgeway._optional import require
from ridgeway._style import STYLE
from ridgeway.errors import InvalidParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ridgeway.retrospect import CoefficientPath, Segments

PATH = ("coef", "standard_errors", "intervals")
"""What a path has for each target, if there are several."""

KINDS = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}
"""Suffixes of files, and what is left out so that the same figure gives the same bytes."""
DPI = 160


def plot_path(found: "CoefficientPath") -> "Figure":
    """Return a figure of coefficients over the tasks with their intervals, one panel per term."""
    require("matplotlib", extra="plot")
    from matplotlib import rc_context

    from ridgeway.cli._drawing import PLAIN
    from ridgeway.cli._term_panels import path_panels

    with rc_context(PLAIN):
        return path_panels(_first(found))


def plot_segments(found: "Segments", alone: "CoefficientPath") -> "Figure":
    """Return a figure of the coefficients of segments as steps, and each task's own as dots; one panel per term.

    `alone` is the path of the same terms with window=1.
    """
    require("matplotlib", extra="plot")
    from matplotlib import rc_context

    from ridgeway.cli._drawing import PLAIN
    from ridgeway.cli._term_panels import segment_panels

    with rc_context(PLAIN):
        return segment_panels(found, _first(alone))


def write_figure(figure: "Figure", path: str) -> str:
    """Write a figure to a file, whole or not at all, and say so.

    The name ends in .svg, .png or .pdf. An existing file is replaced. The same figure gives the same bytes.
    """
    from matplotlib import rc_context

    file = Path(path)
    kind = file.suffix.lower()
    if kind not in KINDS:
        raise InvalidParameterError(f"the name of a figure must end in .svg, .pdf or .png; got '{path}'.")
    if file.is_dir():
        raise InvalidParameterError(f"'{path}' is a folder. Choose another name.")
    if not file.parent.is_dir():
        raise InvalidParameterError(f"the folder '{file.parent}' does not exist. Create it first.")
    with rc_context(STYLE), atomic_file(file) as opened:
        figure.savefig(opened, format=kind[1:], dpi=DPI, metadata=KINDS[kind])
    return f"{path}: written"


def _first(path: "CoefficientPath") -> "CoefficientPath":
    """Return the path of the first target, as if there were no others."""
    if path.coef.ndim == 2:
        return path
    return replace(path, **{name: getattr(path, name)[0] for name in PATH})
