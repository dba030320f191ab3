"""Thm (approx): what penalties near the optimum may cost; corrections rows 5, 6, 7, 21, 25 and 33."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from ridgeway._checks import Array
from ridgeway.research.theory import CommutingProblem
from ridgeway.research.verify._findings import Instances, Verdict, worst_case
from ridgeway.research.verify._library import LibraryCheck
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
    room : float
        A factor on the right side of eq. (sensitivity).
    """

    denominator: Callable[[Array, Array, Array], Array]
    ratio: Callable[[Array, Array, Array, Array], Array]
    reference: Callable[[Array, Array, Array], Array]
    bound: Callable[[Array, Array, Array], Array]
    least_constant: float
    room: float = 1.0


CORRECTED = Approximation(
    denominator=lambda noise, initial, information: noise / initial + information,
    ratio=lambda gamma, n, before, after: n * gamma / before,
    reference=lambda optimal, noise, error: noise / error,
    bound=lambda constant, noise, denominator: constant * noise / denominator,
    least_constant=1.0,
)
PRINTED = Approximation(
    denominator=lambda noise, initial, information: initial + information,
    ratio=lambda gamma, n, before, after: gamma / before,
    reference=lambda optimal, noise, error: optimal,
    bound=lambda constant, noise, denominator: constant / denominator,
    least_constant=0.0,
)


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
        step = signs[t] * np.sqrt(np.maximum(form.room * room(constant, rho), 0.0))
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


@worst_case("largest relative step in the wrong direction", 1e-12)
def _try_remark(search: Search, turning: Callable[[float], float]) -> Instances:
    """Check that the right side of eq. (sensitivity) rises in ρ up to the turning point and then falls."""
    for constant in np.linspace(1.01, 20, search.count(100, 5000)).tolist():
        turn = turning(constant)
        rising = np.geomspace(1e-3, min(turn, 1e3), 400)
        falling = np.geomspace(turn, 1e3 * turn, 400) if np.isfinite(turn) else np.ones(1)
        up, down = room(constant, rising), room(constant, falling)
        drops, rises = 1 - up[1:] / up[:-1], down[1:] / down[:-1] - 1
        first = rising[1 + int(np.argmax(drops > 1e-12))]
        where = f"C={constant:.3g}: ρ={first:.3g} requires more accuracy than a smaller ρ"
        yield float(max(drops.max(), rises.max(initial=-1.0))), constant, where


@worst_case("largest step towards a smaller room, relative to it", 1e-9)
def _try_accuracy(search: Search, measured: Callable[[Array, Array], Array]) -> Instances:
    """Follow how far λ̃_j may lie below λ_j as ρ grows, for γ_j = 1: then λ_j = 1/ρ, and the best share is ρ/(1+ρ)."""
    ratio = np.geomspace(1e-3, 1e3, 400)
    for constant in np.linspace(1.01, 20, search.count(100, 5000)).tolist():
        share = np.minimum(ratio / (1 + ratio) + np.sqrt(room(constant, ratio)), 1.0)
        allowed = measured(1 / ratio, 1 / share - 1)
        yield float((1 - allowed[1:] / allowed[:-1]).max()), constant, f"C={constant:.3g}: a larger ρ leaves less room"


@worst_case("largest ρ after many tasks", 0.02)
def _try_small_ratio(search: Search, growth: tuple[float, ...]) -> Instances:
    """Follow ρ over 200 tasks whose information grows by a factor from task to task, σ²/e⁽⁰⁾ = 1."""
    for factor in growth:
        information = factor ** np.arange(200.0)
        ratio = information[-1] / (1 + information[:-1].sum())
        yield float(ratio), factor, f"n_tγ⁽ᵗ⁾ = {factor:g}^t: ρ = {ratio:.3g} after 200 tasks"


Run = tuple[CommutingProblem, Array]
"""A problem, and penalties for it."""


def _runs(search: Search) -> Iterator[Run]:
    """Yield penalties near the optimum, at it, and at 0 and ∞, in problems with unseen and with known directions."""
    rng = search.generator()
    for number in range(search.count(60, 800)):
        n_tasks, p = rng.integers(1, 4, size=2).tolist()
        gamma = np.exp(rng.normal(0, 1, (n_tasks, p))) * (rng.random((n_tasks, p)) < 0.8)
        initial = np.exp(rng.normal(size=p)) * (1.0 if number % 4 else rng.random(p) < 0.7)
        noise = float(np.exp(rng.normal()))
        problem = CommutingProblem(
            gamma, rng.integers(1, 9, size=n_tasks), noise_variance=noise, initial_errors=initial
        )
        factors = np.exp(rng.normal(0, 0.4, gamma.shape))
        special = rng.random(gamma.shape)
        factors = np.select([special < 0.05, special < 0.1, special < 0.2], [0.0, np.inf, 1.0], factors)
        with np.errstate(invalid="ignore"):
            yield problem, np.nan_to_num(factors * problem.optimal_penalties(), nan=1.0, posinf=np.inf)


