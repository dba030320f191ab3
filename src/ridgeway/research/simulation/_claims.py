"""The claims of the paper's experiments section, and the verdict of the simulation on each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ridgeway._checks import Array
from ridgeway.research.simulation._population import CLOSED_FORMS
from ridgeway.research.simulation._results import Results

TRIED = ("crr:0.01", "crr:0.1", "crr:1", "crr:10", "crr:t-1", "crr:best", "crr:trace", "crr:max", "crr:task-max")
"""The choices of λ_t that are tried, since the paper does not give its own."""
LAMBDA_MAX, SCALED = "crr:lambda-max", "crr:1 (scaled)"
"""Candidates that a search for choices that show the printed claims has found; the second scales the shift."""
RULES = (*TRIED, LAMBDA_MAX, SCALED)

CONSTANT, WORSE = 2.0, 1.5
"""The largest ratio between "nearly constant" errors; the smallest ratio that counts as "worse"."""
STRICT = 1.5
"""The value of CONSTANT before the errors had been seen; the page says what depends on the change."""
FEW = 5
"""The number of the first task after "the first tasks"."""
CLEAR = 4.0
"""A difference counts if it exceeds this many standard errors."""
LOW, HIGH = 1.0, 5.0


class Outcome(StrEnum):
    """The verdict on a claim."""

    REPRODUCED = "reproduced"
    LATER = "reproduced after the first tasks"
    NOT_REPRODUCED = "not reproduced"
    DEPENDS = "depends on the unstated λ_t"


@dataclass(frozen=True, eq=False)
class Evidence:
    """The runs without and with the covariate shift, both at σ² = 1 and 5, and `crr:1` with the scaled shift."""

    plain: Results
    shifted: Results
    scaled: Results

    def crr(self, rule: str, level: float = LOW) -> tuple[Array, Array]:
        """Return the errors of continual ridge without and with a shift, both of shape (R, T)."""
        if rule == SCALED:
            return self.plain.of("crr:1", level), self.scaled.of("crr:1", level)
        return self.plain.of(rule, level), self.shifted.of(rule, level)

    def all(self, method: str) -> list[tuple[str, Array]]:
        """Return the errors of a method in each of the four settings, of shape (R, T), with a label for the setting."""
        return [
            (f"{words}, σ² = {level:g}", results.of(method, level))
            for words, results in (("no shift", self.plain), ("shift", self.shifted))
            for level in (LOW, HIGH)
        ]


@dataclass(frozen=True)
class Finding:
    """The verdict on a claim, and the numbers behind it.

    Examples
    --------
    >>> from ridgeway.research.simulation import Finding
    >>> found = Finding("reproduced", "error of GR over that of the oracle: 1.00")
    >>> print(f"{found.outcome} ({found.measured})")
    reproduced (error of GR over that of the oracle: 1.00)
    """

    outcome: Outcome
    measured: str


@dataclass(frozen=True)
class ExperimentClaim:
    """A sentence of the paper, and the function that judges it.

    Examples
    --------
    >>> from ridgeway.research import simulation
    >>> setting = simulation.Setting(n_tasks=3, n_samples=5, n_features=8)
    >>> found = simulation.run(setting, ["gr", "oracle"], repetitions=2)
    >>> def judge(results):
    ...     same = abs(results.of("gr") - results.of("oracle")).max() < 1e-9
    ...     return simulation.Finding("reproduced" if same else "not reproduced", "2 runs")
    >>> simulation.ExperimentClaim("GR equals the oracle.", "1", judge).judge(found).outcome
    'reproduced'
    """

    text: str
    figure: str
    judge: Callable[[Evidence], Finding]


def mean_and_error(values: Array) -> tuple[float, float]:
    """Return the mean over repetitions and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def said(values: Array) -> str:
    """Return a mean with its standard error in parentheses."""
    mean, error = mean_and_error(values)
    return f"{mean:.3g} ({error:.1g})"


