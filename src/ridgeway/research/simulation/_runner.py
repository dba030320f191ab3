"""Run repetitions on one core or many: the same numbers in every case."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ridgeway._checks import one_of, whole
from ridgeway._optional import require
from ridgeway.distributed import Executor, executor_of
from ridgeway.errors import InvalidParameterError, RunFolderError
from ridgeway.research.simulation._core import drawn_repetition, exact_repetition
from ridgeway.research.simulation._folder import new_folder
from ridgeway.research.simulation._forms import Form, PooledMethod
from ridgeway.research.simulation._rehearsal import best_penalties
from ridgeway.research.simulation._results import Averaging, Description, RepetitionErrors, Results
from ridgeway.research.simulation._rules import BEST, forms_of
from ridgeway.research.simulation._setting import Setting

EXPECTED_DESIGNS = 4
"""Designs over which the expected errors in a figure of drawn errors are averaged."""

REMEMBERED = 8
"""Settings whose penalties of `crr:best` are remembered."""

AVERAGING = {"exact": exact_repetition, "drawn": drawn_repetition}


def run(
    setting: Setting,
    methods: str | Sequence[Any],
    repetitions: int = 100,
    seed: int = 0,
    workers: int | Executor = 1,
    *,
    averaging: Averaging = "exact",
    out: str | Path | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Results:
    """Simulate, and return one error per repetition, noise level, method and task.

    Every repetition has its own random streams, made from the seed and its number, and runs with one BLAS thread: the
    result is bitwise the same for any `workers`, in any order.

    Parameters
    ----------
    setting : Setting
    methods : sequence of names, policies and forms, or one text with commas
        Names of the `catalogue` (`catalogue.known()` lists them), each `weights.DesignPolicy`, or a form of this
        package such as `Update`. Names are resolved here; worker processes receive objects.
    repetitions, seed : int
    workers : int or distributed.Executor
        The number of processes, -1 for one per core; or `distributed.DaskWorkers`.
    averaging : {"exact", "drawn"}
        "exact" computes the expected error given the designs, over noise and parameters; "drawn" draws them.
    out : path, optional
        A new or empty folder for the tables.
    progress : callable of (done, total), optional
        Called with the number of repetitions done, at the start and after each.

    Returns
    -------
    Results

    Raises
    ------
    InvalidParameterError
        If the setting or a method is invalid. Nothing is written then.
    RunFolderError
        If the folder cannot be written to, or contains something.
    WorkError
        If a method fails, or a worker ends.

    Examples
    --------
    >>> from ridgeway.research import simulation
    >>> setting = simulation.Setting(n_tasks=3, n_samples=5, n_features=8)
    >>> found = simulation.run(setting, "mn,gr,oracle", repetitions=2, seed=1)
    >>> found.errors.shape
    (2, 1, 3, 3)
    >>> bool(abs(found.of("gr") - found.of("oracle")).max() < 1e-12)
    True
    """
    if not isinstance(setting, Setting):
        raise InvalidParameterError(f"setting must be a simulation.Setting; got {setting!r}.")
    forms = forms_of(methods, setting)
    description = _described(setting, forms, repetitions, seed, averaging)
    executor = executor_of(workers)
    if out is None:
        return _simulated(description, forms, executor, progress)

    require("pyarrow", extra="simulation")
    folder = new_folder(out)
    results = _simulated(description, forms, executor, progress)
    try:
        results.save(folder)
    except OSError as error:
        reason = error.strerror or error
        raise RunFolderError(f"cannot write to {folder}: {reason}. Choose another folder.") from None
    return results


def expectation(
    results: Results, workers: int | Executor = 1, *, methods: Sequence[Any] | None = None
) -> Results | None:
    """Compute the expected errors for a few designs of a run with drawn noise; None if the run was exact.

    Parameters
    ----------
    results : Results
    workers : int or distributed.Executor
        As for `run`.
    methods : sequence of names, policies and forms, optional
        All that have an expectation if not given. Methods that were passed to `run` as objects, and are not
        registered, must be passed again.

    Returns
    -------
    Results or None

    Examples
    --------
    >>> from ridgeway.research import simulation
    >>> setting = simulation.Setting(n_tasks=3, n_samples=20, n_features=4)
    >>> drawn = simulation.run(setting, ["gr"], repetitions=100, averaging="drawn")
    >>> exact = simulation.expectation(drawn)
    >>> drawn.of("gr").mean(axis=0).round(2), exact.of("gr").mean(axis=0).round(2)
    (array([0.24, 0.1 , 0.07]), array([0.22, 0.11, 0.07]))
    """
    description = results.description
    if description.averaging == "exact":
        return None
    found = forms_of(description.methods if methods is None else methods, description.setting)
    linear = [form for form in found if not _is_nonlinear(form)]
    repetitions = min(EXPECTED_DESIGNS, description.repetitions)
    return run(description.setting, linear, repetitions, description.seed, workers) if linear else None


def _is_nonlinear(form: Form) -> bool:
    return isinstance(form, PooledMethod) and form.second_moment is None


def _described(
    setting: Setting, forms: Sequence[Form], repetitions: int, seed: int, averaging: Averaging
) -> Description:
    one_of(averaging, tuple(AVERAGING), "averaging")
    nonlinear = [form.name for form in forms if _is_nonlinear(form)]
    if nonlinear and averaging == "exact":
        raise InvalidParameterError(
            f"{', '.join(nonlinear)}: not linear in the targets, so there is no formula for the expected error. Draw "
            "the noise instead: averaging='drawn'."
        )
    names = tuple(form.name for form in forms)
    counts = whole(repetitions, "repetitions"), whole(seed, "seed", least=0)
    return Description(setting, names, *counts, averaging, version("ridgeway"))


def _simulated(
    description: Description,
    forms: Sequence[Form],
    executor: Executor,
    progress: Callable[[int, int], object] | None,
) -> Results:
    report = progress or (lambda done, total: None)
    report(0, description.repetitions)
    wanted = BEST in description.methods
    schedules = _schedules(description.setting, description.seed, executor) if wanted else {}
    numbers = {f"repetition {number}": number for number in range(description.repetitions)}
    outcomes = []
    for outcome in executor.map(partial(_repetition, description, forms, schedules), numbers):
        outcomes.append(outcome)
        report(len(outcomes), description.repetitions)
    return Results(description, *(np.stack(arrays) for arrays in zip(*outcomes, strict=True)))


_BEST: dict[tuple[Setting, int], dict[float, list[float]]] = {}


def _schedules(setting: Setting, seed: int, executor: Executor) -> dict[float, list[float]]:
    """Return the penalties of `crr:best` for each noise level."""
    if (setting, seed) not in _BEST:
        levels = {f"{BEST} for noise variance {level:g}": level for level in setting.noise_variance}
        found = executor.map(partial(best_penalties, setting, seed), levels)
        _BEST[setting, seed] = dict(zip(setting.noise_variance, found, strict=True))
        if len(_BEST) > REMEMBERED:
            del _BEST[next(iter(_BEST))]
    return _BEST[setting, seed]


def _repetition(
    description: Description, forms: Sequence[Form], schedules: Mapping[float, Sequence[float]], number: int
) -> RepetitionErrors:
    """Run one repetition; this is what a worker calls."""
    return AVERAGING[description.averaging](description.setting, forms, description.seed, number, schedules)
