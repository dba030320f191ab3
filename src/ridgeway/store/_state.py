"""The model between the file and the rows: arrays in, blocks of rows added or taken out, arrays back."""

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

Array = NDArray[np.float64]


def empty_arrays(schema: Schema, prior: Any) -> dict[str, Array]:
    """Return the arrays of a state that has learned nothing: its prior alone."""
    return {"prior": Accumulated(prior=prior).prior_matrix(len(schema.features))}


class Learner:
    """A model of a store's schema, taken from arrays and handed back as arrays."""

    def __init__(self, schema: Schema, arrays: Mapping[str, Array]) -> None:
        self.schema = schema
        self._prior = arrays["prior"]
        self._model = model_of(schema, arrays, named=False) if "model" in arrays else self._fresh()

    def _fresh(self) -> GeneralizedRidge:
        return GeneralizedRidge(
            Accumulated(prior=self._prior),
            information=self.schema.information,
            fit_intercept=self.schema.fit_intercept,
        )

    def add(self, X: Array, y: Array, sample_weight: Array | None) -> None:
        """Learn a block of rows: y has shape (n_samples, n_targets)."""
        self._model.partial_fit(X, self._target(y), sample_weight)

    def remove(self, X: Array, y: Array, sample_weight: Array | None) -> None:
        """Take a block of rows out again, or raise `RemovalError`."""
        self._model.remove(X, self._target(y), sample_weight)

    @property
    def digits_lost(self) -> float:
        """Decimal digits that removals may have cost."""
        return self._model.digits_lost_

    def _target(self, y: Array) -> Array:
        return y[:, 0] if self.schema.single_target else y

    def arrays(self, n_tasks: int, n_samples: int) -> dict[str, Array]:
        """Return the state of so many tasks and rows, held to be one that may be committed."""
        arrays = self._model.to_arrays()
        arrays["model"][1] = n_tasks  # one task may have come in many blocks
        try:
            check_state(self.schema, arrays, n_tasks, n_samples)
        except DamagedStoreError as error:
            raise InvalidDataError(
                f"the state after these rows would be unsound ({error}). Nothing is kept."
            ) from error
        return arrays


def model_of(schema: Schema, arrays: Mapping[str, Array], *, named: bool = True) -> GeneralizedRidge:
    """Return the fitted model of a state, or raise where the arrays are not those of the schema."""
    if "model" not in arrays:
        raise StoreError("the state file has learned nothing yet. Absorb a task first.")
    try:
        model = GeneralizedRidge.from_arrays(arrays, schema.features if named else None)
    except InvalidStateError as error:
        raise DamagedStoreError(f"the arrays of the state make no model: {error} {RESTORE}") from error
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
    """Return what a state says, as plain data; a condition that is infinite is None."""
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


def check_state(
    schema: Schema, arrays: Mapping[str, Array], n_tasks: int, n_samples: int, *, definite: bool = True
) -> None:
    """Raise `DamagedStoreError` where arrays are not a sound state of as many tasks and rows.

    `definite` says whether co-moments are factored to see that they have no negative eigenvalue, in O(p³). (A
    triangular factor cannot have one.)
    """
    if n_tasks == 0:
        if set(arrays) != {"prior"}:
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
    factored = definite and schema.information == "moments"
    if factored and not is_nearly_semidefinite(arrays["matrix"], offset=offset, digits_lost=held.digits_lost):
        raise DamagedStoreError(f"the co-moments of the state are indefinite. {RESTORE}")
