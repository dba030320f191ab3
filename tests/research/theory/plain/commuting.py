"""Functions of `CommutingProblem`, and their values without it, in rational arithmetic where they have any."""

from fractions import Fraction

import numpy as np
from research.theory.library_check import LibraryCheck

from ridgeway.research.theory import CommutingProblem
from ridgeway.research.verify import STATEMENTS
from ridgeway.research.verify._adaptive_statements import optimal_penalties, schedule
from ridgeway.research.verify._cases import cases
from ridgeway.research.verify._exact import exact, solve
from ridgeway.research.verify._remark_statements import ENDLESS, FADING
from ridgeway.research.verify._ridge_proof_statements import _smallest
from ridgeway.research.verify._ridge_statements import REACH, TwoTasks, _errors_after

SMALL, LARGE = Fraction(1, 10**30), Fraction(10**30)
"""Penalties that are 0 and ∞ up to rounding."""

with_rank = STATEMENTS["min-norm"].corrected.form
rates = STATEMENTS["es-corollary"].printed.form


def few_cases(search):
    return cases(search, 15, 15)


def problem_of(case):
    """Return the case as a problem of the library."""
    eigenvalues, initial = case.eigenvalues.astype(np.float64), case.initial_errors.astype(np.float64)
    noise = float(case.noise_variance)
    return CommutingProblem(eigenvalues, case.n_samples, noise_variance=noise, initial_errors=initial)


def extreme_penalties(search):
    rng = search.generator()
    for case in few_cases(search):
        choices = exact([Fraction(1, 3), 1, 7, SMALL, LARGE])
        yield case, choices[rng.integers(5, size=(case.n_tasks, case.n_directions))]


def in_the_library(settings):
    case, penalties = settings
    limits = {SMALL: 0.0, LARGE: np.inf}
    return problem_of(case).direction_errors([[limits.get(x, float(x)) for x in row] for row in penalties])


def known_direction(case):
    """Return the case with one more direction, in which nothing is left to learn."""
    problem = problem_of(case)
    gamma = np.column_stack([problem.eigenvalues, np.ones(case.n_tasks)])
    initial = [*problem.initial_errors, 0.0]
    return CommutingProblem(gamma, case.n_samples, noise_variance=problem.noise_variance, initial_errors=initial)


def penalties_with_known_direction(case):
    return np.column_stack([schedule(case, optimal_penalties)[0].astype(np.float64), np.full(case.n_tasks, np.inf)])


def bounds(case):
    """Return the bound after each task of a case; 0 if it says nothing."""
    rows = case.eigenvalues.astype(np.float64)
    noise = float(case.noise_variance)
    return [
        with_rank(noise, n, row[row > 0]) if row.any() else 0.0 for n, row in zip(case.n_samples, rows, strict=True)
    ]


def oracle_prefixes(case):
    """Return the oracle's exact error after each task, NaN while it is singular."""
    errors = []
    for t in range(1, case.n_tasks + 1):
        rows = np.vstack(case.designs[:t])
        seen = (case.loadings[:t] != 0).any(axis=0).all()
        inverse = solve(rows.T @ rows, np.eye(case.n_directions, dtype=object)) if seen else None
        errors.append(float("nan") if inverse is None else float(case.noise_variance * np.trace(inverse)))
    return errors


def library_ratio(decay):
    tasks = np.arange(1.0, 51.0)
    problem = CommutingProblem(decay(tasks)[:, np.newaxis], np.ones(50), initial_errors=[1.0])
    return problem.optimal_error() / problem.oracle_error()


def error_at_limit(regime):
    """Return the errors of both directions at their smallest λ_2, relative to the optimum, from the library."""
    n_1, n_2, epsilon = regime
    problem = CommutingProblem([[1.0, epsilon], [epsilon, 1.0]], [n_1, n_2], initial_errors=[1.0, 1.0])
    optimal = problem.optimal_penalties()
    best = problem.direction_errors(optimal)[-1]
    return [
        float(problem.direction_errors([optimal[0], [least, least]])[-1, j] / best[j])
        for j, least in enumerate(_smallest(*regime))
    ]


def gap_in_library(tasks):
    """Return the ratio with one λ for both tasks, by `direction_errors` at the best penalty of a grid."""
    first, second, initial = (np.array(values) for values in tasks)
    problem = CommutingProblem(np.array([first, second]), [1, 1], initial_errors=initial)
    points = np.exp(REACH[1000:2500:10])
    errors = [problem.direction_errors(point)[-1].sum() for point in points]
    return float(min(errors) / problem.optimal_error()[-1])


def gap_on_grid(tasks):
    first, second, initial = (np.array(values) for values in tasks)
    points = np.exp(REACH[1000:2500:10])[:, np.newaxis]
    errors = _errors_after(second, points, _errors_after(first, points, initial)).sum(axis=1)
    return float(errors.min() / (1 / (1 / initial + first + second)).sum())


CHECKS = [
    LibraryCheck(
        "direction_errors",
        extreme_penalties,
        in_the_library,
        lambda setting: setting[0].direction_errors(setting[1]),
    ),
    LibraryCheck(
        "optimal_penalties",
        few_cases,
        lambda case: known_direction(case).optimal_penalties(),
        penalties_with_known_direction,
    ),
    LibraryCheck(
        "optimal_error",
        few_cases,
        lambda case: known_direction(case).optimal_error(),
        lambda case: schedule(case, optimal_penalties)[1].sum(axis=1),
    ),
    LibraryCheck(
        "oracle_error",
        few_cases,
        lambda case: problem_of(case).oracle_error(),
        oracle_prefixes,
    ),
    LibraryCheck(
        "optimal_error over oracle_error",
        lambda search: [*ENDLESS.values(), *FADING.values()],
        library_ratio,
        lambda decay: 1 - 1 / (1 + np.cumsum(decay(np.arange(1.0, 51.0)))),
    ),
    LibraryCheck("minimum_norm_bound", few_cases, lambda case: problem_of(case).minimum_norm_bound(), bounds),
    LibraryCheck(
        "optimal_learning_rates",
        lambda search: [(problem_of(case), 1 + number % 4) for number, case in enumerate(few_cases(search))],
        lambda case: case[0].optimal_learning_rates(case[1]),
        lambda case: rates(*case),
    ),
    LibraryCheck(
        "direction_errors at the limit",
        lambda search: [(n**3, n**2, n**-0.5) for n in (1e2, 1e4)],
        error_at_limit,
        lambda regime: [3.0, 3.0],
    ),
    LibraryCheck(
        "direction_errors and optimal_error",
        lambda search: [TwoTasks((n, n**0.5), (n**0.5, n), (1.0, 2.0)) for n in (1e2, 1e4, 1e6)],
        gap_in_library,
        gap_on_grid,
    ),
]