def _clearly_above(one: Array, two: Array) -> bool:
    """Return whether the first mean is larger, in the same repetitions, by more than chance."""
    mean, error = mean_and_error(one - two)
    return mean > CLEAR * error


def _spread(errors: Array) -> float:
    """Return the largest over the smallest mean error."""
    means = errors.mean(axis=0)
    return float(means.max() / means.min())


def _falls(evidence: Evidence, rule: str) -> bool:
    """Return whether the error without a shift ends below half of its start and never clearly rises."""
    errors, _ = evidence.crr(rule)
    rises = any(_clearly_above(errors[:, t + 1], errors[:, t]) for t in range(errors.shape[1] - 1))
    return bool(errors[:, -1].mean() < 0.5 * errors[:, 0].mean()) and not rises


def _by_rule(shows: Callable[[Evidence, str], bool]) -> Callable[[Evidence], Finding]:
    """Return the judge of a claim about continual ridge, which asks whether each rule for λ_t shows it."""

    def judge(evidence: Evidence) -> Finding:
        yes = [rule for rule in RULES if shows(evidence, rule)]
        no = [rule for rule in RULES if rule not in yes]
        outcome = Outcome.DEPENDS if yes and no else Outcome.REPRODUCED if yes else Outcome.NOT_REPRODUCED
        parts = [f"{label}: {', '.join(rules)}" for label, rules in (("shown by", yes), ("not shown by", no)) if rules]
        return Finding(outcome, "; ".join(parts))

    return judge


def _decided(holds: bool, measured: str) -> Finding:
    return Finding(Outcome.REPRODUCED if holds else Outcome.NOT_REPRODUCED, measured)


def _minimum_norm_constant(evidence: Evidence) -> Finding:
    errors = {level: evidence.plain.of("mn", level) for level in (LOW, HIGH)}
    always, later = (all(_spread(found[:, first:]) <= CONSTANT for found in errors.values()) for first in (0, FEW - 1))
    parts = [
        f"σ² = {level:g}: {said(found[:, 0])} at t = 1, {said(found[:, FEW - 1])} at t = {FEW}, "
        f"{said(found[:, -1])} at the end; largest over smallest {_spread(found):.1f}, "
        f"from t = {FEW} {_spread(found[:, FEW - 1 :]):.2f}"
        for level, found in errors.items()
    ]
    outcome = Outcome.REPRODUCED if always else Outcome.LATER if later else Outcome.NOT_REPRODUCED
    return Finding(outcome, ". ".join(parts))


def _minimum_norm_noise(evidence: Evidence) -> Finding:
    mn, low = _ends(evidence.plain, "mn", HIGH), _ends(evidence.plain, "mn").mean()
    ends = {other: _ends(evidence.plain, other, HIGH) for other in (*TRIED, LAMBDA_MAX, "gr")}
    largest = max(ends, key=lambda other: float(ends[other].mean()))
    measured = (
        f"σ² = 5, at the end: mn {said(mn)}, {mn.mean() / low:.1f} times that at σ² = 1; gr {said(ends['gr'])}; "
        f"second largest {largest}, {said(ends[largest])}"
    )
    return _decided(all(_clearly_above(mn, end) for end in ends.values()), measured)


def _ends(results: Results, method: str, level: float = LOW) -> Array:
    return results.of(method, level)[:, -1]


def _is_worse(evidence: Evidence, rule: str) -> bool:
    """Return whether the shift makes the error at the end larger; the two runs have different designs."""
    (two, b), (one, a) = (mean_and_error(errors[:, -1]) for errors in evidence.crr(rule))
    return one / two >= WORSE and one - two > CLEAR * np.hypot(a, b)


def _is_inferior(evidence: Evidence, rule: str) -> bool:
    return _clearly_above(evidence.crr(rule)[0][:, -1], _ends(evidence.plain, "gr"))


