"""`ridgeway verify`: test the statements of the paper."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ridgeway.cli._options import choice, command, option, worker_options
from ridgeway.cli._output import Cell, emit, print_table, progress_bar, say

if TYPE_CHECKING:
    from ridgeway.distributed import Executor
    from ridgeway.research.verify import Budget, StatementResult, Trial

COLOURS = {
    "holds": "green",
    "holds; more is true": "green",
    "holds; extended": "green",
    "holds as corrected": "cyan",
    "fails in this reading": "yellow",
    "fails as stated": "yellow",
    "open": "magenta",
}
HEADINGS = ["statement", "verdict", "row", "as printed", "as corrected", "library", "where", "instances", "seconds"]


@command(
    "ridgeway verify                             # all statements",
    "ridgeway verify ridge oracle                # two statements, in detail",
    "ridgeway verify --budget full --seed 7      # different and more instances",
    "ridgeway verify --budget full --workers -1  # on every core",
    "ridgeway verify --json > verdicts.json      # for a program to read",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@option("--seed", type=click.IntRange(min=0), default=0, help="Seed of the random instances.")
@choice(
    "--budget", "quick", "full", words="quick takes seconds; full takes minutes, with 10 to 50 times as many instances."
)
@worker_options(default=1)
def verify(names: tuple[str, ...], as_json: bool, seed: int, budget: "Budget", workers: "int | Executor") -> None:
    """Test each statement of the paper, or only those named.

    Every statement is tested as printed and, if necessary, as corrected or extended. The functions of Ridgeway that
    compute the same quantities are tested too. Exits with 1 if a verdict differs from the recorded one, with 2 for an
    unknown name.
    """
    from ridgeway.research import verify as checks

    chosen = [statement.name for statement in checks.select(names)]
    results = []
    with progress_bar("verifying") as progress:
        for result in checks.verify(chosen, seed=seed, budget=budget, workers=workers):
            results.append(result)
            progress(len(results), len(chosen))
    if as_json:
        emit([result.as_dict() for result in results])
    else:
        _print_results(results, in_detail=bool(names))
    if not all(result.agrees for result in results):
        sys.exit(1)


def _print_results(results: list["StatementResult"], *, in_detail: bool) -> None:
    rows = [_cells(result) for result in results]
    print_table("The statements of the paper", HEADINGS, rows, left=HEADINGS[:-2])
    for result in results if in_detail else ():
        say(*_details(result))
    differing = [result.name for result in results if not result.agrees]
    if differing:
        say(f"The verdict differs from the recorded one for: {', '.join(differing)}.", colour="red")
    else:
        say("All verdicts agree with the recorded ones.")


def _cells(result: "StatementResult") -> list[Cell]:
    colour = COLOURS.get(result.verdict, "red") if result.agrees else "red"
    verdict = result.verdict if result.agrees else f"{result.verdict} (recorded: {result.recorded})"
    return [
        result.name,
        (verdict, colour),
        result.row,
        _in_short(result.printed),
        _in_short(result.corrected),
        _in_short(result.library),
        result.where,
        f"{result.instances:,}",
        f"{result.seconds:.1f}",
    ]


def _in_short(trial: "Trial | None") -> str:
    """Return the worst value and its limit."""
    if trial is None:
        return ""
    relation = ("≥" if trial.holds else "<") if trial.at_least else ("≤" if trial.holds else ">")
    return f"{trial.value:.6g} {relation} {trial.limit:g}"


def _details(result: "StatementResult") -> Iterator[str]:
    yield from ("", result.name)
    lines = [
        ("claim", result.claim),
        ("measured", result.printed.measure),
        ("counterexample", result.counterexample),
        ("correction", result.correction),
        ("measured", result.corrected.measure if result.corrected else None),
        ("library differs for", result.library.counterexample if result.library else None),
    ]
    yield from (f"  {label}: {text}" for label, text in lines if text)
