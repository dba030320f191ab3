"""`ridgeway simulate`: run methods on simulated tasks."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgeway._optional import require
from ridgeway.cli._options import choice, command, option, out_option, worker_options
from ridgeway.cli._output import emit, print_table, progress_bar, say
from ridgeway.errors import InvalidParameterError

if TYPE_CHECKING:
    from ridgeway.distributed import Executor
    from ridgeway.research.simulation import Results

METHODS_HELP = """
\b
Methods:
  mn                 minimum norm: the least change that fits the task
  crr:0.5            continual ridge with a constant penalty
  crr:1/2/4          with a penalty per task
  crr:best           with the penalties of least expected error at each step
  crr:trace crr:max  with tr(H)/p, or the largest eigenvalue of H
  crr:task-max       with the largest eigenvalue of the task
  crr:t-1            with t - 1
  crr:lambda-max     with the largest optimal weight, for true covariances
  gr                 generalized ridge with H, what the past knows
  gr:diagonal        with the diagonal of H (EWC)
  gr:optimal         with the optimal weights, which include the prior
  gr:evidence        with a prior learned from the rows
  es  es:20          early stopping after 100, or 20 steps
  es:gr              early stopping matched to gr
  oracle             least squares on all rows so far
"""


def _from_file(context: click.Context, parameter: click.Parameter, path: str | None) -> None:
    """Take the options that are not on the command line from a TOML file."""
    if path is None:
        return
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{path} cannot be read: {error}.", context, parameter) from None
    known = [option.name for option in context.command.params if option.param_type_name == "option"]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise click.BadParameter(
            f"{path} has an unknown key, {unknown[0]!r}. Keys are the names of options, with underscores: n_tasks.",
            context,
            parameter,
        )
    listed = {name: ",".join(map(str, value)) for name, value in given.items() if isinstance(value, list)}
    context.default_map = given | listed


@command(
    "ridgeway simulate --out runs/a --plot  # the paper's setting, expected errors",
    "ridgeway simulate --shift paper --noise-variance 1,5 --methods mn,crr:best,gr,oracle --out runs/b",
    "ridgeway simulate --n-tasks 10 --n-samples 2000 --statistics --averaging drawn --out runs/c",
    "ridgeway simulate --covariance sigma.npy --rotate --order repeated:3 --out runs/d",
    "ridgeway simulate setting.toml --out runs/f  # options from a file",
    "ridgeway simulate --scheduler tcp://10.0.0.1:8786 --out runs/g  # with Dask",
    more=METHODS_HELP,
)
@click.argument(
    "setting",
    type=click.Path(),
    required=False,
    is_eager=True,
    expose_value=False,
    callback=_from_file,
    metavar="[SETTING.toml]",
)
@option("--n-tasks", default=20, help="Number of tasks T.")
@option("--n-samples", default="150", help="Rows of each task, or one number per task: 50,100,…")
@option("--n-features", default=200, help="Number of features p.")
@option("--noise-variance", default="1", help="Noise variance; several (1,5) share the same designs.")
@option("--noise", default="gaussian", help="gaussian, laplace, t:5 or heteroscedastic.")
@option("--shift", default="none", help="none; paper: variances of 1 and, rarely, 100; scaled: these divided by 100.")
@click.option("--covariance", type=click.Path(), help="A .npy file: shape (p), (p, p), (T, p) or (T, p, p).")
@click.option("--rotate", is_flag=True, help="Rotate the covariance of each task at random.")
@option("--signal", default="dense", help="dense, or sparse:k for k nonzero entries.")
@option("--distance", default=0.0, help="Distance of each task's parameter from the common one.")
@option("--order", default="given", help="given, repeated:K, adversarial, or 1,2,1,2,…")
@click.option("--statistics", is_flag=True, help="Draw sufficient statistics instead of rows if n > p.")
@option("--methods", default="mn,crr:1,crr:best,gr,gr:optimal,es,oracle", help="See below.")
@option("--repetitions", default=100, help="Number of repetitions.")
@option("--seed", default=0, help="Random seed.")
@worker_options(default=-1)
@choice(
    "--averaging",
    "exact",
    "drawn",
    words="exact: expected errors given the designs. drawn: noise and parameters are drawn.",
)
@out_option(help="A new or empty folder for the results.")
@click.option("--plot", is_flag=True, help="Draw error, forgetting and error by direction into the folder.")
def simulate(*, workers: "int | Executor", plot: bool, as_json: bool, **options: Any) -> None:
    """Run methods on simulated tasks.

    Writes the error of each repetition, task and method: results.parquet and directions.parquet. The numbers depend
    only on the options and the seed, not on the number of workers. Exits with 2 and writes nothing if the setting is
    invalid or the folder cannot be used.

    In the figures of --plot, bands show two standard errors of the mean over repetitions on either side. Dashed lines
    show the theory: the expected error over all designs, if it has a closed form (minimum norm, H̃ and the oracle
    without a covariate shift), and otherwise, for a run with drawn noise, the expected error given a few designs.

    SETTING.toml sets options, such as n_samples = [50, 100]. Options on the command line override them.
    """
    from ridgeway.research import simulation

    if plot:
        require("matplotlib", extra="simulation")
    options["n_samples"] = _numbers(options["n_samples"], int, "--n-samples")
    options["noise_variance"] = _numbers(options["noise_variance"], float, "--noise-variance")
    options["covariance"] = _loaded(options["covariance"])
    if options["order"][:1].isdigit():
        options["order"] = _numbers(options["order"], int, "--order")
    how = {name: options.pop(name) for name in ("methods", "repetitions", "seed", "out")}
    how |= {"averaging": options.pop("averaging"), "workers": workers}
    with progress_bar("simulating") as report:
        results = simulation.run(simulation.Setting(**options), **how, progress=report)
    figures = _drawn(results, Path(how["out"])) if plot else []
    if as_json:
        _emit_summary(results)
    else:
        _print_summary(results)
        say(*figures)


def _drawn(results: "Results", folder: Path) -> list[str]:
    """Draw the results into a folder and return the paths of the figures."""
    from ridgeway.research.simulation import expectation, figures

    drawn = {"error": figures.draw_errors(results, expectation(results))}
    drawn["directions"] = figures.draw_directions(results)
    if results.description.setting.n_tasks > 1:
        drawn["forgetting"] = figures.draw_forgetting(results)
    return [str(path) for name, figure in drawn.items() for path in figures.save(figure, folder, name)]


def _numbers(text: str, kind: type[int] | type[float], option: str) -> Any:
    """Return one number, or a list if there are commas."""
    try:
        numbers = [kind(part) for part in text.split(",")]
    except ValueError:
        raise InvalidParameterError(
            f"{option} must be a number, or numbers separated by commas; got {text!r}."
        ) from None
    return numbers if "," in text or option == "--order" else numbers[0]


def _loaded(path: str | None) -> Any:
    if path is None:
        return None
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        raise InvalidParameterError(
            f"{path} is not an array in NumPy's .npy format. Write it with numpy.save."
        ) from None


def _summarized(results: "Results") -> Iterator[tuple[float, str, int, float, float | None]]:
    """Yield mean errors and their standard errors after the first, a middle and the last task."""
    description = results.description
    n_tasks, count = description.setting.n_tasks, description.repetitions
    for level in description.setting.noise_variance:
        for method in description.methods:
            errors = results.of(method, level)
            for t in sorted({1, (n_tasks + 1) // 2, n_tasks}):
                after = errors[:, t - 1]
                error = float(after.std(ddof=1)) / count**0.5 if count > 1 else None
                yield level, method, t, float(after.mean()), error


def _emit_summary(results: "Results") -> None:
    names = ("noise_variance", "method", "task", "mean_error", "standard_error")
    emit([dict(zip(names, values, strict=True)) for values in _summarized(results)])


def _print_summary(results: "Results") -> None:
    count = results.description.repetitions
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for level, method, t, mean, error in _summarized(results):
        spread = "" if error is None else f" ({error:.2g})"
        cells.setdefault((f"{level:g}", method), {})[f"t = {t}"] = f"{mean:.4g}{spread}"
    title = f"Mean error over {count} repetitions (standard error)" if count > 1 else "Error, one repetition"
    headings = ["σ²", "method", *next(iter(cells.values()))]
    print_table(title, headings, [[*key, *row.values()] for key, row in cells.items()], left=["method"], n_names=2)
