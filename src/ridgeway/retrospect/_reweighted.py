"""Tasks that count more, less or not at all, decided after they were learned."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway._checks import LARGEST, nonnegative, positive, whole
from ridgeway.data import label_of, listed
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.retrospect._compressed import tasks_of
from ridgeway.retrospect._model import state_of

if TYPE_CHECKING:
    from ridgeway.estimators import GeneralizedRidge


def reweighted(
    model: "GeneralizedRidge",
    weights: Mapping[Any, float] | None = None,
    *,
    last: int | None = None,
    decay: float | None = None,
) -> "GeneralizedRidge":
    """Return a new model in which the rows of some tasks count more or less, as if they had been learned that way.

    Pass one of `weights`, `last` and `decay`. The result keeps its tasks apart and can continue to learn; the model is
    left as it is. A prior counts once, as before. O(T·p³).

    With `weights`, the standard errors of the result are those of rows learned with these sample weights: with
    weight_kind="precision", the noise of a row of weight w has variance σ²/w, so a task that counts less is taken to be
    noisier. With weight_kind="frequency", a weight says how often the rows of the task were observed. It must be a
    whole number, so a `decay` below 1 is refused.

    A `decay` says how fast older tasks lose influence, and nothing about their noise. The result has coefficients and
    predictions. Questions that need the noise raise `InferenceError`, as with `weights.Accumulated(decay=γ)`.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with information="by_task".
    weights : mapping from task id to number ≥ 0, optional
        Multiplies the weights of the task's rows. 0 leaves the task out; tasks that are not named keep their weights.
    last : int, optional
        Keep only this many tasks, those learned last.
    decay : float in (0, 1], optional
        Task j of T gets the weight decay^(T − j): the coefficients are those of `weights.Accumulated(decay=decay)`
        without a prior. Tasks whose weight falls below 1e-150 are left out.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> model = GeneralizedRidge(information="by_task")
    >>> model = model.partial_fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0], task="2019")
    >>> model = model.partial_fit([[0.0], [1.0], [3.0]], [2.0, 2.0, 2.0], task="2020")
    >>> retrospect.reweighted(model, last=1).predict([[10.0]])
    array([2.])
    >>> retrospect.reweighted(model, {"2020": 0.0}).predict([[10.0]])
    array([21.])
    """
    held, state = tasks_of(model), state_of(model)
    asked = _asked(held.ids, weights, last, decay)
    counted = state.origin.weight_kind == "frequency"
    broken = [weight for weight in asked.values() if weight != np.round(weight)]
    if counted and broken:
        raise InvalidParameterError(
            f"with weight_kind='frequency' the weight of a task must be a whole number; got {broken[0]:g}. Pass whole "
            "numbers, or last=."
        )
    if not any(asked.values()):
        raise InvalidParameterError("all tasks would have weight 0: nothing would remain. Keep at least one.")
    names = getattr(model, "feature_names_in_", None)
    fades = decay is not None and any(0.0 < weight < 1.0 for weight in asked.values())
    if fades and state.prior is None:
        raise InferenceError(
            f"the prior is learned, and with decay={decay:g} the rows of older tasks fade, so the noise cannot be "
            "estimated from what is left of them. Learn it first, with retrospect.learn_prior, or give the prior as a "
            "number, or pass weights or last."
        )

    keeper: Any = state
    tasks = keeper.with_tasks(held.reweighted(asked, counted=counted))
    return type(model).from_state(tasks.faded() if fades else tasks, names)


def _asked(ids: tuple[str, ...], weights: Any, last: Any, decay: Any) -> dict[str, float]:
    """Return the weight of every task, or raise."""
    given = [name for name, value in (("weights", weights), ("last", last), ("decay", decay)) if value is not None]
    if len(given) != 1:
        got = " and ".join(given) or "none of them"
        raise InvalidParameterError(f"pass one of weights, last and decay; got {got}.")
    if last is not None:
        first = len(ids) - whole(last, "last", most=len(ids))
        return {task: float(number >= first) for number, task in enumerate(ids)}
    if decay is not None:
        share = nonnegative(decay, "decay")
        if not 0.0 < share <= 1.0:
            raise InvalidParameterError(f"decay must be above 0 and at most 1; got {decay!r}.")
        fading = {task: share ** (len(ids) - 1 - number) for number, task in enumerate(ids)}
        return {task: weight if weight >= 1.0 / LARGEST else 0.0 for task, weight in fading.items()}
    if not isinstance(weights, Mapping) or not weights:
        raise InvalidParameterError(f"weights must map task ids to numbers, like {{{ids[0]!r}: 0.5}}; got {weights!r}.")
    named = dict(zip(known_ids(ids, weights, "weights"), weights.values(), strict=True))
    asked = {task: nonnegative(named.get(task, 1.0), f"the weight of task {task!r}") for task in ids}
    return {task: weight and positive(weight, f"the weight of task {task!r}") for task, weight in asked.items()}


def known_ids(ids: tuple[str, ...], given: Iterable[Any], what: str) -> list[str]:
    """Return ids of tasks as the model spells them, or raise if one is unknown or named twice."""
    spelled = [label_of(label.item() if isinstance(label, np.generic) else label) for label in given]
    unknown = [label for label in spelled if label not in ids]
    if unknown:
        raise InvalidParameterError(f"{what} names unknown tasks: {listed(unknown)}; the tasks are {listed(ids)}.")
    if len(set(spelled)) < len(spelled):
        twice = [label for label in dict.fromkeys(spelled) if spelled.count(label) > 1]
        raise InvalidParameterError(f"{what} names {listed(twice)} more than once. Name each task once.")
    return spelled


def in_order(ids: tuple[str, ...], order: Any) -> tuple[str, ...]:
    """Return the tasks in the order asked for, or as they were learned, or raise unless each is there once."""
    if order is None:
        return ids
    if isinstance(order, str) or not isinstance(order, Iterable):
        raise InvalidParameterError(f"order must be a list of all task ids; got {order!r}.")
    spelled = tuple(known_ids(ids, order, "order"))
    missing = [task for task in ids if task not in spelled]
    if missing:
        raise InvalidParameterError(
            f"order leaves out {listed(missing)}. Name every task; to leave tasks out, use retrospect.reweighted."
        )
    return spelled
