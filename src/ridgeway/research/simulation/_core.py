"""One repetition: all methods learn its tasks in turn, one task's numbers in cache at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from ridgeway._checks import Array
from ridgeway.research.simulation._draws import REPETITION, Draws
from ridgeway.research.simulation._forms import Filter, Form, PolicyCourse, PolicyMethod, PooledMethod, Update
from ridgeway.research.simulation._results import RepetitionErrors
from ridgeway.research.simulation._setting import Setting
from ridgeway.research.simulation._shared_task import Past, SharedTask

Forms = Sequence[Form]
M = TypeVar("M", bound=Form)


def drawn_repetition(
    setting: Setting, methods: Forms, seed: int, repetition: int, best_penalties: Mapping[float, Sequence[float]]
) -> RepetitionErrors:
    """Draw the noise. Estimates are linear in w_* and ε: two columns serve every noise level."""
    draws = Draws(setting, seed, repetition)
    table = _Columns(methods, setting.noise_variance)
    coefs = np.zeros((setting.n_features, table.width), order="F")
    errors = np.empty((len(methods) * len(setting.noise_variance), setting.n_tasks))
    true_coef = draws.true_coef[:, np.newaxis]
    past = Past.empty(setting.n_features)
    for t, design in enumerate(draws.designs()):
        penalties = _at(best_penalties, t)
        task = SharedTask(design, draws.targets(design), past, penalties, reduces_past=table.reduces_past)
        table.learn(task, coefs)
        squares = np.square(coefs @ table.estimates - true_coef)
        errors[:, t] = squares.sum(axis=0)
        past = task.pooled
    information, vectors = draws.directions
    if vectors is not None:
        squares = np.square(vectors.T @ (coefs @ table.estimates - true_coef))
    return RepetitionErrors(table.by_level(errors), table.by_level(squares.T), information)


class _Columns:
    """The estimates of all methods side by side, so that a product with the rows serves all of them.

    A method has two columns, its estimates from X_tw_t and from ε_t/σ as targets; or one for each noise level if it
    depends on the noise. Filters come first, then the other updates, the policies, and the pooled methods.

    Attributes
    ----------
    targets : ndarray of shape (2, width)
        From X_tw_t and ε_t/σ to the targets of each column.
    estimates : ndarray of shape (width, M·L)
        From the columns to the estimates, method by method and level by level.
    """

    def __init__(self, methods: Forms, levels: Sequence[float]) -> None:
        self.shape = len(methods), len(levels)
        mixes = np.array([np.ones(len(levels)), np.sqrt(levels)])
        targets, estimates = [np.empty((2, 0))], np.zeros((2 * len(methods) * len(levels), len(methods) * len(levels)))
        self.width = 0

        def placed(kind: type[M]) -> Iterator[tuple[M, float, slice]]:
            """Give the methods of a kind their columns, and those that depend on the noise one per noise level."""
            for i, method in enumerate(methods):
                if isinstance(method, kind):
                    first = self.width
                    targets.append(mixes if method.uses_noise else np.eye(2))
                    self.width += targets[-1].shape[1]
                    own = slice(i * len(levels), (i + 1) * len(levels))
                    estimates[first : self.width, own] = np.eye(len(levels)) if method.uses_noise else mixes
                    if method.uses_noise:
                        yield from ((method, level, slice(first + k, first + k + 1)) for k, level in enumerate(levels))
                    else:
                        yield method, np.nan, slice(first, self.width)

        self.filters = list(placed(Filter))
        self.n_filtered = self.width
        self.reduces_past = any(method.reduces_past for method, _, _ in self.filters)
        self.updates = list(placed(Update))
        self.n_updated = self.width
        self.courses = [(PolicyCourse(method), columns) for method, _, columns in placed(PolicyMethod)]
        self.pooled = list(placed(PooledMethod))
        self.targets, self.estimates = np.hstack(targets), estimates[: self.width]

    def learn(self, task: SharedTask, coefs: Array) -> None:
        """Update the columns, in place."""
        filtered, updated = self.n_filtered, self.n_updated
        residuals = task.right_sides @ self.targets[:, :updated] - task.equations @ coefs[:, :updated]
        if filtered:
            inner = task.form.turn(residuals[:, :filtered])
            for method, level, columns in self.filters:
                inner[:, columns] = method.applied(task, level)(inner[:, columns])
            coefs[:, :filtered] += task.lift(task.form.turn_back(inner))
        if updated > filtered:
            steps = np.asfortranarray(task.lift(residuals[:, filtered:]))
            for update, level, columns in self.updates:
                own = slice(columns.start - filtered, columns.stop - filtered)
                steps[:, own] = update.applied(task, level)(steps[:, own])
            coefs[:, filtered:updated] += steps
        for course, columns in self.courses:
            residuals = task.targets @ self.targets[:, columns] - task.rows @ coefs[:, columns]
            coefs[:, columns] += course.gain(task) @ residuals
        for pooled, _, columns in self.pooled:
            coefs[:, columns] = pooled.estimate(task, self.targets[:, columns])

    def by_level(self, values: Array) -> Array:
        """Return values of shape (M·L, k) as (L, M, k)."""
        return values.reshape(*self.shape, -1).transpose(1, 0, 2)


def exact_repetition(
    setting: Setting, methods: Forms, seed: int, repetition: int, best_penalties: Mapping[float, Sequence[float]]
) -> RepetitionErrors:
    """Compute the expectation given the designs: over the noise, over w_* and over the parameters of tasks."""
    draws = Draws(setting, seed, repetition, REPETITION)
    expected = _Expected(setting, methods)
    errors = np.empty((len(setting.noise_variance), len(methods), setting.n_tasks))
    past = Past.empty(setting.n_features)
    for t, design in enumerate(draws.designs()):
        task = SharedTask(design, np.zeros((len(design.rows), 2)), past, _at(best_penalties, t))
        expected.learn(task)
        errors[..., t] = expected.by_level(np.trace)
        past = task.pooled
    information, vectors = draws.directions
    seen = expected.by_level(
        lambda moment: np.diagonal(moment) if vectors is None else (vectors * (moment @ vectors)).sum(axis=0)
    )
    return RepetitionErrors(errors, seen, information)


class _Expected:
    """E[(ŵ_t − w_*)(ŵ_t − w_*)ᵀ] of every method at every noise level, task by task."""

    def __init__(self, setting: Setting, methods: Forms) -> None:
        p = setting.n_features
        self.methods, self.levels = methods, setting.noise_variance
        self.drift = setting.distance**2 / p
        self.moments = [[np.eye(p) for _ in self.levels] for _ in methods]
        self.courses = {i: PolicyCourse(method) for i, method in enumerate(methods) if isinstance(method, PolicyMethod)}
        self.pools = any(isinstance(method, PooledMethod) for method in methods)
        self.scatter = [np.zeros((p, p)) for _ in self.levels]

    def learn(self, task: SharedTask) -> None:
        """Update the moments, in place."""
        noise = [task.noise_moment(level, self.drift) for level in self.levels]
        if self.pools:
            pairs = zip(self.scatter, self.levels, strict=True)
            self.scatter = [total + task.scatter(level, self.drift) for total, level in pairs]
        for i, method in enumerate(self.methods):
            if isinstance(method, PooledMethod):
                self.moments[i] = [_pooled_moment(method, task, entry) for entry in self.scatter]
            elif i in self.courses:
                rows = [task.row_noise(level, self.drift) for level in self.levels]
                self._update(i, task.rows, [self.courses[i].gain(task)], rows)
            else:
                levels = self.levels if method.uses_noise else self.levels[:1]
                self._update(i, task.equations, [_gain(method, task, level) for level in levels], noise)

    def _update(self, i: int, equations: Array, gains: list[Array], noise: list[Array]) -> None:
        """Update the moments of one method, with one gain for all noise levels or one each."""
        each = zip(self.moments[i], gains * (len(noise) // len(gains)), noise, strict=True)
        self.moments[i] = [updated_moment(moment, equations, gain, entry) for moment, gain, entry in each]

    def by_level(self, measure: Callable[[Array], Array]) -> Array:
        """Return a measure ≥ 0 of the moments, of shape (L, M, …); rounding may make it negative if it is 0."""
        values = np.array([[measure(moment) for moment in moments] for moments in self.moments])
        return np.asarray(np.maximum(np.moveaxis(values, 1, 0), 0.0))


def _gain(method: Form, task: SharedTask, noise_variance: float) -> Array:
    """Return K_t, of shape (p, m)."""
    if isinstance(method, Filter):
        return method.applied(task, noise_variance)(task.turned_rows).T @ task.basis.T
    if isinstance(method, Update):
        return method.applied(task, noise_variance)(task.lifted_unit)
    raise TypeError(f"{method.name} has no gain")


def _pooled_moment(method: PooledMethod, task: SharedTask, scatter: Array) -> Array:
    if method.second_moment is None:
        raise TypeError(f"{method.name} has no exact error")
    return method.second_moment(task, scatter)


def updated_moment(moment: Array, equations: Array, gain: Array, noise: Array) -> Array:
    """Return (I − KZ)·M·(I − KZ)ᵀ + K·R·Kᵀ, symmetric, in four products of shape (m, p). O(m·p²)."""
    seen = equations @ moment
    half = seen - 0.5 * ((seen @ equations.T + noise) @ gain.T)
    change = gain @ half
    return np.asarray(moment - change - change.T)


def _at(best_penalties: Mapping[float, Sequence[float]], t: int) -> dict[float, float]:
    return {level: penalties[t] for level, penalties in best_penalties.items()}