def _smallest_constants(run: Run) -> list[float]:
    """Return the smallest C of Thm (approx) by bisection of eq. (sensitivity), for every task so far."""
    problem, penalties = run
    worst, found = 1.0, []
    with np.errstate(divide="ignore", invalid="ignore"):
        error, before = problem.initial_errors, problem.noise_variance / problem.initial_errors
        for gamma, n, held in zip(problem.eigenvalues, problem.n_samples, penalties, strict=True):
            best = problem.noise_variance / (n * error)
            one, two = (np.where(gamma > 0, 1 / (1 + x / gamma), 0.0) for x in (held, best))
            for distance, rho in zip((one - two) ** 2, n * gamma / before, strict=True):
                worst = max(worst, _bisected(float(distance), float(rho)))
            error = np.where(gamma > 0, (1 - one) ** 2 * error + one**2 * problem.noise_variance / (n * gamma), error)
            before = before + n * gamma
            found.append(worst)
    return found


def _bisected(distance: float, rho: float) -> float:
    """Return the least C ≥ 1 with distance ≤ room(C, ρ), or ∞; `room` grows with C."""
    if distance < 1e-28:
        return 1.0
    low, high = 1.0, 1e12
    if rho == 0 or distance > room(high, np.array(rho)):
        return float("inf")
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if distance <= room(middle, np.array(rho)) else (middle, high)
    return high


def _turning_point(constant: float) -> float:
    return float((1 + np.sqrt(1 + 8 * constant)) / (2 * constant))


MUTATIONS: dict[str, dict[Literal["printed", "corrected"], Approximation]] = {
    "room × 1.1": {"corrected": replace(CORRECTED, room=1.1)},
    "dropped σ²": {"corrected": replace(CORRECTED, bound=PRINTED.bound)},
}
_about_bound = partial(
    Statement,
    where="Thm (approx)",
    recorded=Verdict.CORRECTED,
    corrected=Claim(CORRECTED, _try_bound),
    mutations=MUTATIONS,
)
"""A statement about the bound; most differ only in the printed form."""

STATEMENTS = {
    "approx": _about_bound(
        row="5–7",
        claim="penalties that meet eq. (sensitivity) cost at most a factor C",
        correction="with D_j, ρ_j and Δ_j as in rows 5 to 7: 𝓛 ≤ C·Σ_j σ²/D_j(t)",
        printed=Claim(PRINTED, _try_bound),
        library=(
            LibraryCheck(
                "approximation_constant",
                _runs,
                lambda run: run[0].approximation_constant(run[1]).constant,
                _smallest_constants,
            ),
            LibraryCheck(
                "approximation_constant.holds",
                _runs,
                lambda run: run[0].approximation_constant(run[1]).holds,
                lambda run: np.isfinite(_smallest_constants(run)),
            ),
        ),
    ),
    "approx-bound": _about_bound(
        row="5",
        claim="the bound is C/(e_j⁽⁰⁾ + Σγn), for some C > 0",
        correction="Σ_j C·σ²/D_j(t) with D_j(t) = σ²/e_j⁽⁰⁾ + Σγn, and C ≥ 1",
        printed=Claim(
            replace(CORRECTED, denominator=PRINTED.denominator, bound=PRINTED.bound, least_constant=0.0), _try_bound
        ),
        mutations={"C > 0": {"corrected": replace(CORRECTED, least_constant=0.0)}, **MUTATIONS},
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
        claim="Δ is measured against the penalties of eq. (lambda)",
        correction="against the one-step optimum σ²/(n_t·E[e_j⁽ᵗ⁻¹⁾]) for the actual error of the run",
        printed=Claim(replace(CORRECTED, reference=PRINTED.reference), _try_bound),
    ),
    "approx-small-ratio": Statement(
        where="Thm (approx), remark, read for any tasks",
        row="25",
        claim="ρ is of order o(1)",
        correction="for tasks of about equal size as t grows; it stays at 1 if the tasks double in size",
        recorded=Verdict.READING,
        printed=Claim((0.5, 1.0, 2.0), _try_small_ratio),
        corrected=Claim((0.5, 1.0), _try_small_ratio),
        mutations={"tasks that grow by 5 %": {"corrected": (1.0, 1.05)}},
    ),
    "approx-remark": Statement(
        where="Thm (approx), remark, read for any ρ",
        row="21",
        claim="a larger ρ loosens the requirement on the penalties",
        correction="for small ρ, as the remark assumes: up to ρ = (1 + √(1 + 8C))/(2C); beyond that it tightens again",
        recorded=Verdict.READING,
        printed=Claim(lambda constant: float("inf"), _try_remark),
        corrected=Claim(_turning_point, _try_remark),
        mutations={
            "turning point × 1.1": {"corrected": lambda constant: 1.1 * _turning_point(constant)},
            "turning point ÷ 1.1": {"corrected": lambda constant: _turning_point(constant) / 1.1},
        },
    ),
    "approx-accuracy": Statement(
        where="Thm (approx), remark, read as the distance of λ̃_j from λ_j",
        row="33",
        claim="a larger ρ loosens the requirement on the accuracy of λ̃_j",
        correction="as a share of λ_j, by which λ̃_j may fall short; |λ̃_j − λ_j| must become smaller, like 1/ρ at first",
        recorded=Verdict.READING,
        printed=Claim(lambda optimal, least: optimal - least, _try_accuracy),
        corrected=Claim(lambda optimal, least: 1 - least / optimal, _try_accuracy),
        mutations={"relative to λ̃_j + 1": {"corrected": lambda optimal, least: (optimal - least) / (least + 1)}},
    ),
}
