"""The methods that are compared, and how a name becomes one.

A method is a name and a function on what the methods of a repetition share (`SharedTask`). To add one, write such a
function and put it into `NAMED`. Updates that are linear in the targets are ŵ_t = ŵ_{t−1} + K_t·r, r the residuals of
the task's equations; their exact error follows from K_t by itself, and one whose K_t makes use of the noise variance
says ``uses_noise=True``:

- K_t = X_tᵀ·f(X_tX_tᵀ), a filter of the task's own spectrum: ``Filter(name, applied)``. With X_tX_tᵀ = Q·T·Qᵀ and T
  tridiagonal (``task.form``), ``applied(task, noise_variance)`` returns the function Qᵀr ↦ f(T)·Qᵀr;
- K_t = P_t·X_tᵀ: ``Update(name, applied)``, where ``applied(task, noise_variance)`` returns the function
  X_tᵀr ↦ P_t·X_tᵀr;
- anything else that the pooled sums suffice for: ``PooledMethod(name, estimate)``, where ``estimate(task, mix)``
  returns ŵ_t of shape (p, k) from ``task.pooled``: information, moment @ mix and mixᵀ·squares·mix are XᵀX, Xᵀy and
  yᵀy of all rows so far. ``mix`` has the columns (1, σ). Where ŵ_t is not linear in the targets say
  ``uses_noise=True`` and leave `second_moment` out: such a method can be drawn, and exact averaging refuses it.
"""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import LARGEST
from ridgeway.errors import InvalidParameterError
from ridgeway.kernels import eigen
from ridgeway.linalg import empty_triangle, tolerance
from ridgeway.research.simulation._factor import Factor
from ridgeway.research.simulation._setting import Setting
from ridgeway.research.simulation._task import SharedTask

__all__ = ["DESCRIPTIONS", "Filter", "Method", "PooledMethod", "Update", "find_methods"]

Array = NDArray[np.float64]
Applied = Callable[[Array], Array]
Penalty = Callable[[SharedTask, float], float]

MATCHED_STEPS = 10
VANILLA_STEPS = 100


@dataclass(frozen=True)
class Filter:
    """An update with K_t = X_tᵀ·f(X_tX_tᵀ).

    Attributes
    ----------
    name : str
    applied : function of (task, noise variance) that returns the function s ↦ f(T)·s
    uses_noise : whether f depends on the noise variance
    reduces_past : whether f asks for the spectrum of the past, ``task.past.form``
    """

    name: str
    applied: Callable[[SharedTask, float], Applied]
    uses_noise: bool = False
    reduces_past: bool = False


@dataclass(frozen=True)
class Update:
    """An update with K_t = P_t·X_tᵀ.

    Attributes
    ----------
    name : str
    applied : function of (task, noise variance) that returns the function g ↦ P_t·g
    uses_noise : whether P_t depends on the noise variance
    """

    name: str
    applied: Callable[[SharedTask, float], Applied]
    uses_noise: bool = False


@dataclass(frozen=True)
class PooledMethod:
    """An estimate from the pooled sums alone.

    Attributes
    ----------
    name : str
    estimate : function of (task, mix) that returns ŵ_t of shape (p, k)
    second_moment : function of (task, covariance of the pooled Xᵀy) that returns E[(ŵ_t − w_*)(ŵ_t − w_*)ᵀ], or None
    uses_noise : whether the estimate is not linear in the targets, or depends on σ
    """

    name: str
    estimate: Callable[[SharedTask, Array], Array]
    second_moment: Callable[[SharedTask, Array], Array] | None = None
    uses_noise: bool = False


Method = Filter | Update | PooledMethod


def _ridge(name: str, penalty: Penalty, *, uses_noise: bool = False, reduces_past: bool = False) -> Filter:
    def applied(task: SharedTask, noise_variance: float) -> Applied:
        shift = task.n_samples * penalty(task, noise_variance)
        return partial(task.form.solve, shift, tolerance=tolerance(len(task.square)))

    return Filter(name, applied, uses_noise, reduces_past)


def _past_mean(task: SharedTask, _: float) -> float:
    """λ_t = tr(H̃_t)/p."""
    return float(np.diagonal(task.past.information).mean()) / task.n_samples


