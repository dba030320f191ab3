"""What Thm (approx) allows, and its values by bisection."""

import numpy as np
from research.theory.library_check import LibraryCheck

from ridgeway.research.theory import CommutingProblem
from ridgeway.research.verify import room


def runs(search):
    """Yield penalties near the optimum, at it, and at 0 and ∞, in problems with unseen and with known directions."""
    rng = search.generator()
    for number in range(60):
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


def smallest_constants(run):
    """Return the smallest C of Thm (approx) by bisection of eq. (sensitivity), for every task so far."""
    problem, penalties = run
    worst, found = 1.0, []
    with np.errstate(divide="ignore", invalid="ignore"):
        error, before = problem.initial_errors, problem.noise_variance / problem.initial_errors
        for gamma, n, held in zip(problem.eigenvalues, problem.n_samples, penalties, strict=True):
            best = problem.noise_variance / (n * error)
            one, two = (np.where(gamma > 0, 1 / (1 + x / gamma), 0.0) for x in (held, best))
            for distance, rho in zip((one - two) ** 2, n * gamma / before, strict=True):
                worst = max(worst, bisected(float(distance), float(rho)))
            error = np.where(gamma > 0, (1 - one) ** 2 * error + one**2 * problem.noise_variance / (n * gamma), error)
            before = before + n * gamma
            found.append(worst)
    return found


def bisected(distance, rho):
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


def constants(search):
    rng = search.generator()
    for problem, _ in runs(search):
        yield problem, 1.0 + float(rng.choice([0.0, 0.1, 1.0, 30.0]))


def allowed_penalties(instance):
    """Return the least and the largest penalty that keep a step within the bound, by bisection of the error itself."""
    problem, constant = instance
    limits = np.empty((2, *problem.eigenvalues.shape))
    with np.errstate(divide="ignore"):
        before = problem.noise_variance / problem.initial_errors
    for t, (gamma, n) in enumerate(zip(problem.eigenvalues, problem.n_samples, strict=True)):
        for j, (denominator, information) in enumerate(zip(before, n * gamma, strict=True)):
            limits[:, t, j] = step_limits(float(denominator), float(information), constant)
            limits[:, t, j] /= n
        before = before + n * gamma
    return limits


def step_limits(denominator, information, constant):
    """Return nλ̃, the least and the largest, that take an error of C/D to at most C/(D + nγ), σ² = 1."""
    if information == 0:
        return 0.0, np.inf
    if np.isinf(denominator) or constant == 1:
        return denominator, denominator

    def excess(penalty):
        after = constant * penalty**2 / denominator + information
        return after * (denominator + information) / constant - (penalty + information) ** 2

    ends = []
    for outside in (0.0, 4 * (denominator + information)):
        inside = denominator
        for _ in range(200 if excess(outside) > 0 else 0):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if excess(middle) <= 0 else (inside, middle)
        ends.append(outside)
    return ends[0], ends[1]


CHECKS = [
    LibraryCheck(
        "penalty_range",
        constants,
        lambda instance: instance[0].penalty_range(instance[1]),
        allowed_penalties,
    ),
    LibraryCheck(
        "approximation_constant",
        runs,
        lambda run: run[0].approximation_constant(run[1]).constant,
        smallest_constants,
    ),
    LibraryCheck(
        "approximation_constant.holds",
        runs,
        lambda run: run[0].approximation_constant(run[1]).holds,
        lambda run: np.isfinite(smallest_constants(run)),
    ),
]
