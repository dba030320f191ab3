"""The methods that simulations know, on shared factors, and how a name or a policy becomes a form."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ridgeway._checks import Array, scheduled
from ridgeway.catalogue import Method, register, resolve
from ridgeway.errors import InvalidParameterError
from ridgeway.kernels import eigen
from ridgeway.linalg import empty_triangle, tolerance
from ridgeway.research.simulation._draws import population_top
from ridgeway.research.simulation._factor import Factor
from ridgeway.research.simulation._forms import Applied, Filter, Form, PolicyMethod, PooledMethod, Update
from ridgeway.research.simulation._setting import Setting
from ridgeway.research.simulation._shared_task import SharedTask

Penalty = Callable[[SharedTask, float], float]

MATCHED_STEPS = 10
BEST = "crr:best"


def _ridge(name: str, penalty: Penalty, *, uses_noise: bool = False, reduces_past: bool = False) -> Filter:
    def applied(task: SharedTask, noise_variance: float) -> Applied:
        shift = task.n_samples * penalty(task, noise_variance)
        return partial(task.form.solve, shift, tolerance=tolerance(len(task.square)))

    return Filter(name, applied, reduces_past, uses_noise=uses_noise)


def _past_mean(task: SharedTask, _: float) -> float:
    """λ_t = tr(H̃_t)/p."""
    return float(np.diagonal(task.past.information).mean()) / task.n_samples


def _past_top(task: SharedTask, _: float) -> float:
    """λ_t = the largest eigenvalue of H̃_t."""
    return 0.0 if task.number == 1 else task.past.form.top / task.n_samples


def _task_top(task: SharedTask, _: float) -> float:
    """λ_t = the largest eigenvalue of Σ_t."""
    return task.top / task.n_samples


def _lambda_top(task: SharedTask, noise_variance: float) -> float:
    """λ_t = the largest λ_j of eq. (lambda), with the population's eigenvalues and e⁽⁰⁾ = 1."""
    return (noise_variance + population_top(task.design.earlier)) / task.n_samples


def _best(task: SharedTask, noise_variance: float) -> float:
    """λ_t of least expected error, computed before."""
    return task.best_penalties[noise_variance]


def _scheduled(name: str, penalty: float | tuple[float, ...]) -> Filter:
    """λ_t as given, the same for all tasks or one per task."""
    return _ridge(name, lambda task, _: scheduled(penalty, task.number, "penalty"))


def _generalized(name: str, prior: float) -> Update:
    """n_tH_t = Σ_{τ<t} X_τᵀX_τ + prior·I, so that X_tᵀX_t + n_tH_t is the pooled sum and the prior."""
    return Update(name, lambda task, _: partial(task.pooled_solve, prior))


def _optimal(task: SharedTask, noise_variance: float) -> Applied:
    """H_t with the prior σ²·E[w_*w_*ᵀ]⁻¹ = σ²I; Sec. "A Practical Algorithm", corrections row 2."""
    return partial(task.pooled_solve, noise_variance)


def _diagonal(task: SharedTask, noise_variance: float) -> Applied:
    """H_t = diag(H̃_t): elastic weight consolidation (EWC)."""
    if task.number == 1:
        return partial(task.pooled_solve, 0.0)
    return Factor(task.products + np.diag(np.diagonal(task.past.information))).solve


def _evidence(task: SharedTask, mix: Array) -> Array:
    """H_t with the prior λI that makes all rows so far most probable: `weights.Accumulated("evidence")`."""
    from ridgeway.information import Moments, evidence_estimate  # imports scipy.optimize, which no other method needs

    p, pooled = task.n_features, task.pooled
    matrix = empty_triangle(p + 1)
    matrix[:p, :p] = np.triu(pooled.information)
    matrix[:p, p:], matrix[p:, p:] = pooled.moment @ mix, mix.T @ pooled.squares @ mix
    n, diagonal = pooled.n_samples, matrix.diagonal().copy()
    nothing = Moments.empty(p, 1, centered=False)
    held = replace(nothing, n_samples=n, total_weight=float(n), matrix=matrix, peak=diagonal)
    return evidence_estimate(held, np.zeros((p, 1)))


