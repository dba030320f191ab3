"""The model between the file and the rows: a state made from arrays, and turned into arrays again."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ridgeway._text import counted
from ridgeway.data import Block, Schema, TargetFamily, Task, check_offset, check_tasks, columns_of_a_model
from ridgeway.errors import DamagedStoreError, InvalidDataError, InvalidParameterError, InvalidStateError, StoreError
from ridgeway.information import KINDS
from ridgeway.likelihoods import FAMILIES
from ridgeway.linalg import is_nearly_semidefinite
from ridgeway.store._digests import RESTORE, Array
from ridgeway.weights import (
    Accumulated,
    Mergeable,
    Origin,
    Retained,
    expanded_from_arrays,
    expanded_to_arrays,
    from_arrays,
    policy_of,
    to_arrays,
    with_likelihood,
)


def empty_arrays(schema: Schema, prior: Any) -> dict[str, Array]:
    """Return the arrays of a state that has learned nothing."""
    start, family = np.zeros((len(schema.features), len(schema.target_columns))), schema.family
    kind, single = KINDS[schema.information], schema.single_target and (family is None or family.name != "multiclass")
    classes = None if family is None else family.known_classes
    origin = Origin(start, kind, schema.fit_intercept, single, weight_kind=schema.weight_kind, classes=classes)
    policy = Accumulated(prior=prior)
    if family is not None and family.memory is not None:
        return expanded_to_arrays(with_likelihood(policy, FAMILIES[family.name](), family.memory).start(origin))
    state = policy.start(origin)
    if state.prior is None:
        raise InvalidParameterError(f"a state file needs a fixed prior; got {prior!r}. Pass numbers.")
    return to_arrays(state)


def read_state(schema: Schema, arrays: Mapping[str, Array]) -> Any:
    """Return the state of a store, or raise if the arrays are not those of the schema."""
    family, shape = schema.family, (len(schema.features), len(schema.targets))
    state: Any
    try:
        state = from_arrays(arrays) if family is None or family.memory is None else expanded_from_arrays(arrays)
    except InvalidStateError as error:
        raise DamagedStoreError(f"the arrays of the state are invalid: {error} {RESTORE}") from error
    origin = state.origin
    found = (origin.coef.shape, origin.information.name, origin.centered, origin.single_target, origin.weight_kind)
    expected = (shape, schema.information, schema.fit_intercept, schema.single_target, schema.weight_kind)
    fits = found == expected and origin.classes is None if family is None else is_of_family(state, schema, family)
    if not fits or not isinstance(state, Mergeable):
        raise DamagedStoreError(f"the arrays of the state are not those of its schema. {RESTORE}")
    return state


def is_of_family(state: Any, schema: Schema, family: TargetFamily) -> bool:
    """Return whether a state is that of a family and of the columns and settings of a schema."""
    origin, n_features = state.origin, len(schema.features)
    found = (origin.coef.shape, origin.information.name, origin.centered, origin.classes, origin.weight_kind)
    settings = (schema.information, schema.fit_intercept, family.known_classes, schema.weight_kind)
    if found != ((n_features, family.n_targets), *settings) or origin.single_target == (family.name == "multiclass"):
        return False
    if family.memory is None:
        return True
    memory = "quadratic" if state.past.third is None else "cubic"
    return bool((state.likelihood.name, memory, state.decay) == (family.name, family.memory, 1.0))


def emptied(state: Retained) -> Retained:
    """Return a state with the same settings that has learned nothing."""
    return policy_of(state).start(state.origin)


def task_of(schema: Schema, block: Block) -> Task:
    """Return a block of rows as a state takes it. Weights and offsets are checked here, other values when summed."""
    X, y, weight = block[:3]
    single, classes = schema.single_target, None
    if schema.family is not None:
        y, classes = schema.family.targets(y)
        single = schema.family.name != "multiclass"
    offset = None
    if schema.offset is not None and block.offset_values is not None:
        offset = check_offset(schema.offset.offsets(block.offset_values), len(X))
    if weight is not None:
        model, target = columns_of_a_model(len(schema.features), None), y[:, 0] if single else y
        (task,) = check_tasks(model, X, target, weight, first=False)
        return replace(task, classes=classes, offset=offset)
    return Task(
        X,
        y,
        sample_weight=None,
        feature_names=None,
        single_target=single,
        is_finite=False,
        n_samples=len(X),
        n_features=X.shape[1],
        n_targets=y.shape[1],
        total_weight=float(len(X)),
        log_weight=0.0,
        classes=classes,
        offset=offset,
    )


def checked_arrays(schema: Schema, state: Any, n_tasks: int, n_samples: int) -> dict[str, Array]:
    """Return the arrays of a state that has learned the given numbers of tasks and rows, validated."""
    write = to_arrays if schema.family is None or schema.family.memory is None else expanded_to_arrays
    arrays = write(replace(state, n_tasks=n_tasks))  # one task may have come in several blocks
    try:
        check_state(schema, arrays, n_tasks, n_samples)
    except DamagedStoreError as error:
        raise InvalidDataError(f"the state after these rows would be invalid ({error}). Nothing is kept.") from error
    return arrays


def model_of(schema: Schema, arrays: Mapping[str, Array], *, named: bool = True) -> Any:
    """Return the fitted model of arrays, as `model_from` does."""
    return model_from(schema, read_state(schema, arrays), named=named)


def model_from(schema: Schema, state: Any, *, named: bool = True) -> Any:
    """Return the fitted model of a state, that of the schema's family, or raise if it has learned nothing."""
    from ridgeway.store._stored_model import MODELS  # it imports scikit-learn, which takes a second

    _check_learned(state)
    model: Any = MODELS["gaussian" if schema.family is None else schema.family.name]
    made = model.from_state(state, schema.features if named else None)
    made.schema_ = schema
    return made


