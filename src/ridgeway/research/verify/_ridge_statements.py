"""Thm (ridge): how far continual ridge can fall behind, in both of its readings; corrections rows 9 and 23.

docs/ridge-gap.md has the proofs.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ridgeway._checks import Array
from ridgeway.research.theory import ridge_gap
from ridgeway.research.verify._findings import Instances, Trial, Verdict, worst_case
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement

Gap = Callable[[float, float, float], float]
"""(n_1, n_2, ε) → inf over the penalties of 𝓛(CRR)/𝓛(GR)."""
Pair = tuple[float, float]

CEILING = 2.0
"""With a penalty per task, the ratio of the printed family stays below this."""
REACH = np.linspace(-25.0, 80.0, 4201)
"""log(n·λ) on the grids below."""


class TwoTasks(NamedTuple):
    """What two tasks say about each direction, n_tγ_j⁽ᵗ⁾, and the errors before them; σ² = 1."""

    first: tuple[float, ...]
    second: tuple[float, ...]
    initial: tuple[float, ...]


def printed_family(n_1: float, n_2: float, epsilon: float, initial_errors: Pair = (1.0, 1.0)) -> float:
    """Return the ratio of Thm (ridge) for Σ_1 = diag(1, ε), Σ_2 = diag(ε, 1), σ² = 1 and a penalty per task."""
    return ridge_gap([n_1, epsilon * n_1], [epsilon * n_2, n_2], initial_errors)


def repaired_family(m: float) -> float:
    """Return the ratio for n_1Σ_1 = diag(m, 1) and n_2Σ_2 = diag(√m, m), σ² = 1 and a penalty per task."""
    return ridge_gap([m, 1.0], [np.sqrt(m), m], [1.0, 1.0])


def _errors_after(information: Array, penalties: Array, errors: Array) -> Array:
    """Return eq. (error_iter) times what σ² = 1 leaves of it; penalties are n_tλ, in a column."""
    held = 1 / (1 + information / penalties)
    return held**2 * errors + information * (held / penalties) ** 2


def one_penalty(tasks: TwoTasks) -> float:
    """Return inf over one λ for both tasks, n_1 = n_2, of 𝓛(CRR)/𝓛(GR), by a grid that is refined around its best."""
    first, second, initial = (np.array(values) for values in tasks)
    points = REACH
    for _ in range(3):
        held = np.exp(points)[:, np.newaxis]
        totals = _errors_after(second, held, _errors_after(first, held, initial)).sum(axis=1)
        best = int(np.argmin(totals))
        points = np.linspace(points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)], 201)
    return float(totals.min() / (1 / (1 / initial + first + second)).sum())


def _swapped(n: float, initial_errors: Pair) -> TwoTasks:
    """Return n_1 = n_2 = n, ε = n^−½."""
    return TwoTasks((n, n**0.5), (n**0.5, n), initial_errors)


def _try_one_penalty(search: Search, gap: Callable[[float, Pair], float]) -> Trial:
    """Compare with √(e_1 + e_2)·n^¼ for several parameters, and take the slowest growth from n = 10⁸ on."""
    powers = np.arange(8.0, 8.0 + 2 * search.count(4, 7), 2)
    slopes, words = [], ""
    for initial in ((1.0, 1.0), (1.0, 0.01), (9.0, 4.0)):
        ratios = np.array([gap(10.0**power, initial) for power in powers])
        slopes.append(np.diff(np.log10(ratios)).min() / 2)
        limit = np.sqrt(sum(initial)) * 10.0 ** (powers[-1] / 4)
        words += (
            f"w_*² = {initial}: {ratios[-1]:.4g} at n = 10^{powers[-1]:.0f}, {ratios[-1] / limit:.3f} of the limit. "
        )
    measure = "smallest power of n in the growth"
    return Trial(measure, float(min(slopes)), 0.24, 3 * len(powers), words.strip(), at_least=True)


def _try_supremum(search: Search, gap: Gap) -> Trial:
    """Search for the largest ratio from many random starts, with n_1, n_2 up to 10¹⁶ and ε down to 10⁻¹⁰."""
    rng = search.generator()
    low, high = np.array([0.0, 0.0, -10.0]), np.array([16.0, 16.0, 0.0])
    regime = np.array([[2 * k, 3 * k, -k / 2] for k in range(1, 5)])  # that of the proof, n = 10^k
    starts = np.vstack([regime, rng.uniform(low, high, size=(search.count(80, 20_000), 3))])
    values = [gap(*10.0**start) for start in starts]
    tried = len(values)
    best, point = max(zip(values, starts.tolist(), strict=True))
    reach = 4.0
    while reach > 0.01:
        others = np.clip(point + reach * rng.normal(size=(20, 3)), low, high)
        found = [gap(*10.0**other) for other in others]
        tried += len(found)
        if max(found) > best:
            best, point = max(zip(found, others.tolist(), strict=True))
        else:
            reach /= 1.5
    n_1, n_2, epsilon = (f"{10.0**x:.2g}" for x in point)
    where = f"the largest ratio found is {best:.6g}, at n_1={n_1}, n_2={n_2}, ε={epsilon}"
    return Trial("largest ratio found", best, CEILING, tried, where, at_least=True)


def _try_growth(search: Search, gap: Callable[[float], float]) -> Trial:
    """Measure the smallest power of m with which the ratio grows."""
    powers = np.arange(4.0, 4.0 + 2 * search.count(5, 9), 2)
    ratios = np.array([gap(10.0**power) for power in powers])
    slopes = np.diff(np.log10(ratios)) / np.diff(powers)
    found = f"from {ratios[0]:.4g} at m = 10^{powers[0]:.0f} to {ratios[-1]:.4g} at m = 10^{powers[-1]:.0f}"
    return Trial("smallest power of m in the growth", float(slopes.min()), 0.24, len(powers), found, at_least=True)


@worst_case("largest ratio over what is allowed", 1.0)
def _try_other_parameters(search: Search, allowed: Callable[[float, float], float]) -> Instances:
    """Try coordinates of w_* that differ, down to 0 in the second."""
    rng = search.generator()
    for n in (1e3, 1e6, 1e9):
        gap = printed_family(n, 1.0, 0.5 * n ** (-1 / 3), (1.0, 0.0))
        yield gap / allowed(1.0, 0.0), np.log10(n), f"w_*=(1, 0), n_1={n:.0g}, n_2=1, ε=n_1^−⅓/2: {gap:.4g}"
    for _ in range(search.count(8, 1500)):
        initial = tuple(10.0 ** rng.uniform(-2, 2, size=2))
        n_1, n_2, epsilon = 10.0 ** rng.uniform([0, 0, -8], [8, 8, 0])
        gap = printed_family(n_1, n_2, epsilon, initial)
        case = f"w_*²=({initial[0]:.3g}, {initial[1]:.3g}), n_1={n_1:.3g}, n_2={n_2:.3g}, ε={epsilon:.3g}: {gap:.4g}"
        yield gap / allowed(*initial), 20.0, case


def _by_their_ratio(first: float, second: float) -> float:
    """Return R(1 + √κ), R = (κ + 1)²/(4κ), κ the ratio of the squares; ∞ if one is 0."""
    if min(first, second) == 0:
        return float("inf")
    ratio = max(first, second) / min(first, second)
    return float((ratio + 1) ** 2 / (4 * ratio) * (1 + np.sqrt(ratio)))


class OneTask(NamedTuple):
    """What a task says about each direction, n·γ_j, and the errors before it; σ² = 1."""

    information: tuple[float, ...]
    errors: tuple[float, ...]


def _best_in_one(task: OneTask) -> float:
    information, errors = np.array(task.information), np.array(task.errors)
    points = REACH
    for _ in range(4):
        totals = _errors_after(information, np.exp(points)[:, np.newaxis], errors).sum(axis=1)
        best = int(np.argmin(totals))
        points = np.linspace(points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)], 201)
    return float(totals.min())


@worst_case("largest 𝓛(GR) over that of the best continual ridge", 1 - 1e-9)
def _try_heterogeneous(search: Search, form: Callable[[Array], Array]) -> Instances:
    """Compare one λ for all directions with the optimum, in a task whose past speaks of the directions differently."""
    rng = search.generator()
    for _ in range(search.count(50, 1000)):
        p = int(rng.integers(2, 5))
        task = OneTask(tuple(np.exp(rng.normal(size=p))), tuple(form(np.exp(rng.normal(0, 2, p)))))
        optimum = sum(1 / (1 / error + known) for known, error in zip(*task, strict=True))
        yield optimum / _best_in_one(task), p, task


STATEMENTS = {
    "heterogeneity": Statement(
        where="Sec. Continual Ridge Regression",
        claim="if the errors of the directions differ, one λ for all of them is not optimal",
        printed=Claim(lambda errors: errors, _try_heterogeneous),
    ),
    "ridge": Statement(
        row="9",
        where="Thm (ridge), read with one λ for both tasks",
        claim="sup over n_1, n_2, ε of inf over λ of 𝓛(CRR)/𝓛(GR) = ∞ for Σ_1 = diag(1, ε), Σ_2 = diag(ε, 1)",
        printed=Claim(lambda n, initial: one_penalty(_swapped(n, initial)), _try_one_penalty),
    ),
    "ridge-per-task": Statement(
        row="9",
        where="Thm (ridge), read with a λ_t per task",
        claim="sup over n_1, n_2, ε of inf over λ_1, λ_2 of 𝓛(CRR)/𝓛(GR) = ∞ for Σ_1 = diag(1, ε), Σ_2 = diag(ε, 1)",
        correction="it is 2, not attained; with n_1Σ_1 = diag(m, 1), n_2Σ_2 = diag(√m, m) it grows like m^¼/√2",
        recorded=Verdict.READING,
        printed=Claim(printed_family, _try_supremum),
        corrected=Claim(repaired_family, _try_growth),
    ),
    "ridge-parameter": Statement(
        row="23",
        where="Thm (ridge), proof, read with a λ_t per task",
        claim="w_*,1² = w_*,2² = 1 without loss of generality",
        correction="the ratio is unbounded for w_* = (1, 0), and at most R(1 + √κ) if both coordinates are nonzero",
        recorded=Verdict.READING,
        printed=Claim(lambda first, second: CEILING, _try_other_parameters),
        corrected=Claim(_by_their_ratio, _try_other_parameters),
    ),
}
