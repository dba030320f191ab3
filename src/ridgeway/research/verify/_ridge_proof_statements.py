"""Thm (ridge), the steps of its proof, which has a λ_t per task; corrections rows 8, 16, 22 and 34."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from ridgeway.research.verify._cases import OTHER_FACTORS
from ridgeway.research.verify._findings import Instances, Verdict, worst_case
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement

Regime = tuple[float, float, float]
"""n_1, n_2 and ε."""
Limit = Callable[[float, float, float], float]
"""(n_1, n_2, ε) → a limit on λ_2, up to a constant."""

PROOF, OPPOSITE = "n_1=n², n_2=n³", "n_1=n³, n_2=n²"
REGIMES: dict[str, Callable[[float], Regime]] = {
    PROOF: lambda n: (n**2, n**3, n**-0.5),
    OPPOSITE: lambda n: (n**3, n**2, n**-0.5),
}
"""That of the proof, in which the second task says more, and its opposite."""


@worst_case("largest relative gain of any other penalty", 0.0)
def _try_first_penalty(search: Search, form: Callable[[Fraction, Fraction, int], Fraction]) -> Instances:
    """Compare with other penalties of the first task, in direction 2, for w_*,2² = 1."""
    rng = search.generator()
    for _ in range(search.count(300, 20_000)):
        noise, n, inverse = (int(x) for x in rng.integers(1, 9, size=3))
        epsilon, variance = Fraction(1, inverse), Fraction(noise)
        penalty = form(variance, epsilon, n)
        tried = np.array([penalty, *(OTHER_FACTORS * penalty)])
        error, *others = (tried**2 + epsilon * variance / n) / (tried + epsilon) ** 2
        case = f"σ²={noise}, n_1={n}, ε={epsilon}: λ_1={penalty} gives {error}, λ_1={tried[2]} {others[1]}"
        yield float((error - min(others)) / error), noise + n + inverse, case


@worst_case("largest λ_2 that works, over the limit or under it", 5.0)
def _try_upper_limit(search: Search, limit: Limit, *, direction: int, regime: str = PROOF) -> Instances:
    """Find the largest λ_2 that at most triples the error of a direction."""
    for n in 10.0 ** np.arange(2, search.count(9, 16)):
        n_1, n_2, epsilon = REGIMES[regime](n)
        # docs/ridge-gap.md, eq. (1): r = 1 + (b/A)((μ − A)/(μ + b))² = 3, solved for μ = n_2λ_2.
        before, new = ((1 + n_1, epsilon * n_2), (1 + epsilon * n_1, n_2))[direction - 1]
        root = np.sqrt(2 * before / new)
        largest = (before + root * new) / (1 - root) / n_2 if root < 1 else np.inf
        over = largest / limit(n_1, n_2, epsilon)
        found = f"{regime}, n={n:.0g}: λ_2={largest:.2g} still works, {over:.3g} times the limit"
        yield float(max(over, 1 / over)), n, found


def _smallest(n_1: float, n_2: float, epsilon: float) -> list[float]:
    """Return the smallest λ_2 that at most triples the error of each direction; docs/ridge-gap.md, eq. (1)."""
    found = []
    for before, new in ((1 + n_1, epsilon * n_2), (1 + epsilon * n_1, n_2)):
        root = np.sqrt(2 * before / new)
        found.append(max(0.0, (before - root * new) / (1 + root) / n_2))
    return found


@worst_case("largest lower limit over the smallest λ_2 that works", 10.0)
def _try_lower_limits(search: Search, limits: Callable[[float, float, float], list[float]]) -> Instances:
    for n in 10.0 ** np.arange(2, search.count(7, 10)):
        for words, regime in REGIMES.items():
            pairs = zip(limits(*regime(n)), _smallest(*regime(n)), strict=True)
            for j, (limit, least) in enumerate(pairs, start=1):
                over = limit / least if least else float("inf") if limit else 0.0
                yield over, n, f"{words}, ε=n^−½, n={n:.0g}: direction {j} needs λ_2 ≥ {least:.3g}, not {limit:.3g}"


def _lower_printed(n_1: float, n_2: float, epsilon: float) -> list[float]:
    share = np.sqrt(epsilon * n_2 / (n_1 + epsilon * n_2))
    return [float(epsilon * (1 - share) / share), float(np.sqrt((epsilon * n_1 + n_2) / n_2) - 1)]


def _lower(n_1: float, n_2: float, epsilon: float) -> list[float]:
    pairs = ((1 + n_1, epsilon * n_2), (1 + epsilon * n_1, n_2))
    return [float(np.sqrt(before * new) / n_2) if new < before else 0.0 for before, new in pairs]


def _limit_first(n_1: float, n_2: float, epsilon: float) -> float:
    total = n_1 + epsilon * n_2
    share = np.sqrt(n_1 / total)
    return float(share * (1 + share) * total / n_2)  # εs/(1 − s), without the cancellation in 1 − s


def _limit_printed(n_1: float, n_2: float, epsilon: float) -> float:
    return float(np.sqrt(1 / (epsilon * n_1 + n_2)))


def _limit(n_1: float, n_2: float, epsilon: float) -> float:
    return float(np.sqrt((1 + epsilon * n_1) / (epsilon * n_1 + n_2)))


_try_second = partial(_try_upper_limit, direction=2)

STATEMENTS = {
    "ridge-first-penalty": Statement(
        row="8",
        where="Thm (ridge), proof",
        claim="the optimal λ_1 for coordinate 2 is σ²/(εn_1)",
        correction="σ²/n_1, the same as for coordinate 1",
        recorded=Verdict.CORRECTED,
        printed=Claim(lambda noise, epsilon, n: noise / (epsilon * n), _try_first_penalty),
        corrected=Claim(lambda noise, epsilon, n: noise / n, _try_first_penalty),
    ),
    "ridge-lower-limits": Statement(
        row="16",
        where="Thm (ridge), proof",
        claim="each direction needs λ_2 of at least a certain order, in the proof's regime too",
        correction="only a direction about which the second task says less than the past needs λ_2 ≳ √(A_jb_j)/n_2",
        recorded=Verdict.FAILS,
        printed=Claim(_lower_printed, _try_lower_limits),
        corrected=Claim(_lower, _try_lower_limits),
    ),
    "ridge-upper-limit": Statement(
        row="34",
        where="Thm (ridge), proof, read for any n_1, n_2 and ε",
        claim="coordinate 1 needs λ_2 of at most the order of εs/(1 − s), s = √(n_1/(n_1 + εn_2))",
        correction="if the second task says more about it than the past, as in the proof; otherwise λ_2 = ∞ works",
        recorded=Verdict.READING,
        printed=Claim(_limit_first, partial(_try_upper_limit, direction=1, regime=OPPOSITE)),
        corrected=Claim(_limit_first, partial(_try_upper_limit, direction=1)),
    ),
    "ridge-second-penalty": Statement(
        row="22",
        where="Thm (ridge), proof",
        claim="coordinate 2 needs λ_2 of at most the order of √(1/(εn_1 + n_2))",
        correction="√((1 + εn_1)/(εn_1 + n_2)): the first task has already brought its error down to 1/(1 + εn_1)",
        recorded=Verdict.CORRECTED,
        printed=Claim(_limit_printed, _try_second),
        corrected=Claim(_limit, _try_second),
    ),
}
