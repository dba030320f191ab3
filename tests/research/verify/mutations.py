"""Negative controls: for each statement the forms ("printed", "corrected") that a mutation replaces.

Every mutation must change the verdict.
"""

from dataclasses import replace
from fractions import Fraction
from operator import getitem

import numpy as np

from ridgeway.research.verify import STATEMENTS
from ridgeway.research.verify._adaptive_statements import Optimum, closed_form, denominators, optimal_penalties
from ridgeway.research.verify._exact import diagonal, exact, identity, solve
from ridgeway.research.verify._experiment_statements import Course
from ridgeway.research.verify._outlook_statements import Offsets
from ridgeway.research.verify._pooled_statements import Consolidation
from ridgeway.research.verify._ridge_statements import TwoTasks, one_penalty
from ridgeway.weights import Accumulated

error_iter, _ = STATEMENTS["recursion"].printed.form
fixed, random_signs = STATEMENTS["optimal-matrix"].forms
_, iteration = STATEMENTS["iteration"].forms
_, turning_point = STATEMENTS["approx-remark"].forms
printed_approximation, approximation = STATEMENTS["approx"].forms
_, one_step = STATEMENTS["approx-proof"].forms
_, explicit = STATEMENTS["explicit-form"].forms
_, ratio_of_alike_tasks = STATEMENTS["ridge-alike"].forms
_, falls = STATEMENTS["generalized-falls"].forms
equivalence, _ = STATEMENTS["early-stopping"].forms
inside, _ = STATEMENTS["early-stopping-range"].forms
shared_eigenvectors, any_eigenvectors = STATEMENTS["early-stopping-any-matrix"].forms
rates, _ = STATEMENTS["es-corollary"].forms
ridges, candidates = STATEMENTS["experiment-shift"].forms
penalty, _ = STATEMENTS["extension"].forms
printed_bound, with_rank = STATEMENTS["min-norm"].forms
hessian, _ = STATEMENTS["other-losses"].forms
_, few = STATEMENTS["other-losses-few-rows"].forms
limit, _ = STATEMENTS["negative-transfer"].forms
oracle_error, _ = STATEMENTS["oracle"].forms
accumulated, _ = STATEMENTS["practical"].forms
_, endless = STATEMENTS["asymptotics"].forms
_, lower_limits = STATEMENTS["ridge-lower-limits"].forms
_, upper_limit = STATEMENTS["ridge-upper-limit"].forms
_, second_limit = STATEMENTS["ridge-second-penalty"].forms
printed_family, repaired_family = STATEMENTS["ridge-per-task"].forms
_, by_their_ratio = STATEMENTS["ridge-parameter"].forms


def stronger(case, task, errors):
    return np.asarray(optimal_penalties(case, task, errors) * Fraction(11, 10))


def without_sample_size(case, task, errors):
    return np.asarray(denominators(case)[task])


def unit_prior(case):
    return np.asarray(case.noise_variance / (denominators(case)[1:] - case.noise_variance / case.initial_errors + 1))


def wider(form):
    """Return a form that allows a distance 1.05 times as large."""

    def limits(constant, ratio):
        below, above = form.limits(constant, ratio)
        return 1.05 * below, 1.05 * above

    return replace(form, limits=limits)


def pooled_error(one):
    return one.problem.expected_error(Accumulated())


def level(tasks):
    """Return σ²p/(p − n − 1), to which the error of minimum norm tends."""
    return tasks.noise_variance * tasks.p / (tasks.p - tasks.n - 1)


def information_diagonal(k):
    yield [identity(2), (1 + k**2) * identity(2)]


def unweighted_error(tasks):
    """Return the same with the mean of δ_t, whatever the tasks say."""
    mean = np.asarray(sum(tasks.offsets)) / Fraction(len(tasks.offsets))
    return Fraction(tasks.noise_variance * np.trace(tasks.pooled()[0]) + np.square(mean).sum())


def limit_of_noncentrality(tasks):
    """Return where κ = δᵀ(J⁻¹ + J_t⁻¹)⁻¹δ/σ² is 1, with J and δ of the past; the same only for p = 1."""
    past = Offsets(tasks.designs[:-1], tasks.offsets[:-1], tasks.noise_variance)
    inverse, pull = past.pooled()
    last = tasks.designs[-1]
    spread = inverse + solve(last.T @ last, identity(last.shape[1]))
    apart = inverse @ pull
    return Fraction(tasks.noise_variance / (apart @ solve(spread, apart)))