def _past_top(task: SharedTask, _: float) -> float:
    """λ_t = the largest eigenvalue of H̃_t."""
    return 0.0 if task.number == 1 else task.past.form.top / task.n_samples


def _generalized(task: SharedTask, _: float) -> Applied:
    """H̃_t: (X_tᵀX_t + n_tH̃_t)⁺ = (Σ_{τ≤t} X_τᵀX_τ)⁺."""
    return partial(task.pooled_solve, 0.0)


def _optimal(task: SharedTask, noise_variance: float) -> Applied:
    """H_t with the prior σ²·E[w_*w_*ᵀ]⁻¹ = σ²I; Sec. "A Practical Algorithm", corrections row 2."""
    return partial(task.pooled_solve, noise_variance)


def _diagonal(task: SharedTask, noise_variance: float) -> Applied:
    """H_t = diag(H̃_t): elastic weight consolidation (EWC)."""
    if task.number == 1:
        return _generalized(task, noise_variance)
    return Factor(task.products + np.diag(np.diagonal(task.past.information))).solve


def _evidence(task: SharedTask, mix: Array) -> Array:
    """H_t with the prior λI under which all rows so far are most probable: `weights.Accumulated("evidence")`."""
    from ridgeway.information import Moments, evidence_estimate  # brings scipy.optimize, which no other method needs

    p, pooled = task.n_features, task.pooled
    matrix = empty_triangle(p + 1)
    matrix[:p, :p], matrix[:p, p:], matrix[p:, p:] = (
        np.triu(pooled.information),
        pooled.moment @ mix,
        mix.T @ pooled.squares @ mix,
    )
    n, nothing = pooled.n_samples, np.zeros(p + 1)
    held = Moments(p, 1, False, n, float(n), 0.0, nothing, nothing, matrix, matrix.diagonal().copy(), 0.0)
    return evidence_estimate(held, np.zeros((p, 1)))


def _oracle(task: SharedTask, mix: Array) -> Array:
    return task.pooled_solve(0.0, task.pooled.moment @ mix)


def _oracle_moment(task: SharedTask, scatter: Array) -> Array:
    """J⁺·cov(Xᵀy)·J⁺, and I less the projection on what the rows have seen."""
    factor = task.pooled_factor
    moment = factor.solve(factor.solve(scatter).T)
    if factor.upper is None:
        unseen = np.eye(len(scatter)) - factor.solve(task.pooled.information)
        moment = moment + unseen @ unseen.T
    return moment


def _vanilla(name: str, n_steps: int) -> Filter:
    """n_steps of gradient descent with the learning rate 1/γ_max: X_tᵀ·Σ_k (I − G/top)^k·r/top, G the square."""

    def applied(task: SharedTask, _: float) -> Applied:
        return partial(task.form.descend, 1.0 / task.top, n_steps) if task.top > 0.0 else np.zeros_like

    return Filter(name, applied)


