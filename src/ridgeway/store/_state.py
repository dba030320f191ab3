"""The model between the file and the rows: arrays in, blocks of rows added or taken out, arrays back."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import Schema, Task, check_tasks, columns_of_a_model
from ridgeway.errors import DamagedStoreError, InvalidDataError, InvalidStateError, StoreError
from ridgeway.estimators import GeneralizedRidge
from ridgeway.information import KINDS
from ridgeway.linalg import is_nearly_semidefinite
from ridgeway.store._notes import RESTORE
from ridgeway.weights import Accumulated, Mergeable, Origin, Retained, from_arrays, policy_of, to_arrays

Array = NDArray[np.float64]


def empty_arrays(schema: Schema, prior: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays of a state that has learned nothing."""
    start = np.zeros((len(schema.features), len(schema.targets)))
    origin = Origin(start, KINDS[schema.information], schema.fit_intercept, schema.single_target)
    return to_arrays(Accumulated(prior=prior).start(origin))


class Learner:
    """The state of a store, taken from arrays and handed back as arrays."""

    def __init__(self, schema: Schema, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.schema = schema
        self._state: Any = read_state(schema, arrays)
        self._policy = policy_of(self._state)

    def add(self, X: Array, y: Array, sample_weight: Array | None) -> None:
        """Learn a block of rows: y has shape (n_samples, n_targets)."""
        self._state = self._policy.step(self._state, self._task(X, y, sample_weight))

    def remove(self, X: Array, y: Array, sample_weight: Array | None) -> None:
        """Take a block of rows out again, or raise `RemovalError`."""
        self._state = self._state.remove(self._task(X, y, sample_weight))

    @property
    def digits_lost(self) -> float:
        """Decimal digits that removals may have cost."""
        return float(self._state.information.digits_lost)

    def _task(self, X: Array, y: Array, sample_weight: Array | None) -> Task:
        y = y[:, 0] if self.schema.single_target else y
        (task,) = check_tasks(columns_of_a_model(len(self.schema.features), None), X, y, sample_weight, first=False)
        return task

    def arrays(self, n_tasks: int, n_samples: int) -> dict[str, NDArray[Any]]:
        """Return the state of this many tasks and rows, checked."""
        arrays = to_arrays(replace(self._state, n_tasks=n_tasks))  # one task may have come in many blocks
        try:
            check_state(self.schema, arrays, n_tasks, n_samples)
        except DamagedStoreError as error:
            raise InvalidDataError(
                f"the state after these rows would be unsound ({error}). Nothing is kept."
            ) from error
        return arrays


def read_state(schema: Schema, arrays: Mapping[str, NDArray[Any]]) -> Retained:
    """Return the state of a store, or raise if the arrays are not those of the schema."""
    try:
        state = from_arrays(arrays)
    except InvalidStateError as error:
        raise DamagedStoreError(f"the arrays of the state make no model: {error} {RESTORE}") from error
    origin, shape = state.origin, (len(schema.features), len(schema.targets))
    found = (origin.coef.shape, state.information.name, origin.centered, origin.single_target)
    if found != (shape, schema.information, schema.fit_intercept, schema.single_target) or not isinstance(
        state, Mergeable
    ):
        raise DamagedStoreError(f"the arrays of the state are not those of its schema. {RESTORE}")
    return state


def emptied(schema: Schema, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a state under the same settings that has learned nothing."""
    state = read_state(schema, arrays)
    return to_arrays(policy_of(state).start(state.origin))


def merged_arrays(
    schema: Schema, one: Mapping[str, NDArray[Any]], two: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Return the arrays of the state of both pasts."""
    states = [state for state in (read_state(schema, arrays) for arrays in (one, two)) if state.n_tasks]
    if len(states) < 2:
        return dict(one if states and read_state(schema, one).n_tasks else two)
    first: Any = states[0]
    return to_arrays(first.merge(states[1]))


def model_of(schema: Schema, arrays: Mapping[str, NDArray[Any]], *, named: bool = True) -> GeneralizedRidge:
    """Return the fitted model of a state, or raise if it has learned nothing."""
    state = read_state(schema, arrays)
    if state.n_tasks == 0:
        raise StoreError("the state file has learned nothing yet. Absorb a task first.")
    return GeneralizedRidge.from_state(state, schema.features if named else None)


def described(schema: Schema, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return what a state says, as plain data; a condition that is infinite is None."""
    model = model_of(schema, arrays)
    growth = model.information_.solve(arrays["prior"], arrays["start"]).growth
    coefs, intercepts = np.atleast_2d(model.coef_).tolist(), np.atleast_1d(model.intercept_).tolist()
    return {
        **asdict(schema),
        "n_tasks": model.n_tasks_,
        "n_samples": model.n_samples_seen_,
        "rank": model.rank_,
        "condition": float(growth) if np.isfinite(growth) else None,
        "digits_lost": model.digits_lost_,
        "state_bytes": sum(array.nbytes for array in arrays.values()),
        "intercepts": dict(zip(schema.targets, intercepts, strict=True)),
        "coefficients": {
            target: dict(zip(schema.features, values, strict=True))
            for target, values in zip(schema.targets, coefs, strict=True)
        },
    }


def check_state(
    schema: Schema, arrays: Mapping[str, Array], n_tasks: int, n_samples: int, *, definite: bool = True
) -> None:
    """Raise `DamagedStoreError` where arrays are not a sound state of as many tasks and rows.

    `definite` says whether co-moments are factored to see that they have no negative eigenvalue, in O(p³). (A
    triangular factor cannot have one.)
    """
    state = read_state(schema, arrays)
    if (state.n_tasks, state.n_samples) != (n_tasks, n_samples):
        raise DamagedStoreError(
            f"the ledger has {n_tasks} tasks of {n_samples} rows; the state has {state.n_tasks} of "
            f"{state.n_samples}. {RESTORE}"
        )
    held = state.information
    offset = np.sqrt(held.total_weight) * np.abs(held.mean)
    factored = definite and schema.information == "moments"
    if factored and not is_nearly_semidefinite(held.moments(), offset=offset, digits_lost=held.digits_lost):
        raise DamagedStoreError(f"the co-moments of the state are indefinite. {RESTORE}")
