"""Run repetitions on one core or many, in memory or on disk: the same numbers in every case."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from ridgeway._checks import one_of, whole
from ridgeway._optional import require
from ridgeway.errors import InvalidParameterError
from ridgeway.kernels import single_threaded
from ridgeway.research.simulation._core import drawn_repetition, exact_repetition
from ridgeway.research.simulation._folder import RunFolder
from ridgeway.research.simulation._forms import Form, PooledMethod
from ridgeway.research.simulation._rehearsal import best_penalties
from ridgeway.research.simulation._results import Averaging, Description, RepetitionErrors, Results
from ridgeway.research.simulation._rules import BEST, forms_of
from ridgeway.research.simulation._setting import Setting

BATCH = 2
"""Repetitions per batch. Batch k has the repetitions 2k and 2k + 1, whichever worker runs it."""

EXPECTED_DESIGNS = 4
"""Designs over which the expected errors in a figure of drawn errors are averaged."""

PATIENCE = 1.0
"""Seconds between two checks of a worker that its parent is alive."""

AVERAGING = {"exact": exact_repetition, "drawn": drawn_repetition}


def run(
    setting: Setting,
    methods: str | Sequence[Any],
    repetitions: int = 100,
    seed: int = 0,
    n_jobs: int | None = 1,
    *,
    averaging: Averaging = "exact",
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Results:
    """Simulate, and return one error per repetition, noise level, method and task.

    Every repetition has its own random streams, made from the seed and its number, and runs with one BLAS thread: the
    result is bitwise the same for any `n_jobs`, in any order, and after any interruption.

    Parameters
    ----------
    setting : Setting
    methods : sequence of names, policies and forms, or one text with commas
        Names of the `catalogue` (`catalogue.known()` lists them), each `weights.DesignPolicy`, or a form of this
        package such as `Update`. Names are resolved here; worker processes receive objects.
    repetitions, seed : int
    n_jobs : int or None
        As in joblib: the number of workers, -1 for all cores, None for the setting of `joblib.parallel_config`.
    averaging : {"exact", "drawn"}
        "exact" computes the expected error given the designs, over noise and parameters; "drawn" draws them.
    out : path, optional
        A new or empty folder. Batches of repetitions are written there as they finish, and finally the tables.
    resume : bool
        Continue the run in `out`. Policies and forms are compared by name.
    progress : callable of (done, total), optional
        Called with the number of repetitions done, at the start and after each batch.

    Returns
    -------
    Results

    Raises
    ------
    InvalidParameterError
        If the setting or a method is invalid. Nothing is written then.
    RunFolderError
        If the folder cannot be written to, or contains something else or another run.

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
    if n_jobs is not None and n_jobs >= 0:
        whole(n_jobs, "n_jobs")
    batches = range(-(-repetitions // BATCH))
    if out is None:
        return _gathered(description, dict(_parts(description, forms, batches, n_jobs, progress, 0)))
    require("pyarrow", extra="simulation")
    folder = RunFolder.open(out, description, resume=resume)
    if folder.is_finished:
        folder.tidy()
        return Results.load(folder.path)
    done = {index: part for index in batches if (part := folder.part(index)) is not None}
    missing = [index for index in batches if index not in done]
    finished = sum(len(part.errors) for part in done.values())
    for index, part in _parts(description, forms, missing, n_jobs, progress, finished):
        folder.write_part(index, part)
        done[index] = part
    results = _gathered(description, done)
    folder.finish(results)
    return results


def expectation(results: Results, n_jobs: int | None = 1, *, methods: Sequence[Any] | None = None) -> Results | None:
    """Compute the expected errors for a few designs of a run with drawn noise; None if the run was exact.

    Parameters
    ----------
    results : Results
    n_jobs : int or None
        As for `run`.
    methods : sequence of names, policies and forms, optional
        All that have an expectation if not given. Methods that were passed to `run` as objects, and are not
        registered, must be passed again.

    Returns
    -------
    Results or None
    """
    description = results.description
    if description.averaging == "exact":
        return None
    found = forms_of(description.methods if methods is None else methods, description.setting)
    linear = [form for form in found if not _is_nonlinear(form)]
    repetitions = min(EXPECTED_DESIGNS, description.repetitions)
    return run(description.setting, linear, repetitions, description.seed, n_jobs) if linear else None


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


def _parts(
    description: Description,
    forms: Sequence[Form],
    indices: Sequence[int],
    n_jobs: int | None,
    progress: Callable[[int, int], object] | None,
    done: int,
) -> Iterator[tuple[int, RepetitionErrors]]:
    """Yield batches as they finish, in any order."""
    report = progress or (lambda done, total: None)
    report(done, description.repetitions)
    if not indices:
        return
    wanted = BEST in description.methods
    schedules = _schedules(description.setting, description.seed, n_jobs) if wanted else {}
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    except ValueError as error:  # the backend returns all results at the end; they are written as they finish
        raise InvalidParameterError(f"joblib: {error}. Use another backend, such as loky.") from None
    for index, part in parallel(
        delayed(_worked)(os.getpid(), _batch, description, forms, schedules, index) for index in indices
    ):
        yield index, part
        done += len(part.errors)
        report(done, description.repetitions)


@lru_cache(maxsize=8)
def _schedules(setting: Setting, seed: int, n_jobs: int | None) -> dict[float, list[float]]:
    """Return the penalties of `crr:best` for each noise level."""
    levels = setting.noise_variance
    found = Parallel(n_jobs=n_jobs, batch_size=1)(
        delayed(_worked)(os.getpid(), best_penalties, setting, seed, level) for level in levels
    )
    return dict(zip(levels, found, strict=True))


def _worked(parent: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function; in a worker process, first make sure that the worker ends with its parent and not before."""
    if os.getpid() != parent:
        _attach(parent)
    return function(*arguments)


@cache
def _attach(parent: int) -> None:
    """Leave Ctrl-C to the parent, which ends its workers itself; end if the parent is gone."""
    with suppress(ValueError):  # not the main thread, as on a cluster: Ctrl-C does not arrive there
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.getppid() == parent:  # otherwise another machine, or a worker of a worker
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PATIENCE)
    os._exit(1)


def _batch(
    description: Description, forms: Sequence[Form], schedules: Mapping[float, Sequence[float]], index: int
) -> tuple[int, RepetitionErrors]:
    """Run one batch; this is what a worker calls."""
    simulate = AVERAGING[description.averaging]
    numbers = range(index * BATCH, min((index + 1) * BATCH, description.repetitions))
    with single_threaded():
        outcomes = [simulate(description.setting, forms, description.seed, number, schedules) for number in numbers]
    return index, RepetitionErrors(*(np.stack(arrays) for arrays in zip(*outcomes, strict=True)))


def _gathered(description: Description, parts: Mapping[int, RepetitionErrors]) -> Results:
    ordered = [parts[index] for index in sorted(parts)]
    return Results(description, *(np.concatenate(arrays) for arrays in zip(*ordered, strict=True)))