def _check_learned(state: Any) -> None:
    if state.n_tasks == 0:
        raise StoreError("the state file has not learned anything yet. Absorb a task first.")


def described(schema: Schema, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return what a state says, as plain data; an infinite condition is None."""
    state, family = read_state(schema, arrays), schema.family
    _check_learned(state)
    coefs, intercepts = state.answer.coef.T.tolist(), state.answer.intercept.tolist()
    targets = [str(target) for target in schema.target_columns]
    known: dict[str, Any] = {"n_tasks": state.n_tasks, "n_samples": state.n_samples, "rank": state.answer.rank}
    if family is not None and family.has_classes:
        known["classes"] = list(family.classes)
    if family is None or family.memory is None:
        growth = state.information.solve(state.prior_in_force, state.origin.coef).growth
        known |= {"condition": _finite(growth), "digits_lost": state.information.digits_lost}
    else:
        known |= {"memory": family.memory, "log_likelihood": state.past.value, "rates": state.rates}
    return {
        **schema.as_dict(),
        "family": "gaussian" if family is None else family.name,
        **known,
        "state_bytes": sum(array.nbytes for array in arrays.values()),
        "intercepts": dict(zip(targets, intercepts, strict=True)),
        "coefficients": {
            target: dict(zip(schema.features, values, strict=True))
            for target, values in zip(targets, coefs, strict=True)
        },
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def check_state(schema: Schema, arrays: Mapping[str, Array], n_tasks: int, n_samples: int) -> None:
    """Raise `DamagedStoreError` if arrays are not a valid state of that many tasks and rows.

    Co-moments are factored to see that they have no negative eigenvalue, in O(p³). (A triangular factor has none.)
    """
    state = read_state(schema, arrays)
    repeated = schema.weight_kind == "frequency" and state.n_samples > n_samples  # the ledger counts each row once
    if state.n_tasks != n_tasks or not (state.n_samples == n_samples or repeated):
        raise DamagedStoreError(
            f"the ledger has {counted(n_tasks, 'task')} of {counted(n_samples, 'row')}; the state has {state.n_tasks} "
            f"of {state.n_samples}. {RESTORE}"
        )
    if schema.family is not None and schema.family.memory is not None:
        if not is_nearly_semidefinite(state.held().curvature, offset=np.zeros(len(state.past.centre))):
            raise DamagedStoreError(f"the curvature of the state is indefinite. {RESTORE}")
        return
    held = state.information
    offset = np.sqrt(held.total_weight) * np.abs(held.mean)
    if schema.information == "moments" and not is_nearly_semidefinite(
        held.moments(), offset=offset, digits_lost=held.digits_lost
    ):
        raise DamagedStoreError(f"the co-moments of the state are indefinite. {RESTORE}")
