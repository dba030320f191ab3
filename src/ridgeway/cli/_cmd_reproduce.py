"""`ridgeway reproduce`: the paper's experiments, run again."""

from typing import TYPE_CHECKING

from ridgeway.cli._options import command, option, out_option, worker_options
from ridgeway.cli._output import emit, progress_bar, say

if TYPE_CHECKING:
    from ridgeway.distributed import Executor

COLOURS = {"reproduced": "green", "not reproduced": "red"}


@command(
    "ridgeway reproduce --out reproduction            # both figures",
    "ridgeway reproduce --out short --repetitions 10  # faster, with wider bands",
)
@out_option(help="A new or empty folder for figures, results and verdicts.")
@option("--repetitions", default=100, help="Number of repetitions.")
@option("--seed", default=0, help="Random seed.")
@worker_options(default=-1)
def reproduce(out: str, repetitions: int, seed: int, workers: "int | Executor", as_json: bool) -> None:
    """Run the paper's simulations again and judge its claims.

    Writes figure-1 and figure-2 (PNG and SVG), the results as Parquet, and reproduction.md with the measured numbers,
    their standard errors and the verdicts.
    """
    from ridgeway.research import simulation

    with progress_bar("simulating") as report:
        judged = simulation.reproduce(out, repetitions, seed, workers, progress=report)
    if as_json:
        emit([{"figure": c.figure, "claim": c.text, "verdict": finding.outcome} for c, finding in judged])
        return
    for claim, finding in judged:
        say(f"Figure {claim.figure}: {claim.text}")
        say(f"  {finding.outcome}", colour=COLOURS.get(finding.outcome, "yellow"))
    say(f"Written to {out}: figure-1, figure-2, reproduction.md, and the results as Parquet.")
