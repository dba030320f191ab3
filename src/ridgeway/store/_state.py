"""The model between the file and the rows: a state made from arrays, and turned into arrays again."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.data import Block, Schema, Task, check_tasks, columns_of_a_model
from ridgeway.errors import DamagedStoreError, InvalidDataError, InvalidParameterError, InvalidStateError, StoreError
from ridgeway.information import KINDS
from ridgeway.linalg import is_nearly_semidefinite
from ridgeway.store._digests import RESTORE, Array
from ridgeway.weights import Accumulated, Mergeable, Origin, Retained, from_arrays, policy_of, to_arrays

if TYPE_CHECKING:
    from ridgeway.store._stored_model import StoredModel


def empty_arrays(schema: Schema, prior: Any) -> dict[str, Array]:
    """Return the arrays of a state that has learned nothing."""
    start = np.zeros((len(schema.features), len(schema.targets)))
    kind, weights = KINDS[schema.information], schema.weight_kind
    origin = Origin(start, kind, schema.fit_intercept, schema.single_target, weight_kind=weights)
    state = Accumulated(prior=prior).start(origin)
    if state.prior is None:
        raise InvalidParameterError(f"a state file needs a prior that is given; got {prior!r}. Pass numbers.")
    return to_arrays(state)


def read_state(schema: Schema, arrays: Mapping[str, Array]) -> Retained:
    """Return the state of a store, or raise if the arrays are not those of the schema."""
    try:
        state = from_arrays(arrays)
    except InvalidStateError as error:
        raise DamagedStoreError(f"the arrays of the state are invalid: {error} {RESTORE}") from error
    origin, shape = state.origin, (len(schema.features), len(schema.targets))
    found = (origin.coef.shape, state.information.name, origin.centered, origin.single_target, origin.weight_kind)
    expected = (shape, schema.information, schema.fit_intercept, schema.single_target, schema.weight_kind)
    if found != expected or not isinstance(state, Mergeable):
        raise DamagedStoreError(f"the arrays of the state are not those of its schema. {RESTORE}")
    return state


def emptied(state: Retained) -> Retained:
    """Return a state with the same settings that has learned nothing."""
    return policy_of(state).start(state.origin)


def task_of(schema: Schema, block: Block) -> Task:
    """Return a block of rows as a state takes it. Weights are checked here, other values when they are summed."""
    X, y, weight = block[:3]
    if weight is not None:
        target = y[:, 0] if schema.single_target else y
        (task,) = check_tasks(columns_of_a_model(len(schema.features), None), X, target, weight, first=False)
        return task
    return Task(
        X,
        y,
        sample_weight=None,
        feature_names=None,
        single_target=schema.single_target,
        is_finite=False,
        n_samples=len(X),
        n_features=X.shape[1],
        n_targets=y.shape[1],
        total_weight=float(len(X)),
        log_weight=0.0,
    )


def checked_arrays(schema: Schema, state: Retained, n_tasks: int, n_samples: int) -> dict[str, Array]:
    """Return the arrays of a state that has learned the given numbers of tasks and rows, validated."""
    arrays = to_arrays(replace(state, n_tasks=n_tasks))  # one task may have come in several blocks
    try:
        check_state(schema, arrays, n_tasks, n_samples)
    except DamagedStoreError as error:
        raise InvalidDataError(f"the state after these rows would be invalid ({error}). Nothing is kept.") from error
    return arrays


def model_of(schema: Schema, arrays: Mapping[str, Array], *, named: bool = True) -> "StoredModel":
    """Return the fitted model of arrays, as `model_from` does."""
    return model_from(schema, read_state(schema, arrays), named=named)


def model_from(schema: Schema, state: Retained, *, named: bool = True) -> "StoredModel":
    """Return the fitted model of a state, or raise if it has learned nothing."""
    from ridgeway.store._stored_model import StoredModel  # it imports scikit-learn, which takes a second

    _check_learned(state)
    model = StoredModel.from_state(state, schema.features if named else None)
    model.schema_ = schema
    return model


def _check_learned(state: Retained) -> None:
    if state.n_tasks == 0:
        raise StoreError("the state file has not learned anything yet. Absorb a task first.")


def described(schema: Schema, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return what a state says, as plain data; an infinite condition is None."""
    state = read_state(schema, arrays)
    _check_learned(state)
    growth = state.information.solve(state.prior_in_force, state.origin.coef).growth
    coefs, intercepts = state.answer.coef.T.tolist(), state.answer.intercept.tolist()
    return {
        **schema.as_dict(),
        "n_tasks": state.n_tasks,
        "n_samples": state.n_samples,
        "rank": state.answer.rank,
        "condition": float(growth) if np.isfinite(growth) else None,
        "digits_lost": state.information.digits_lost,
        "state_bytes": sum(array.nbytes for array in arrays.values()),
        "intercepts": dict(zip(schema.targets, intercepts, strict=True)),
        "coefficients": {
            target: dict(zip(schema.features, values, strict=True))
            for target, values in zip(schema.targets, coefs, strict=True)
        },
    }


def check_state(schema: Schema, arrays: Mapping[str, Array], n_tasks: int, n_samples: int) -> None:
    """Raise `DamagedStoreError` if arrays are not a valid state of that many tasks and rows.

    Co-moments are factored to see that they have no negative eigenvalue, in O(p³). (A triangular factor has none.)
    """
    state = read_state(schema, arrays)
    repeated = schema.weight_kind == "frequency" and state.n_samples > n_samples  # the ledger counts each row once
    if state.n_tasks != n_tasks or not (state.n_samples == n_samples or repeated):
        raise DamagedStoreError(
            f"the ledger has {n_tasks} tasks of {n_samples} rows; the state has {state.n_tasks} of "
            f"{state.n_samples}. {RESTORE}"
        )
    held = state.information
    offset = np.sqrt(held.total_weight) * np.abs(held.mean)
    if schema.information == "moments" and not is_nearly_semidefinite(
        held.moments(), offset=offset, digits_lost=held.digits_lost
    ):
        raise DamagedStoreError(f"the co-moments of the state are indefinite. {RESTORE}")
