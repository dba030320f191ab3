"""The model between the file and the rows: made from arrays, and turned into arrays again."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError, InvalidDataError, InvalidStateError, StoreError
from ridgeway.estimators import GeneralizedRidge
from ridgeway.linalg import is_nearly_semidefinite
from ridgeway.store._notes import RESTORE
from ridgeway.weights import Accumulated

Array = NDArray[Any]


def empty_arrays(schema: Schema, prior: Any) -> dict[str, Array]:
    """Return the arrays of a state that has learned nothing: its prior alone."""
    return {"prior": Accumulated(prior=prior).prior_matrix(len(schema.features))}


def is_empty(arrays: Mapping[str, Array]) -> bool:
    """Return whether a state has learned nothing yet."""
    return arrays.keys() == {"prior"}


def learner(schema: Schema, arrays: Mapping[str, Array]) -> GeneralizedRidge:
    """Return a model that can learn the next rows as plain arrays."""
    if not is_empty(arrays):
        return model_of(schema, arrays, named=False)
    return GeneralizedRidge(
        Accumulated(prior=arrays["prior"]), information=schema.information, fit_intercept=schema.fit_intercept
    )


def targets(schema: Schema, y: Array) -> Array:
    """Return the targets of a block, of shape (n_samples, n_targets), as the model takes them."""
    return y[:, 0] if schema.single_target else y


def checked_arrays(schema: Schema, model: GeneralizedRidge, n_tasks: int, n_samples: int) -> dict[str, Array]:
    """Return the arrays of a model that has learned the given numbers of tasks and rows, validated."""
    arrays = model.to_arrays()
    arrays["model"][1] = n_tasks  # one task may have come in several blocks
    try:
        check_state(schema, arrays, n_tasks, n_samples)
    except DamagedStoreError as error:
        raise InvalidDataError(f"the state after these rows would be invalid ({error}). Nothing is kept.") from error
    return arrays


def model_of(schema: Schema, arrays: Mapping[str, Array], *, named: bool = True) -> GeneralizedRidge:
    """Return the fitted model of a state, or raise if the arrays are not those of the schema."""
    if is_empty(arrays):
        raise StoreError("the state file has not learned anything yet. Absorb a task first.")
    try:
        model = GeneralizedRidge.from_arrays(arrays, schema.features if named else None)
    except InvalidStateError as error:
        raise DamagedStoreError(f"the arrays of the state are invalid: {error} {RESTORE}") from error
    information = model.information_
    found = (
        information.n_features,
        information.n_targets,
        model.information,
        bool(model.fit_intercept),
        bool(arrays["model"][2]),
        float(arrays["model"][3]),
    )
    if found != (
        len(schema.features),
        len(schema.targets),
        schema.information,
        schema.fit_intercept,
        schema.single_target,
        1.0,
    ):
        raise DamagedStoreError(f"the arrays of the state are not those of its schema. {RESTORE}")
    return model


def described(schema: Schema, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return what a state says, as plain data; an infinite condition is None."""
    model = model_of(schema, arrays)
    information = model.information_
    growth = information.solve(arrays["prior"], arrays["start"]).growth
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


def check_state(schema: Schema, arrays: Mapping[str, Array], n_tasks: int, n_samples: int) -> None:
    """Raise `DamagedStoreError` if arrays are not a valid state of that many tasks and rows.

    Co-moments are factored to see that they have no negative eigenvalue, in O(p³). (A triangular factor has none.)
    """
    if n_tasks == 0:
        if not is_empty(arrays):
            raise DamagedStoreError(f"the ledger is empty and the state is not. {RESTORE}")
        return
    model = model_of(schema, arrays)
    if (model.n_tasks_, model.n_samples_seen_) != (n_tasks, n_samples):
        raise DamagedStoreError(
            f"the ledger has {n_tasks} tasks of {n_samples} rows; the state has {model.n_tasks_} of "
            f"{model.n_samples_seen_}. {RESTORE}"
        )
    held = model.information_
    offset = np.sqrt(held.total_weight) * np.abs(held.mean)
    if schema.information == "moments" and not is_nearly_semidefinite(
        arrays["matrix"].copy(order="F"), offset=offset, digits_lost=held.digits_lost
    ):
        raise DamagedStoreError(f"the co-moments of the state are indefinite. {RESTORE}")
