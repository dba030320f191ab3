"""`ridgeway verify`: put the statements of the paper to the test."""

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ridgeway.cli._failures import guarded

if TYPE_CHECKING:
    from rich.console import Console

    from ridgeway.research.verify import Result, Trial

__all__ = ["verify"]

COLOURS = {"holds": "green", "holds as corrected": "cyan", "fails as stated": "yellow", "open": "magenta"}
HEADINGS = ["statement", "where", "row", "verdict", "as printed", "as corrected", "instances", "seconds"]
NARROW = ("statement", "row", "verdict")
WIDE = 120
"""Columns of a terminal from which on all of the table has room."""
PLAIN_WIDTH = 160
"""Columns of a table that goes to a file or a pipe."""


EXAMPLES = """\b
Examples:
  ridgeway verify                              all statements
  ridgeway verify ridge oracle                 two of them, in detail
  ridgeway verify --budget full --seed 7       other instances, and more of them
  ridgeway verify --json > verdicts.json       for a program to read
"""


@click.command(epilog=EXAMPLES)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random instances.")
@click.option(
    "--budget",
    type=click.Choice(["quick", "full"]),
    default="quick",
    show_default=True,
    help="quick takes seconds; full takes minutes, with 10 to 50 times as many instances.",
)
@guarded()
def verify(names: tuple[str, ...], as_json: bool, seed: int, budget: str) -> None:
    """Put each statement of the paper to the test, or only those named.

    Every statement is tried as printed and, where it has a slip, as corrected. Exits with 1 if a verdict differs from
    the recorded one, with 2 for a name that there is none of.
    """
    from ridgeway.research import verify as checks

    statements = checks.select(names)
    chosen = [statement.name for statement in statements]
    results = list(_with_progress(checks.verify(chosen, seed=seed, budget=budget), len(chosen)))
    if as_json:
        click.echo(json.dumps([result.as_dict() for result in results], indent=2, ensure_ascii=False, allow_nan=False))
    else:
        _print_table(results, in_detail=bool(names))
    if not all(result.agrees for result in results):
        sys.exit(1)


def _with_progress(results: Iterator["Result"], total: int) -> Iterator["Result"]:
    """Yield the results under a progress bar on stderr, which is silent where that is no terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True, force_interactive=True)  # rich < 14.3 ends a silent bar with a blank line if not
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("verifying", total=total)
        for result in results:
            progress.update(task, advance=1, description=result.name)
            yield result


def _print_table(results: list["Result"], *, in_detail: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PLAIN_WIDTH)
    headings = HEADINGS if console.width >= WIDE else [name for name in HEADINGS if name in NARROW]
    table = Table(title="The statements of the paper")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in ("instances", "seconds") else "left")
    for result in results:
        cells = _cells(result)
        table.add_row(*(cells[heading] for heading in headings))
    console.print(table)
    if in_detail:
        for result in results:
            _print_detail(console, result)
    differing = [result.name for result in results if not result.agrees]
    if differing:
        console.print(f"[red]The verdict differs from the recorded one for: {', '.join(differing)}.[/]")
    else:
        console.print("Every verdict is the recorded one.")


def _cells(result: "Result") -> dict[str, str]:
    colour = COLOURS.get(result.verdict, "red") if result.agrees else "red"
    verdict = result.verdict if result.agrees else f"{result.verdict} (recorded: {result.recorded})"
    return {
        "statement": result.name,
        "where": result.where,
        "row": result.row,
        "verdict": f"[{colour}]{verdict}[/]",
        "as printed": _in_short(result.printed),
        "as corrected": "" if result.corrected is None else _in_short(result.corrected),
        "instances": f"{result.instances:,}",
        "seconds": f"{result.seconds:.1f}",
    }


def _in_short(trial: "Trial") -> str:
    """Return the worst value and what it may be."""
    relation = ("≥" if trial.holds else "<") if trial.at_least else ("≤" if trial.holds else ">")
    return f"{trial.value:.6g} {relation} {trial.limit:g}"


def _print_detail(console: "Console", result: "Result") -> None:
    lines = [
        ("claim", result.claim),
        ("measured", result.printed.measure),
        ("counterexample", result.counterexample),
        ("correction", result.correction),
        ("measured", result.corrected.measure if result.corrected else None),
    ]
    console.print(f"\n[bold]{result.name}[/]", soft_wrap=True)
    for label, text in lines:
        if text:
            console.print(f"  {label}: {text}", markup=False, soft_wrap=True)