def _oracle(task: SharedTask, mix: Array) -> Array:
    return task.pooled_solve(0.0, task.pooled.moment @ mix)


def _oracle_moment(task: SharedTask, scatter: Array) -> Array:
    """J⁺·cov(Xᵀy)·J⁺, plus I minus the projection on the row space."""
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
    m steps do the same with A_t = n_t·BᵀV diag(g) VᵀB, g = (1 − (1 − c)^{1/m})/c. Thm (early stopping), corrections row
    10c.
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


FORMS: dict[str, Callable[[str, Any], Form]] = {
    "mn": lambda name, _: _ridge(name, lambda task, _: 0.0),
    "crr": lambda name, policy: _scheduled(name, policy.penalty),
    "es": lambda name, policy: _vanilla(name, policy.n_steps),
    "gr": lambda name, policy: _generalized(name, policy.prior),
}
"""The forms of policies that share factors, by `Method.rule`: functions of the key and the policy."""
POOLED = {
    "gr:evidence": PooledMethod("gr:evidence", _evidence, uses_noise=True),
    "oracle": PooledMethod("oracle", _oracle, _oracle_moment),
}
"""The forms of methods without a gain, by `Method.rule`."""

for _form, _about in (
    (_ridge(BEST, _best, uses_noise=True), "continual ridge with the λ_t of least expected error at each step"),
    (_ridge("crr:trace", _past_mean), "continual ridge, λ_t = tr(H̃_t)/p"),
    (_ridge("crr:max", _past_top, reduces_past=True), "continual ridge, λ_t = the largest eigenvalue of H̃_t"),
    (_ridge("crr:task-max", _task_top), "continual ridge, λ_t = the largest eigenvalue of Σ_t"),
    (
        _ridge("crr:lambda-max", _lambda_top, uses_noise=True),
        "continual ridge, λ_t = the largest λ_j of eq. (lambda) with the population's eigenvalues and e⁽⁰⁾ = 1",
    ),
    (_ridge("crr:t-1", lambda task, _: task.number - 1.0), "continual ridge, λ_t = t − 1"),
    (Update("gr:optimal", _optimal, uses_noise=True), "generalized ridge with the optimal H_t, whose prior is σ²·I"),
    (Update("gr:diagonal", _diagonal), "generalized ridge with the diagonal of H̃_t: elastic weight consolidation"),
    (Update("es:gr", _matched), f"early stopping matched to gr: {MATCHED_STEPS} steps with a learning-rate matrix"),
):
    register(_form.name, _form, about=_about)


def forms_of(methods: str | Sequence[Any], setting: Setting) -> tuple[Form, ...]:
    """Return the forms of names, policies and forms for a setting, or raise."""
    return tuple(_form_of(method, setting) for method in resolve(methods))


def _form_of(method: Method, setting: Setting) -> Form:
    if isinstance(method.simulated, Form):
        return replace(method.simulated, name=method.key)
    if method.rule in POOLED:
        first = min(setting.n_samples) if setting.order == "adversarial" else setting.n_samples[0]
        if method.rule == "gr:evidence" and first < 2:
            raise InvalidParameterError(
                "gr:evidence needs two rows in the first task: one row cannot tell noise from signal."
            )
        return replace(POOLED[method.rule], name=method.key)
    if method.policy is None:
        raise InvalidParameterError(
            f"method {method.key!r} cannot be simulated: it has no gain that depends on the designs alone. Pass a "
            "weights.DesignPolicy, or a form of research.simulation."
        )

    policy = method.policy()
    n_penalties = np.size(policy.penalty) if method.rule == "crr" else 1
    if n_penalties not in (1, setting.n_tasks):
        raise InvalidParameterError(
            f"method {method.key!r} has {n_penalties} penalties; pass one, or one per task, {setting.n_tasks}."
        )
    return FORMS.get(method.rule, PolicyMethod)(method.key, policy)