def larger_prior(case, task, errors):
    more = case.noise_variance / case.initial_errors / (10 * case.n_samples[task])
    return np.asarray(optimal_penalties(case, task, errors) + more)


OF_THE_BOUND = {
    "limits × 1.05": {"corrected": wider(approximation)},
    "dropped σ²": {"corrected": replace(approximation, bound=printed_approximation.bound)},
}

MUTATIONS = {
    "recursion": {
        "swapped sign": {"printed": (lambda g, p, e, s: e - error_iter(g, p, e, s), getitem)},
        "dropped n_t": {"printed": (error_iter, lambda counts, task: 1)},
    },
    "sample-size": {
        "all rows so far for n_t": {"corrected": (error_iter, lambda counts, task: sum(counts[: task + 1]))}
    },
    "minimiser": {"penalties × 1.1": {"printed": stronger}, "dropped n_t": {"printed": without_sample_size}},
    "minimiser-proof": {"penalties × 1.1": {"corrected": stronger}},
    "optimal-matrix": {"signs that go together": {"corrected": lambda case: (fixed(case) + random_signs(case)) / 2}},
    "closed-form": {
        "penalties × 1.1": {"printed": Optimum(stronger, closed_form)},
        "dropped n_t": {"printed": Optimum(without_sample_size, closed_form)},
        "1 for σ²/e": {"printed": Optimum(optimal_penalties, unit_prior)},
    },
    "order": {"penalties × 1.1": {"printed": stronger}, "dropped n_t": {"printed": without_sample_size}},
    "iteration": {"swapped sign": {"corrected": lambda e, gamma, noise: -iteration(e, gamma, noise)}},
    "approx-small-ratio": {"tasks that grow by 5 %": {"corrected": (1.0, 1.05)}},
    "approx-remark": {
        "turning point × 1.1": {"corrected": lambda constant: 1.1 * turning_point(constant)},
        "turning point ÷ 1.1": {"corrected": lambda constant: turning_point(constant) / 1.1},
    },
    "approx-accuracy": {"relative to λ̃_j + 1": {"corrected": lambda optimal, least: (optimal - least) / (least + 1)}},
    "approx": OF_THE_BOUND,
    "approx-proof": {"limits × 1.05": {"corrected": wider(one_step)}},
    "approx-bound": {"C > 0": {"corrected": replace(approximation, least_constant=0.0)}, **OF_THE_BOUND},
    "approx-ratio": OF_THE_BOUND,
    "approx-ratio-proof": OF_THE_BOUND,
    "approx-reference": OF_THE_BOUND,
    "forgetting-small": {"half as large": {"corrected": lambda errors: float(errors[:-1].mean()) / 2}},
    "oracle-out-of-reach": {"the same past": {"corrected": 1.0}, "a prior in print": {"printed": 0.1}},
    "min-norm-floor": {"rows that grow like √t": {"corrected": 0.5}},
    "min-norm-noise": {"a larger error": {"corrected": 0.1}},
    "min-norm-past": {"a past without error": {"printed": 0.0}, "bound × 1.1": {"corrected": 1.1}},
    "explicit-form": {
        "1.1 times as large in print": {"printed": lambda problem: 1.1 * explicit(problem)},
        "1.1 times as large": {"corrected": lambda problem: 1.1 * explicit(problem)},
    },
    "ridge-alike": {
        "a penalty per task": {"printed": lambda n: printed_family(n, n, n**-0.5)},
        "one λ after a hundred tasks": {"corrected": lambda n_tasks: ratio_of_alike_tasks(min(n_tasks, 100.0))},
    },
    "min-norm-forgetting": {
        "a fifth of the threshold": {"corrected": lambda tasks: tasks.signal < level(tasks) / 5},
        "five times the threshold": {"corrected": lambda tasks: tasks.signal < 5 * level(tasks)},
    },
    "generalized-falls": {
        "without noise": {"corrected": lambda tasks, rows: falls(tasks._replace(noise_variance=1e-9), rows)},
        "a quarter as many rows as features": {"printed": 0.25},
        "a rise up to p only": {"corrected": lambda tasks, rows: rows > tasks.p},
    },
    "early-stopping": {
        "penalties × 1.1": {"printed": lambda g, s, m: Fraction(11, 10) * equivalence(g, s, m)},
        "one step more": {"printed": lambda g, s, m: equivalence(g, s, m + 1)},
    },
    "early-stopping-range": {
        "any s > 0": {"printed": lambda step, m: step > 0},
        "sγ up to 1.1": {"corrected": lambda step, m: step <= Fraction(11, 10)},
    },
    "early-stopping-any-matrix": {
        "one step more": {"printed": lambda sigma, a, m: shared_eigenvectors(sigma, a, m + 1)},
        "direction by direction": {"corrected": shared_eigenvectors},
        "H × 1.1": {"corrected": lambda sigma, a, m: 1.1 * any_eigenvectors(sigma, a, m)},
    },
    "vanilla": {"equal eigenvalues": {"printed": Fraction(1)}},
    "vanilla-never": {"sγ below 3/2": {"corrected": lambda step, m: inside(step, m) and step < Fraction(3, 2)}},
    "es-corollary": {
        "rates × 0.9": {"printed": lambda problem, m: 0.9 * rates(problem, m)},
        "one step more": {"printed": lambda problem, m: rates(problem, m + 1)},
    },
    "es-both-grow": {"a smaller n_t": {"corrected": 0.5}},
    "es-rate-grows": {"1 < sγ < 2": {"corrected": (True,)}},
    "experiment-shift": {
        "with the candidates": {"printed": ridges | candidates},
        "λ_t = 1": {"corrected": {"= 1": ridges["= 1"]}},
    },
    "experiment-min-norm": {"H̃ for H → 0": {"corrected": Course(pooled_error, first_task=5)}},
    "extension": {
        "penalties ÷ 10": {"printed": lambda noise, n, error: penalty(noise, n, error) / 10},
        "swapped σ² and error": {"printed": lambda noise, n, error: error / (n * noise)},
    },
    "extension-rate": {"the diagonal of H̃": {"corrected": information_diagonal}},
    "extension-rows": {
        "one coefficient": {"corrected": lambda rows: diagonal([Fraction(1)] + [Fraction(0)] * (rows.shape[1] - 1))}
    },
    "extension-strict": {"error anywhere": {"corrected": lambda gammas, errors: any(errors)}},
    "min-norm-limit": {
        "H = 1.01·δ in one direction": {"corrected": lambda p: exact([1] * (p - 1) + [Fraction(101, 100)])}
    },
    "min-norm": {
        "bound × 1.1": {"printed": lambda noise, n, values: 1.1 * printed_bound(noise, n, values)},
        "γ_min for γ_max": {"printed": lambda noise, n, values: noise / values.min()},
        "the printed bound for n_t ≥ p": {"corrected": printed_bound},
        "dropped n_t": {"corrected": lambda noise, n, values: n * with_rank(noise, n, values)},
    },
    "other-losses": {
        "the covariance instead": {"printed": lambda rows, coef: rows.T @ rows},
        "the Hessian at 0": {"printed": lambda rows, coef: hessian(rows, 0 * coef)},
    },
    "other-losses-few-rows": {
        "the covariance instead": {"corrected": few._replace(curvature=lambda rows, coef: rows.T @ rows)},
        "the Hessian at 0": {"corrected": few._replace(curvature=lambda rows, coef: hessian(rows, 0 * coef))},
        "w_* ~ N(0, 9I)": {"corrected": few._replace(variance=9.0)},
    },
    "task-parameters": {
        "without the term": {"printed": lambda tasks: tasks.noise_variance * np.trace(tasks.pooled()[0])},
        "the mean of δ": {"printed": unweighted_error},
    },
    "negative-transfer": {
        "limit × 1.1": {"printed": lambda tasks: Fraction(11, 10) * limit(tasks)},
        "κ = 1": {"printed": limit_of_noncentrality},
    },
    "oracle": {
        "dropped n_t": {"printed": lambda case: sum(case.noise_variance / case.eigenvalues.sum(axis=0))},
        "1/σ² for σ²": {"printed": lambda case: oracle_error(case) / case.noise_variance**2},
    },
    "oracle-proof": {"σ⁴ for σ²": {"corrected": lambda case: oracle_error(case) * case.noise_variance}},
    "practical-prior": {"prior × 1.1": {"corrected": Optimum(larger_prior, closed_form)}},
    "practical": {
        "H̃ × 1.1": {"printed": lambda designs, t: Fraction(11, 10) * accumulated(designs, t)},
        "dropped n_t": {"printed": lambda designs, t: len(designs[t]) * accumulated(designs, t)},
    },
    "negligible-prior": {"rows about as many as features": {"corrected": 0.26}},
    "pooled-always": {
        "decay 0.9": {"printed": Accumulated(decay=0.9)},
        "a prior": {"corrected": Accumulated(prior=0.1)},
    },
    "online-ewc": {
        "γ = 0.9": {"printed": Consolidation(decay=Fraction(9, 10))},
        "tasks of different sizes": {"printed": Consolidation(decay=Fraction(1), equal_sizes=False)},
    },
    "online-ewc-diagonal": {"γ = 0.9": {"corrected": Consolidation(decay=Fraction(9, 10))}},
    "forgetting": {"half the first": {"corrected": lambda errors: errors[1:] - errors[0] / 2}},
    "oracle-monotone": {"half the rows": {"corrected": lambda p: (p + 1) // 2}},
    "no-forgetting": {
        "penalties ÷ 10": {"printed": lambda case, task, errors: optimal_penalties(case, task, errors) / 10}
    },
    "strict-fall": {"any task": {"printed": lambda case, gamma: True}},
    "below-oracle": {
        "without σ²/e": {
            "printed": lambda case, task, errors: (
                (case.loadings[:task] ** 2).sum(axis=0) / case.n_samples[task] + 10**-12
            )
        }
    },
    "same-order": {"bound 1": {"printed": lambda prior, information: 1.0}},
    "asymptotics": {"information that fades": {"corrected": endless | {"1/t²": lambda t: t**-2.0}}},
    "ridge-first-penalty": {
        "penalty × 1.1": {"corrected": lambda noise, epsilon, n: Fraction(11, 10) * noise / n},
        "dropped n_1": {"corrected": lambda noise, epsilon, n: noise},
    },
    "ridge-lower-limits": {
        "limits × 100": {"corrected": lambda *regime: [100 * least for least in lower_limits(*regime)]}
    },
    "ridge-upper-limit": {
        "dropped ε": {"corrected": lambda n_1, n_2, epsilon: upper_limit(n_1, n_2, epsilon) / epsilon}
    },
    "ridge-second-penalty": {"dropped n_1": {"corrected": lambda n_1, n_2, epsilon: second_limit(1.0, n_2, epsilon)}},
    "heterogeneity": {"equal errors": {"printed": np.ones_like}},
    "ridge": {
        "a penalty per task": {"printed": lambda n, initial: printed_family(n, n, n**-0.5, initial)},
        "equal tasks": {"printed": lambda n, initial: one_penalty(TwoTasks((n, n), (n, n), initial))},
    },
    "ridge-per-task": {
        "optimum ÷ 1.1": {"printed": lambda n_1, n_2, epsilon: 1.1 * printed_family(n_1, n_2, epsilon)},
        "unequal small eigenvalues": {"printed": lambda n_1, n_2, epsilon: repaired_family(n_1)},
        "equal small eigenvalues": {"corrected": lambda m: printed_family(m, m, m**-0.5)},
    },
    "ridge-parameter": {
        "bounded for w_* = (1, 0)": {"corrected": lambda first, second: by_their_ratio(first, second + 1e-2)}
    },
}


def controls(name):
    """Return the mutations, and one more if both forms have the same trial: the corrected form in print."""
    statement = STATEMENTS[name]
    if statement.corrected is None or statement.corrected.trial is not statement.printed.trial:
        return MUTATIONS[name]
    if statement.recorded.as_printed:
        return MUTATIONS[name]
    return {**MUTATIONS[name], "corrected in print": {"printed": statement.corrected.form}}


def mutated(name, mutation):
    """Return the statement with the forms of one of its controls."""
    statement, forms = STATEMENTS[name], controls(name)[mutation]
    claims = {side: replace(getattr(statement, side), form=form) for side, form in forms.items()}
    return replace(statement, **claims)
