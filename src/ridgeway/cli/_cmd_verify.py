"""`ridgeway verify`: test the statements of the paper."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import click

from ridgeway._text import counted
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
EXIT_STATUS = {
    "recorded": "Exit status: 0 if all verdicts are as recorded, else 1.",
    "paper": "Exit status: 0 if all hold as printed, else 1.",
}
"""The first line, for each value of --against."""
HEADINGS = ["statement", "verdict", "row", "as printed", "as corrected", "where", "instances", "seconds"]


@command(
    "ridgeway verify                             # all statements",
    "ridgeway verify ridge oracle                # two statements, in detail",
    "ridgeway verify --budget full --seed 7      # different and more instances",
    "ridgeway verify --budget full --workers -1  # on every core",
    "ridgeway verify --against paper             # exit with 1 if one fails",
    "ridgeway verify --json > verdicts.json      # for a program to read",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@option("--seed", type=click.IntRange(min=0), default=0, help="Seed of the random instances.")
@choice(
    "--budget", "quick", "full", words="quick takes seconds; full takes minutes, with 10 to 50 times as many instances."
)
@choice(
    "--against",
    "recorded",
    "paper",
    words="What the exit status is about: recorded, that every verdict is the recorded one; paper, that every "
    "statement holds as printed.",
)
@worker_options(default=1)
def verify(
    names: tuple[str, ...],
    as_json: bool,
    seed: int,
    budget: "Budget",
    against: Literal["recorded", "paper"],
    workers: "int | Executor",
) -> None:
    """Test the paper against the recorded verdicts.

    Exits with 0 if every verdict is the recorded one, with 1 if one differs, with 2 for an unknown name. Without names
    it tests all statements. Every statement is tested as printed and, if necessary, as corrected or extended.

    A statement that fails as printed is a finding, not an error, if that is the recorded verdict. With --against paper
    the command exits with 1 if a statement fails as printed, and lists which. Open ones do not count.
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
        say(EXIT_STATUS[against])
        _print_results(results, in_detail=bool(names))
        if against == "paper":
            say(*_failures_as_printed(results))
    failed = any(map(_fails_as_printed, results)) if against == "paper" else not all(one.agrees for one in results)
    if failed:
        sys.exit(1)


def _fails_as_printed(result: "StatementResult") -> bool:
    """Return whether the printed form fails. A statement is open if the paper does not say enough to decide."""
    return not result.printed.holds and result.verdict != "open"


def _failures_as_printed(results: list["StatementResult"]) -> Iterator[str]:
    """Yield how many statements fail as printed, and then which, by verdict."""
    failures = [result for result in results if _fails_as_printed(result)]
    if not failures:
        yield f"None of {counted(len(results), 'statement')} fails as printed."
        return
    yield f"Failing as printed: {len(failures)} of {counted(len(results), 'statement')}."
    for verdict in dict.fromkeys(result.verdict for result in failures):
        names = ", ".join(result.name for result in failures if result.verdict == verdict)
        yield f"  {verdict}: {names}"


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
    ]
    yield from (f"  {label}: {text}" for label, text in lines if text)
