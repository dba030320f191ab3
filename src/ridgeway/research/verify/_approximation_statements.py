"""Thm (approx): what penalties near the optimum may cost; corrections rows 5, 6 and 7."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ridgeway._checks import Array
from ridgeway.research.verify._findings import Instances, Verdict, worst_case
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement

ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class Approximation:
    """The parts of the theorem that differ between the printed and the corrected form.

    Attributes
    ----------
    denominator : callable of (σ², e⁽⁰⁾, information) → D
    ratio : callable of (γ, n_t, D before, D after) → ρ
    reference : callable of (D of eq. (lambda), σ², error before) → n_tλ, what Δ is measured against
    bound : callable of (C, σ², D) → the bound on the error
    least_constant : float
        The smallest C that is allowed.
    limits : callable of (C, ρ) → how far the share γ/(λ̃ + γ) may lie below and above the reference
    """

    denominator: Callable[[Array, Array, Array], Array]
    ratio: Callable[[Array, Array, Array, Array], Array]
    reference: Callable[[Array, Array, Array], Array]
    bound: Callable[[Array, Array, Array], Array]
    least_constant: float
    limits: Callable[[Array, Array], tuple[Array, Array]]


def room(constant: Array | float, ratio: Array) -> Array:
    """Return the right side of eq. (sensitivity), C(C−1)ρ²/((1+ρ)(1+Cρ)²).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.research.verify import room
    >>> room(1.0, np.array([0.5, 2.0]))  # C = 1 leaves none
    array([0., 0.])
    >>> room(1e9, np.array([0.5, 2.0])).round(6)  # 1/(1 + ρ) at most
    array([0.666667, 0.333333])
    """
    return np.asarray(constant * (constant - 1) * ratio**2 / ((1 + ratio) * (1 + constant * ratio) ** 2))


def _printed_limits(constant: Array, ratio: Array) -> tuple[Array, Array]:
    """Return eq. (sensitivity) as limits on ∓γΔ."""
    limit = np.sqrt(np.maximum(room(constant, ratio), 0.0))
    return limit, limit


def _limits(constant: Array, ratio: Array) -> tuple[Array, Array]:
    """Return ρ(R ∓ (C−1))/((1+ρ)(1+Cρ)), R = √(C(C−1)(1+ρ))."""
    more = np.maximum(constant - 1, 0.0)
    root = np.sqrt(constant * more * (1 + ratio))
    scale = ratio / ((1 + ratio) * (1 + constant * ratio))
    return scale * (root - more), scale * (root + more)


CORRECTED = Approximation(
    denominator=lambda noise, initial, information: noise / initial + information,
    ratio=lambda gamma, n, before, after: n * gamma / before,
    reference=lambda optimal, noise, error: optimal,
    bound=lambda constant, noise, denominator: constant * noise / denominator,
    least_constant=1.0,
    limits=_limits,
)
PRINTED = Approximation(
    denominator=lambda noise, initial, information: initial + information,
    ratio=lambda gamma, n, before, after: gamma / before,
    reference=lambda optimal, noise, error: optimal,
    bound=lambda constant, noise, denominator: constant / denominator,
    least_constant=0.0,
    limits=_printed_limits,
)
ONE_STEP = replace(CORRECTED, reference=lambda optimal, noise, error: noise / error, limits=_printed_limits)
"""What the proof shows: Δ is measured against the one-step optimum for the error that the run really has."""


@dataclass(frozen=True, eq=False)
class Edge:
    """Many problems of one direction, run with penalties at the edge of the condition, and error over bound, (T, N)."""

    noise: Array
    initial: Array
    constant: Array
    information: Array
    ratios: Array

    def describe(self, i: int, last: int) -> str:
        """Return problem i in words, up to a task."""
        tasks = ", ".join(f"{x:.3g}" for x in self.information[: last + 1, i])
        return (
            f"σ²={self.noise[i]:.3g}, e⁽⁰⁾={self.initial[i]:.3g}, C={self.constant[i]:.3g}, nγ=({tasks}): "
            f"error {self.ratios[last, i]:.3g} times the bound"
        )


def at_the_edge(rng: np.random.Generator, n_problems: int, n_tasks: int, form: Approximation) -> Edge:
    """Run problems of one direction with penalties at the edge of the condition; the first one has no information.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.research.verify import STATEMENTS, at_the_edge
    >>> for form in STATEMENTS["approx"].forms:  # printed, corrected
    ...     found = at_the_edge(np.random.default_rng(0), 100, n_tasks=5, form=form)
    ...     print(bool(found.ratios.max() <= 1.0 + 1e-9))  # error over bound
    False
    True
    """
    noise, initial = np.exp(rng.normal(0, 1, (2, n_problems)))
    constant = 1 + np.exp(rng.normal(-1, 1, n_problems))
    sizes = rng.integers(1, 50, size=(n_tasks, n_problems)).astype(np.float64)
    gamma = np.exp(rng.normal(0, 2, (n_tasks, n_problems))) / sizes
    noise[0], initial[0], constant[0], gamma[:, 0] = 1.0, 1.0, max(0.5, form.least_constant), 0.0
    signs = rng.choice([-1.0, 1.0], size=(n_tasks, n_problems))
    error, information = initial, np.zeros(n_problems)
    ratios = np.empty((n_tasks, n_problems))
    for t in range(n_tasks):
        new = sizes[t] * gamma[t]
        before = form.denominator(noise, initial, information)
        after = form.denominator(noise, initial, information + new)
        rho = form.ratio(gamma[t], sizes[t], before, after)
        reference = form.reference(noise / initial + information, noise, error)
        best = new / (reference + new)
        below, above = form.limits(constant, rho)
        step = np.where(signs[t] < 0, -below, above)
        # A share outside [0, 1] has no penalty; 0 or 1 is closer to the reference, so the condition still holds.
        share = np.clip(best + step, 0.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = (1 - share) ** 2 * error + share**2 * noise / new
        error = np.where(new > 0, moved, error)
        information = information + new
        ratios[t] = error / form.bound(constant, noise, after)
    return Edge(noise, initial, constant, sizes * gamma, ratios)


@worst_case("largest error over its bound", ROUNDING)
def _try_bound(search: Search, form: Approximation) -> Instances:
    rng = search.generator()
    for _ in range(search.count(1, 50)):
        edge = at_the_edge(rng, 20_000, 30, form)
        first = np.argmax(edge.ratios > ROUNDING, axis=0)
        for i, worst in enumerate(edge.ratios.max(axis=0).tolist()):
            simple = abs(np.log(edge.noise[i])) + abs(np.log(edge.initial[i]))
            yield worst, 100 * first[i] + simple, edge.describe(i, first[i]) if worst > ROUNDING else ""


_about_bound = partial(
    Statement,
    where="Thm (approx)",
    recorded=Verdict.CORRECTED,
    corrected=Claim(CORRECTED, _try_bound),
)
"""A statement about the bound; most differ only in the printed form."""

STATEMENTS = {
    "approx": _about_bound(
        row="5–7",
        claim="penalties that meet eq. (sensitivity) cost at most a factor C",
        correction="with D_j, ρ_j and the limits on γΔ_j as in rows 5 to 7: 𝓛 ≤ C·Σ_j σ²/D_j(t)",
        printed=Claim(PRINTED, _try_bound),
    ),
    "approx-proof": _about_bound(
        where="Thm (approx), proof",
        row="5–7",
        claim="with Δ_j against the one-step optimum σ²/(n_t·E[e_j⁽ᵗ⁻¹⁾]), the last inequality keeps the bound",
        correction="with D_j and ρ_j as in rows 5 and 6",
        printed=Claim(replace(PRINTED, reference=ONE_STEP.reference), _try_bound),
        corrected=Claim(ONE_STEP, _try_bound),
    ),
    "approx-bound": _about_bound(
        row="5",
        claim="the bound is C/(e_j⁽⁰⁾ + Σγn), for some C > 0",
        correction="Σ_j C·σ²/D_j(t) with D_j(t) = σ²/e_j⁽⁰⁾ + Σγn, and C ≥ 1",
        printed=Claim(
            replace(CORRECTED, denominator=PRINTED.denominator, bound=PRINTED.bound, least_constant=0.0), _try_bound
        ),
    ),
    "approx-ratio": _about_bound(
        row="6",
        claim="ρ_j⁽ᵗ⁾ = γ_j⁽ᵗ⁾/D_j(t−1), without n_t",
        correction="ρ_j⁽ᵗ⁾ = n_tγ_j⁽ᵗ⁾/D_j(t−1)",
        printed=Claim(replace(CORRECTED, ratio=PRINTED.ratio), _try_bound),
    ),
    "approx-ratio-proof": _about_bound(
        where="Thm (approx), proof",
        row="6",
        claim="ρ_j⁽ᵗ⁾ = n_tγ_j⁽ᵗ⁾/D_j(t), over the sum up to t",
        correction="over the sum up to t−1",
        printed=Claim(replace(CORRECTED, ratio=lambda gamma, n, before, after: n * gamma / after), _try_bound),
    ),
    "approx-reference": _about_bound(
        row="7",
        claim="with Δ against the penalties of eq. (lambda), eq. (sensitivity) limits |γΔ|",
        correction="with limits of its own on each side: −ρ(R − (C−1)) ≤ (1+ρ)(1+Cρ)·γΔ ≤ ρ(R + (C−1)), "
        "R = √(C(C−1)(1+ρ)), which is (λ̃ − λ)² ≤ (1 − 1/C)·λ(λ + γ)",
        printed=Claim(replace(CORRECTED, limits=_printed_limits), _try_bound),
    ),
}
