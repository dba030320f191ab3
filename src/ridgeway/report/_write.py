"""Write a comparison to a folder: the page, the figures and the numbers, all or nothing."""

import io
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ridgeway._files import atomic_folder
from ridgeway._optional import require
from ridgeway._style import STYLE
from ridgeway._text import quoted
from ridgeway.errors import InvalidParameterError
from ridgeway.report._page import make_page
from ridgeway.report._result import MethodComparison

MANIFEST = "comparison.json"
MAKER = "ridgeway compare"


def write_report(comparison: MethodComparison, out: Path | str) -> Path:
    """Write a folder and return the path of its page, `index.html`.

    The folder appears once it is complete. An earlier report is replaced; any other folder that is not empty is left
    alone and raises an error. Needs matplotlib and pyarrow (`pip install 'ridgeway[report]'`).

    Parameters
    ----------
    comparison : MethodComparison
    out : path
        Will contain `index.html` (a single file that needs no network), `figures/` (SVG), `summary.csv`,
        `losses.csv`, `orders.csv` and `comparison.json`.

    Examples
    --------
    >>> import os, tempfile
    >>> from ridgeway import report
    >>> table = {"site": list("aaaabbbb"), "x": range(8), "y": [1, 2, 3, 4, 4, 3, 2, 1]}
    >>> found = report.compare(table, target="y", task_column="site", methods=["gr"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     os.mkdir(f"{folder}/letters")
    ...     report.write_report(found, folder)  # a new folder takes a few seconds
    Traceback (most recent call last):
    ridgeway.errors.InvalidParameterError: the folder ... exists and is not a report. ...
    """
    require("matplotlib", "pyarrow", extra="report")
    folder = check_folder(out)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(folder) as made:
        _fill(made, comparison)
        check_folder(folder)
    return folder / "index.html"


def check_folder(out: Path | str) -> Path:
    """Return the folder if a report can be written there: it is new, empty, or contains only an earlier report.

    Examples
    --------
    >>> import os, tempfile
    >>> from ridgeway import report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     os.mkdir(f"{folder}/letters")
    ...     report.check_folder(folder)
    Traceback (most recent call last):
    ridgeway.errors.InvalidParameterError: the folder ... exists and is not a report. ...
    """
    folder = Path(out)
    if not folder.is_symlink() and not folder.exists():
        return folder
    if folder.is_symlink() or not folder.is_dir():
        raise InvalidParameterError(f"'{out}' exists and is not a folder. Choose another name.")
    found = (path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
    present = {path.relative_to(folder).as_posix() for path in found}
    if not present and not any(folder.iterdir()):
        return folder
    strange = sorted(present - _listed(folder))
    if strange or not present:
        what = f" (it contains {strange[0]!r})" if strange else ""
        raise InvalidParameterError(f"the folder '{out}' exists and is not a report{what}. Choose another folder.")
    return folder


def _listed(folder: Path) -> set[str]:
    """Return the files that an earlier report wrote to the folder."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return set(manifest["files"]) if manifest["made_by"] == MAKER else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _fill(folder: Path, comparison: MethodComparison) -> None:
    from matplotlib import rc_context

    from ridgeway.report._figures import draw_all

    (folder / "figures").mkdir()
    images = []
    for name, words, figure in draw_all(comparison):
        buffer = io.BytesIO()
        with rc_context(STYLE):
            figure.savefig(buffer, format="svg", metadata={"Date": None})
        (folder / "figures" / f"{name}.svg").write_bytes(buffer.getvalue())
        images.append((name, words, buffer.getvalue()))
    (folder / "index.html").write_text(make_page(comparison, images), encoding="utf-8")
    _write_table(folder / "summary.csv", [result.as_dict() for result in comparison.results])
    _write_table(folder / "losses.csv", _losses(comparison))
    _write_table(folder / "orders.csv", _orders(comparison))
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    manifest: dict[str, Any] = {"made_by": MAKER, "version": version("ridgeway"), "said": comparison.sentence}
    manifest |= {**comparison.settings(), "files": [*files, MANIFEST]}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_table(path: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    from pyarrow import csv

    shown = [{name: quoted(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows]
    with path.open("wb") as file:
        csv.write_csv(pa.Table.from_pylist(shown), file)


def _losses(comparison: MethodComparison) -> list[dict[str, Any]]:
    """Return R with one row per method, task learned and task predicted; accuracies if the target has classes."""
    names, what = [task.name for task in comparison.tasks], _shown_name(comparison)
    return [
        {"method": result.method.key, "after": t, "after_task": after, "on": k, "on_task": on, what: float(loss)}
        for result in comparison.results
        for t, (after, row) in enumerate(zip(names, comparison.measure.value(result.losses), strict=True), start=1)
        for k, (on, loss) in enumerate(zip(names, row, strict=True), start=1)
    ]


def _orders(comparison: MethodComparison) -> list[dict[str, Any]]:
    """Return the average loss or accuracy after the last task in each order; order 0 is the requested one."""
    what = f"average_{_shown_name(comparison)}"
    return [
        {"method": result.method.key, "order": number, what: float(loss)}
        for result in comparison.results
        for number, loss in enumerate(comparison.measure.value(result.order_losses))
    ]


def _shown_name(comparison: MethodComparison) -> str:
    return "accuracy" if comparison.measure.rises else "loss"