def _is_worse_and_constant(evidence: Evidence, rule: str) -> bool:
    return _is_worse(evidence, rule) and _spread(evidence.crr(rule)[1]) <= CONSTANT


def constant_rules(evidence: Evidence) -> dict[str, float]:
    """Return the rules with which a shift makes CRR worse and its error about constant, and largest over smallest."""
    return {rule: _spread(evidence.crr(rule)[1]) for rule in RULES if _is_worse_and_constant(evidence, rule)}


def rule_rows(evidence: Evidence) -> list[tuple[str, ...]]:
    """Return, for each rule, its name, its first and last errors without and with the shift, and their ratio."""
    rows = []
    for rule in RULES:
        runs = evidence.crr(rule)
        plain, shifted = (errors[:, -1].mean() for errors in runs)
        rows.append((rule, *(said(errors[:, t]) for errors in runs for t in (0, -1)), f"{shifted / plain:.2f}"))
    return rows


def furthest_from_exact(plain: Results) -> float:
    """Return the largest distance of a mean error of MN or GR from its expectation, in standard errors of the mean."""
    distances = []
    for level in (LOW, HIGH):
        for method in ("mn", "gr"):
            errors = plain.of(method, level)
            expected = CLOSED_FORMS[method](plain.description.setting, level)
            spread = errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
            distances.append(float(np.max(np.abs(errors.mean(axis=0) - expected) / spread)))
    return max(distances)


def _generalized_falls(evidence: Evidence) -> Finding:
    runs = evidence.all("gr")
    means = [errors.mean(axis=0) for _, errors in runs]
    holds = all((np.diff(mean) < 0.0).all() for mean in means)
    parts = [f"{words}: {said(errors[:, 0])} to {said(errors[:, -1])}" for words, errors in runs]
    return _decided(holds, "falls at every task. " + "; ".join(parts) if holds else "; ".join(parts))


def _generalized_oracle(evidence: Evidence) -> Finding:
    pairs = zip(evidence.all("gr"), evidence.all("oracle"), strict=True)
    gap = max(float((np.abs(a - b) / b).max()) for (_, a), (_, b) in pairs)
    return _decided(gap <= 1e-9, f"even more: equal at every task of every repetition, to a relative {gap:.0e}")


def _no_harm(evidence: Evidence) -> Finding:
    pairs = zip(evidence.all("gr"), evidence.all("gr:optimal"), strict=True)
    ratios = {words: float(a[:, -1].mean() / b[:, -1].mean()) for (words, a), (_, b) in pairs}
    parts = [f"{words}: {ratio:.3f}" for words, ratio in ratios.items()]
    return _decided(max(ratios.values()) <= 1.1, "error over that of the optimum, at the end: " + "; ".join(parts))


CLAIMS: Sequence[ExperimentClaim] = (
    ExperimentClaim("The error of MN remains nearly constant as t increases.", "1", _minimum_norm_constant),
    ExperimentClaim("A higher noise level makes MN perform worse than the other methods.", "1", _minimum_norm_noise),
    ExperimentClaim("A covariate shift makes CRR worse.", "2", _by_rule(_is_worse)),
    ExperimentClaim("Without a shift CRR exhibits a decreasing loss.", "2", _by_rule(_falls)),
    ExperimentClaim("Without a shift CRR is inferior to GR.", "2", _by_rule(_is_inferior)),
    ExperimentClaim(
        "With a shift CRR deteriorates significantly, and its error is about constant.",
        "2",
        _by_rule(_is_worse_and_constant),
    ),
    ExperimentClaim("GR consistently has a decreasing error, in each case.", "1, 2", _generalized_falls),
    ExperimentClaim("The error of GR eventually converges to that of the oracle.", "1, 2", _generalized_oracle),
    ExperimentClaim("That empirical covariances do not commute does not harm GR.", "1, 2", _no_harm),
)
