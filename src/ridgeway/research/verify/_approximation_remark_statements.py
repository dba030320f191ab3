"""Remarks on Thm (approx): what a larger ρ does to its condition; corrections rows 21, 25 and 33."""

from collections.abc import Callable

import numpy as np

from ridgeway._checks import Array
from ridgeway.research.verify._approximation_statements import room
from ridgeway.research.verify._findings import Instances, Verdict, worst_case
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement


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


def _turning_point(constant: float) -> float:
    return float((1 + np.sqrt(1 + 8 * constant)) / (2 * constant))


STATEMENTS = {
    "approx-small-ratio": Statement(
        where="Thm (approx), remark, read for any tasks",
        row="25",
        claim="ρ is of order o(1)",
        correction="for tasks of about equal size as t grows; it stays at 1 if the tasks double in size",
        recorded=Verdict.READING,
        printed=Claim((0.5, 1.0, 2.0), _try_small_ratio),
        corrected=Claim((0.5, 1.0), _try_small_ratio),
    ),
    "approx-remark": Statement(
        where="Thm (approx), remark, read for any ρ",
        row="21",
        claim="a larger ρ loosens the requirement on the penalties",
        correction="for small ρ, as the remark assumes: up to ρ = (1 + √(1 + 8C))/(2C); beyond that it tightens again",
        recorded=Verdict.READING,
        printed=Claim(lambda constant: float("inf"), _try_remark),
        corrected=Claim(_turning_point, _try_remark),
    ),
    "approx-accuracy": Statement(
        where="Thm (approx), remark, read as the distance of λ̃_j from λ_j",
        row="33",
        claim="a larger ρ loosens the requirement on the accuracy of λ̃_j",
        correction="as a share of λ_j, by which λ̃_j may fall short; |λ̃_j − λ_j| must become smaller, like 1/ρ at first",
        recorded=Verdict.READING,
        printed=Claim(lambda optimal, least: optimal - least, _try_accuracy),
        corrected=Claim(lambda optimal, least: 1 - least / optimal, _try_accuracy),
    ),
}
