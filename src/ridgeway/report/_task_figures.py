"""Figures of the answers of `retrospect` about tasks, and how to save them."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ridgeway._checks import whole
from ridgeway._files import atomic_file
from ridgeway._optional import require
from ridgeway._style import STYLE
from ridgeway.errors import InvalidParameterError
from ridgeway.retrospect import CoefficientPath, Influence, Segments

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Result = TypeVar("Result", CoefficientPath, Influence)

PATH = ("coef", "standard_errors", "intervals")
CHANGES = ("standardized_change", "change", "coef", "coef_without", "standard_errors_without", "distance")
"""What has an entry for each target, if there are several; the first has two axes otherwise."""

KINDS = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}
"""Suffixes of files, and what is left out so that the same figure gives the same bytes."""
DPI = 160


def draw_path(found: CoefficientPath, terms: Any = None, *, target: int = 0) -> "Figure":
    """Draw coefficients over the tasks with their intervals, one panel per term.

    Needs matplotlib (`pip install 'ridgeway[report]'`).

    Parameters
    ----------
    found : CoefficientPath
        From `retrospect.coefficient_path`.
    terms : list of str, optional
        At most 12; those with the largest |t| at the end, if not given.
    target : int, default 0
        Which target, if there are several.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, report, retrospect
    >>> X, y = [[0.0], [1.0], [2.0], [0.0], [1.0], [3.0]], [1.0, 3.0, 5.5, 2.0, 2.0, 3.0]
    >>> model = GeneralizedRidge(information="by_task").fit(
    ...     X, y, tasks=["a", "a", "a", "b", "b", "b"]
    ... )
    >>> figure = report.draw_path(retrospect.coefficient_path(model))
    >>> print(figure.get_suptitle())
    x0 goes from 2.25 (a) to 0.84 [−0.57, 2.25] (b).
    """
    _check(found, CoefficientPath, "retrospect.coefficient_path(model)")
    require("matplotlib", extra="report")
    from matplotlib import rc_context

    from ridgeway.report._drawing import PLAIN
    from ridgeway.report._term_panels import path_panels

    with rc_context(PLAIN):
        return path_panels(_one(found, target, PATH, found.coef.ndim == 3), terms)


def draw_influence(found: Influence, terms: Any = None, *, target: int = 0) -> "Figure":
    """Draw what each task does to the answer: Cook's distance, and the standardized change of some terms.

    The three most influential tasks are named, and have their colours in all panels. Needs matplotlib
    (`pip install 'ridgeway[report]'`).

    Parameters
    ----------
    found : Influence
        From `retrospect.influence`.
    terms : list of str, optional
        At most 8; the four that a task moves most, if not given.
    target : int, default 0
        Which target, if there are several.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, report, retrospect
    >>> X, y = [[0.0], [1.0], [2.0], [0.0], [1.0], [3.0]], [1.0, 3.0, 5.5, 2.0, 2.0, 3.0]
    >>> model = GeneralizedRidge(information="by_task").fit(
    ...     X, y, tasks=["a", "a", "a", "b", "b", "b"]
    ... )
    >>> figure = report.draw_influence(retrospect.influence(model))
    >>> print(figure.get_suptitle())
    b matters most: ...
    """
    _check(found, Influence, "retrospect.influence(model)")
    require("matplotlib", extra="report")
    from matplotlib import rc_context

    from ridgeway.report._drawing import PLAIN
    from ridgeway.report._influence_panels import influence_panels

    with rc_context(PLAIN):
        return influence_panels(_one(found, target, CHANGES, found.change.ndim == 3), terms)


def draw_segments(found: Segments, path: CoefficientPath | None = None, *, terms: Any = None) -> "Figure":
    """Draw the coefficients of segments of tasks as steps, and where they change; one panel per term.

    Needs matplotlib (`pip install 'ridgeway[report]'`).

    Parameters
    ----------
    found : Segments
        From `retrospect.segments`.
    path : CoefficientPath, optional
        `retrospect.coefficient_path(model, window=1)`: each task's own estimates, drawn as dots.
    terms : list of str, optional
        At most 12; those that change most, in standard errors, if not given.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, report, retrospect
    >>> rng = np.random.default_rng(0)
    >>> X, years = rng.normal(size=(240, 1)), np.repeat(np.arange(2013, 2021), 30)
    >>> y = np.where(years < 2017, 1.0, 3.0) * X[:, 0] + rng.normal(size=240)
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=years)
    >>> each = retrospect.coefficient_path(model, window=1)
    >>> figure = report.draw_segments(retrospect.segments(model), path=each)
    >>> print(figure.get_suptitle())
    The relation changes before 2017 (p = 0.0005 for the best single change, before 2017).
    """
    _check(found, Segments, "retrospect.segments(model)")
    if path is not None:
        _check(path, CoefficientPath, "retrospect.coefficient_path(model, window=1)", "path")
        path = _one(path, 0, PATH, path.coef.ndim == 3)
    require("matplotlib", extra="report")
    from matplotlib import rc_context

    from ridgeway.report._drawing import PLAIN
    from ridgeway.report._term_panels import segment_panels

    with rc_context(PLAIN):
        return segment_panels(found, terms, path)


def save_figure(figure: "Figure", path: Path | str) -> Path:
    """Write a figure to a file, whole or not at all, and return its path.

    An existing file is replaced. The same figure gives the same bytes. If matplotlib warns that a glyph is missing,
    set its `font.family` to a font that has the characters of your names, and draw again.

    Parameters
    ----------
    figure : matplotlib Figure
    path : path
        Ends in .svg, .png or .pdf.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from ridgeway import report
    >>> report.save_figure(Figure(), "path.jpeg")
    Traceback (most recent call last):
    ridgeway.errors.InvalidParameterError: the name of a figure must end in .svg, .pdf or .png; got 'path.jpeg'.
    """
    require("matplotlib", extra="report")
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
    return file


def _check(found: Any, kind: type, call: str, name: str = "found") -> None:
    if not isinstance(found, kind):
        raise InvalidParameterError(f"{name} must be a {kind.__name__}; got {type(found).__name__}. Pass {call}.")


def _one(found: Result, target: int, names: tuple[str, ...], several: bool) -> Result:
    """Return the result for one target, as if there were no others."""
    target = whole(target, "target", 0, len(getattr(found, names[0])) - 1 if several else 0)
    return replace(found, **{name: getattr(found, name)[target] for name in names}) if several else found
