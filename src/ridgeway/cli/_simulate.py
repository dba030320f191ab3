"""`ridgeway simulate`: run the methods on simulated tasks."""

from typing import TYPE_CHECKING, Any

import click

from ridgeway.cli._failures import guarded
from ridgeway.cli._shared import checked_jobs, jobs_option
from ridgeway.errors import InvalidParameterError

if TYPE_CHECKING:
    from ridgeway.research.simulation import Results

__all__ = ["simulate"]

EXAMPLES = """\b
Examples:
  ridgeway simulate --out runs/a                         the paper's setting, expected errors
  ridgeway simulate --shift paper --noise 1,5 --methods mn,crr:best,gr,oracle --out runs/b
  ridgeway simulate --tasks 10 --samples 2000 --statistics --average drawn --out runs/c
  ridgeway simulate --covariance sigma.npy --rotate --order repeated:3 --out runs/d
  ridgeway simulate --shift paper --out runs/e --resume  continue after an interruption
  ridgeway plot runs/a                                   draw what was found

\b
Methods:
  mn                 minimum norm: the least change that fits the task
  crr:0.5            continual ridge with a constant penalty; crr:1/2/4 with one per task
  crr:best           with the penalties of least expected error at each step
  crr:trace crr:max  with tr(H)/p, or the largest eigenvalue of H, what the past knows
  crr:task-max       with the largest eigenvalue of the task; crr:t-1 with t - 1
  gr                 generalized ridge with H; gr:diagonal with its diagonal (EWC)
  gr:optimal         with the optimal weights, the prior included; gr:evidence with a learned one
  es  es:20          early stopping after 100, or 20 steps; es:gr matched to gr
  oracle             least squares on all rows so far
"""


@click.command(epilog=EXAMPLES)
@click.option("--tasks", type=int, default=20, show_default=True, help="Number of tasks T.")
@click.option("--samples", default="150", show_default=True, help="Rows of each task; or one number per task, 50,100,…")
@click.option("--features", type=int, default=200, show_default=True, help="Number of features p.")
@click.option("--noise", default="1", show_default=True, help="Noise variance; several, as 1,5, share their designs.")
@click.option("--noise-law", default="gaussian", show_default=True, help="gaussian, laplace, t:5 or heteroscedastic.")
@click.option("--shift", default="none", show_default=True, help="none, or paper: variances of 1 and, rarely, 100.")
@click.option("--covariance", type=click.Path(), help="A .npy file: shape (p), (p, p), (T, p) or (T, p, p).")
@click.option("--rotate", is_flag=True, help="A random rotation of its own for each task's covariance.")
@click.option(
    "--signal", default="dense", show_default=True, help="dense, or sparse:k for k entries that are not zero."
)
@click.option("--distance", type=float, default=0.0, show_default=True, help="How far each task's parameter is off.")
@click.option("--order", default="given", show_default=True, help="given, repeated:K, adversarial, or 1,2,1,2,…")
@click.option("--statistics", is_flag=True, help="Draw sufficient statistics instead of rows where n > p.")
@click.option("--methods", default="mn,crr:1,crr:best,gr,gr:optimal,es,oracle", show_default=True, help="See below.")
@click.option("--repetitions", type=int, default=100, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@jobs_option
@click.option(
    "--average",
    type=click.Choice(["exact", "drawn"]),
    default="exact",
    show_default=True,
    help="exact: the expected error given the designs. drawn: noise and parameters are drawn.",
)
@click.option("--out", type=click.Path(), required=True, help="A new or empty folder for the results.")
@click.option("--resume", is_flag=True, help="Continue the run that the folder holds.")
@guarded(resumes=True)
def simulate(**options: Any) -> None:
    """Simulate tasks, learn them with several methods, and write one error per repetition, task and method.

    The numbers depend on the options and the seed alone: not on the number of jobs, nor on interruptions. The folder
    gets results.parquet and directions.parquet. Exits with 2 for a setting that cannot be or a folder that cannot be
    used, and then writes nothing.
    """
    from ridgeway.cli._progress import progress_bar
    from ridgeway.research import simulation

    setting = _setting(options)
    with progress_bar("simulating") as report:
        results = simulation.run(
            setting,
            options["methods"],
            options["repetitions"],
            options["seed"],
            checked_jobs(options["jobs"]),
            averaging=options["average"],
            out=options["out"],
            resume=options["resume"],
            progress=report,
        )
    _print_summary(results)


def _setting(options: dict[str, Any]) -> Any:
    from ridgeway.research.simulation import Setting

    order = options["order"]
    return Setting(
        n_tasks=options["tasks"],
        n_samples=_numbers(options["samples"], int, "--samples"),
        n_features=options["features"],
        noise_variance=_numbers(options["noise"], float, "--noise"),
        shift=options["shift"],
        covariance=_loaded(options["covariance"]),
        rotate=options["rotate"],
        signal=options["signal"],
        noise=options["noise_law"],
        distance=options["distance"],
        order=_numbers(order, int, "--order") if order[:1].isdigit() else order,
        statistics=options["statistics"],
    )


def _numbers(text: str, kind: type[int] | type[float], option: str) -> Any:
    """Return one number, or a list of those between commas."""
    try:
        numbers = [kind(part) for part in text.split(",")]
    except ValueError:
        raise InvalidParameterError(f"{option} must be a number, or numbers with commas; got {text!r}.") from None
    return numbers if "," in text or option == "--order" else numbers[0]


def _loaded(path: str | None) -> Any:
    if path is None:
        return None
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        raise InvalidParameterError(f"{path} is not an array in NumPy's .npy format.") from None


def _print_summary(results: "Results") -> None:
    """Print mean errors and their standard errors after the first, a middle and the last task."""
    from rich.console import Console
    from rich.table import Table

    description = results.description
    n_tasks, count = description.setting.n_tasks, description.repetitions
    chosen = sorted({1, (n_tasks + 1) // 2, n_tasks})
    table = Table(
        title=f"Mean error over {count} repetitions (standard error)" if count > 1 else "Error, one repetition"
    )
    for heading in ("σ²", "method", *(f"t = {t}" for t in chosen)):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for level in description.setting.noise_variance:
        for method in description.methods:
            errors = results.of(method, level)
            cells = [f"{mean:.4g}" for mean in errors.mean(axis=0)]
            if count > 1:
                spread = errors.std(axis=0, ddof=1) / count**0.5
                cells = [f"{cell} ({error:.2g})" for cell, error in zip(cells, spread, strict=True)]
            table.add_row(f"{level:g}", method, *(cells[t - 1] for t in chosen))
    Console(highlight=False).print(table)
