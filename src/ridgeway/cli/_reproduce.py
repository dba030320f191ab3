"""`ridgeway reproduce`: the paper's experiments, run again."""

from typing import TYPE_CHECKING

import click

from ridgeway.cli._failures import guarded
from ridgeway.cli._shared import checked_jobs, jobs_option

if TYPE_CHECKING:
    from ridgeway.research.simulation._claims import Claim, Finding

__all__ = ["reproduce"]

EXAMPLES = """\b
Examples:
  ridgeway reproduce --out reproduction              both figures, 100 repetitions, a verdict per claim
  ridgeway reproduce --out short --repetitions 10    in a moment, with wider bands
  ridgeway reproduce --out reproduction --resume     continue after an interruption
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--out", type=click.Path(), required=True, help="A new or empty folder for figures, results and verdicts."
)
@click.option("--repetitions", type=int, default=100, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@jobs_option
@click.option("--resume", is_flag=True, help="Continue what the folder holds.")
@guarded(resumes=True)
def reproduce(out: str, repetitions: int, seed: int, jobs: int, resume: bool) -> None:
    """Run the paper's two simulations again, draw its two figures, and judge each of its claims.

    The folder gets figure-1 and figure-2 (PNG and SVG), the results as Parquet, and reproduction.md with the measured
    numbers, their standard errors and the verdicts.
    """
    from ridgeway.cli._progress import progress_bar
    from ridgeway.research import simulation

    with progress_bar("simulating") as report:
        judged = simulation.reproduce(out, repetitions, seed, checked_jobs(jobs), resume=resume, progress=report)
    _print_verdicts(judged)
    click.echo(f"Written to {out}: figure-1, figure-2, reproduction.md, and the results as Parquet.")


def _print_verdicts(judged: list[tuple["Claim", "Finding"]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="The claims of the experiments section")
    for heading in ("figure", "the paper says", "verdict"):
        table.add_column(heading)
    colours = {"reproduced": "green", "not reproduced": "red"}
    for claim, finding in judged:
        colour = colours.get(finding.outcome, "yellow")
        table.add_row(claim.figure, claim.text, f"[{colour}]{finding.outcome}[/]")
    Console(highlight=False).print(table)