def _matched(task: SharedTask, _: float) -> Applied:
    """Gradient descent whose learning-rate matrix makes it equal generalized ridge with H̃_t.

    With BᵀB = (Σ_{τ≤t} X_τᵀX_τ)⁺ and B·X_tᵀX_t·Bᵀ = V diag(c) Vᵀ, ridge takes the share c of the way in each direction;
    so do m steps with A_t = n_t·BᵀV diag(g) VᵀB, g = (1 − (1 − c)^{1/m})/c. Thm (early stopping), corrections row 10c.
    The steps are taken one by one.
    """
    factor = task.pooled_factor
    half = factor.half_solve(task.products)
    values, vectors = eigen(factor.half_solve(half.T))
    share = np.clip(values, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = -np.expm1(np.log1p(-share) / MATCHED_STEPS)
        rate = np.where(share > 0.0, moved / share, 1.0 / MATCHED_STEPS)
    rates = (vectors * rate) @ vectors.T
    moves = (vectors * moved) @ vectors.T

    def stepped(gradient: Array) -> Array:
        slope = factor.half_solve(gradient)
        total = np.zeros_like(slope)
        for _ in range(MATCHED_STEPS):
            total += slope
            slope = slope - moves @ slope
        return factor.half_solve_transposed(rates @ total)

    return stepped


def _best(task: SharedTask, noise_variance: float) -> float:
    return task.best_penalties[noise_variance]


NAMED: dict[str, Method] = {
    method.name: method
    for method in (
        _ridge("mn", lambda task, _: 0.0),
        _ridge("crr:best", _best, uses_noise=True),
        _ridge("crr:trace", _past_mean),
        _ridge("crr:max", _past_top, reduces_past=True),
        _ridge("crr:task-max", lambda task, _: task.top / task.n_samples),
        _ridge("crr:t-1", lambda task, _: task.number - 1.0),
        Update("gr", _generalized),
        Update("gr:optimal", _optimal, uses_noise=True),
        Update("gr:diagonal", _diagonal),
        _vanilla("es", VANILLA_STEPS),
        Update("es:gr", _matched),
        PooledMethod("gr:evidence", _evidence, uses_noise=True),
        PooledMethod("oracle", _oracle, _oracle_moment),
    )
}

DESCRIPTIONS = {
    "mn": "minimum norm: the least change that fits the task",
    "crr:λ": "continual ridge with a constant λ, as crr:0.5",
    "crr:λ1/λ2/…": "continual ridge with a schedule, one λ per task",
    "crr:t-1": "continual ridge, λ_t = t − 1",
    "crr:best": "continual ridge with the λ_t of least expected error at each step, one schedule per setting",
    "crr:trace": "continual ridge, λ_t = tr(H̃_t)/p",
    "crr:max": "continual ridge, λ_t = the largest eigenvalue of H̃_t",
    "crr:task-max": "continual ridge, λ_t = the largest eigenvalue of Σ_t",
    "gr": "generalized ridge with H̃_t, what the past knows",
    "gr:optimal": "generalized ridge with the optimal H_t, the prior σ²·I included",
    "gr:evidence": "generalized ridge with a prior learned from all rows so far: the optimum without knowing σ²",
    "gr:diagonal": "generalized ridge with the diagonal of H̃_t (elastic weight consolidation)",
    "es": f"early stopping, {VANILLA_STEPS} steps of 1/γ_max; es:M takes M steps",
    "es:gr": f"early stopping matched to gr, {MATCHED_STEPS} steps with a learning-rate matrix",
    "oracle": "least squares on all rows so far",
}
"""What a user may ask for, and what it is."""


def find_methods(names: str | Sequence[str], setting: Setting) -> tuple[Method, ...]:
    """Return the methods of these names (or of one text, with commas), or raise."""
    listed = names.split(",") if isinstance(names, str) else list(names)
    found = [_find(str(name).strip(), setting) for name in listed]
    if not found or len({method.name for method in found}) < len(found):
        raise InvalidParameterError(f"methods needs at least one name, each once; got {', '.join(map(str, listed))!r}.")
    first = min(setting.n_samples) if setting.order == "adversarial" else setting.n_samples[0]
    if first < 2 and NAMED["gr:evidence"] in found:
        raise InvalidParameterError(
            "gr:evidence needs two rows in the first task, since one cannot tell noise from signal; got 1."
        )
    return tuple(found)


def _find(name: str, setting: Setting) -> Method:
    if name in NAMED:
        return NAMED[name]
    kind, colon, argument = name.partition(":")
    if kind == "crr" and colon:
        penalties = _penalties(argument)
        if penalties is not None:
            if len(penalties) not in (1, setting.n_tasks):
                raise InvalidParameterError(
                    f"method {name!r} has {len(penalties)} penalties; give one, or one per task, {setting.n_tasks}."
                )
            return _ridge(name, lambda task, _: penalties[(task.number - 1) % len(penalties)])
    if kind == "es" and argument.isascii() and argument.isdigit() and int(argument) >= 1:
        return _vanilla(name, int(argument))
    close = difflib.get_close_matches(name, NAMED, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    raise InvalidParameterError(f"there is no method {name!r}.{hint} There are: {', '.join(DESCRIPTIONS)}.")


def _penalties(text: str) -> tuple[float, ...] | None:
    """Return the penalties ≥ 0 of λ or λ1/λ2/…, or None."""
    try:
        numbers = tuple(float(part) for part in text.split("/"))
    except ValueError:
        return None
    return numbers if all(0.0 <= number <= LARGEST for number in numbers) else None
