"""What the paper concludes: forgetting, monotone errors, the oracle; corrections rows 14, 24 and 31."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from ridgeway._checks import Array
from ridgeway.research.verify._adaptive_statements import Penalties, optimal_penalties, schedule
from ridgeway.research.verify._cases import Case, cases, gaussian_designs
from ridgeway.research.verify._exact import Matrix, solve
from ridgeway.research.verify._findings import Instances, Trial, Verdict, worst_case
from ridgeway.research.verify._plain import pseudoinverse
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement

Decay = Callable[[Array], Array]
"""Task numbers → information of each task."""
Conclusion = Callable[[Array], Array]
"""Errors of T tasks → how much each error after the first exceeds what is claimed."""


@worst_case("largest rise of the error, or forgetting, relative to the error", 0.0)
def _try_no_forgetting(search: Search, form: Penalties) -> Instances:
    for case in cases(search, 60, 1500):
        totals = np.array([case.initial_errors.sum(), *schedule(case, form)[1].sum(axis=1)])
        rises = [(after - before) / before for before, after in pairwise(totals)]
        forgetting = [(totals[t] - totals[1:t].mean()) / totals[t] for t in range(2, len(totals))]
        yield float(max(rises + forgetting)), case.size, case


@worst_case("largest error over the one before", 1 - 1e-12)
def _try_strict(search: Search, form: Callable[[Case, Matrix], bool]) -> Instances:
    """Compare the errors before and after every task of which the form claims a fall."""
    for case in cases(search, 60, 1500):
        totals = np.array([case.initial_errors.sum(), *schedule(case, optimal_penalties)[1].sum(axis=1)])
        for t, gamma in enumerate(case.eigenvalues):
            if form(case, gamma):
                yield float(totals[t + 1] / totals[t]), case.size + t, case


@worst_case("largest error over that of the oracle", 1 - 1e-12)
def _try_below_oracle(search: Search, form: Penalties) -> Instances:
    for case in cases(search, 60, 1500):
        rows = np.vstack(case.designs)
        oracle = case.noise_variance * np.trace(solve(rows.T @ rows, np.eye(case.n_directions, dtype=object)))
        yield float(schedule(case, form)[1][-1].sum() / oracle), case.size, case


def _pooled_errors(designs: list[Array]) -> Array:
    """Return the error of pooled least squares after each task, the least-norm answer if it is singular.

    Here σ² = 1 and w_* = (1, …, 1).
    """
    errors = []
    for t in range(len(designs)):
        rows = np.vstack(designs[: t + 1])
        gain = pseudoinverse(rows)
        errors.append(np.square(gain).sum() + np.square(1 - (gain @ rows).sum(axis=1)).sum())
    return np.array(errors)


@worst_case("largest error over the one before", 1 + 1e-9)
def _try_oracle(search: Search, first_rows: Callable[[int], int]) -> Instances:
    """Follow pooled least squares, starting with the first task that has enough rows."""
    rng = search.generator()
    sequences = [[np.array([row]) for row in ([1.0, 0.0], [0.0, 0.1], [1.0, 0.0])]]  # covariances that commute
    for _ in range(search.count(40, 1000)):
        p, n = int(rng.integers(2, 8)), int(rng.integers(1, 5))
        sequences.append(gaussian_designs(rng, 8, n, p))
    for number, designs in enumerate(sequences):
        n, p = designs[0].shape
        errors = _pooled_errors(designs)[(first_rows(p) + n - 1) // n - 1 :]
        found = ", ".join(f"{error:.3g}" for error in errors)
        yield float((errors[1:] / errors[:-1]).max()), number, f"n={n}, p={p}, σ²=1, w_*=(1, …, 1): errors {found}"


def _try_equivalence(search: Search, form: dict[str, Decay]) -> Trial:
    """Compare the optimum with the oracle as T grows."""
    n_tasks = search.count(10_000, 1_000_000)

    @worst_case(f"largest 1 − 𝓛(GR)/𝓛(ORA) at T = {n_tasks:,}", 0.02)
    def trial() -> Instances:
        tasks = np.arange(1.0, n_tasks + 1)
        for size, (name, decay) in enumerate(form.items()):
            gap = 1 / (1 + decay(tasks).sum())  # Lemma (oracle) and eq. (main-result) with σ² = e⁽⁰⁾ = 1
            yield float(gap), size, f"σ² = e⁽⁰⁾ = 1, n_tγ⁽ᵗ⁾ = {name}: 1 − 𝓛(GR)/𝓛(ORA) → {gap:.3g}"

    return trial()


@worst_case("largest lower bound on 𝓛(GR)/𝓛(ORA) over the ratio", 1 + 1e-9)
def _try_order(search: Search, bound: Callable[[Array, Array], float]) -> Instances:
    """Follow the ratio for 50 tasks: it must not fall below a bound that is known after the first of them."""
    rng = search.generator()
    for _ in range(search.count(100, 2000)):
        p = int(rng.integers(1, 5))
        prior, steps = (
            np.exp(rng.normal(0, 2, p)),
            np.exp(rng.normal(0, 2, (50, p)) - rng.exponential(0.5) * np.arange(50)[:, np.newaxis]),
        )
        information = np.cumsum(steps, axis=0)
        ratios = (1 / (prior + information)).sum(axis=1) / (1 / information).sum(axis=1)
        yield float(bound(prior, information[0]) / ratios.min()), p, f"p={p}: the ratio falls to {ratios.min():.3g}"


@worst_case("largest excess of an error over what is claimed", 0.0)
def _try_negative_forgetting(search: Search, form: Conclusion) -> Instances:
    """Draw sequences of errors with F_t < 0 for every t > 1."""
    rng = search.generator()
    yield float(form(np.array([10.0, 1.0, 2.0])).max()), 3, "𝓛 = (10, 1, 2): F = −9, −3.5"
    for _ in range(search.count(200, 5000)):
        errors = np.exp(rng.normal(size=int(rng.integers(2, 6))))
        for t in range(1, len(errors)):
            errors[t] = min(errors[t], 0.99 * errors[:t].mean())
        yield float(form(errors).max()), 10 * len(errors), f"𝓛 = ({', '.join(f'{x:.3g}' for x in errors)})"


def _since_the_last(errors: Array) -> Array:
    return errors[1:] - errors[:-1]


def _since_the_first(errors: Array) -> Array:
    return np.asarray(errors[1:] - errors[0])


ENDLESS: dict[str, Decay] = {"1": np.ones_like, "t^−½": lambda t: t**-0.5, "t": lambda t: t}
FADING: dict[str, Decay] = {"2^−t": lambda t: np.exp2(-t)}

STATEMENTS = {
    "forgetting": Statement(
        row="14",
        where="Sec. 2, after the definition of F_t",
        claim="F_t < 0 for every t means that the error falls from task to task",
        correction="it means that no later error exceeds the first: 𝓛(ŵ_t) < 𝓛(ŵ_1)",
        recorded=Verdict.FAILS,
        printed=Claim(_since_the_last, _try_negative_forgetting),
        corrected=Claim(_since_the_first, _try_negative_forgetting),
    ),
    "oracle-monotone": Statement(
        row="31",
        where="Lemma (oracle), remark, read for every t",
        claim="the oracle's error falls as T grows, so it does not forget",
        correction="starting with the first task after which the pooled system is regular (Assumption (fullrank))",
        recorded=Verdict.READING,
        printed=Claim(lambda p: 1, _try_oracle),
        corrected=Claim(lambda p: p, _try_oracle),
    ),
    "no-forgetting": Statement(
        where="Thm (adaptive ridge), remark",
        claim="with the optimal penalties the error never rises, and F_t ≤ 0",
        printed=Claim(optimal_penalties, _try_no_forgetting),
    ),
    "strict-fall": Statement(
        where="Thm (adaptive ridge), remark",
        claim="the error falls in every task with a regular Σ_t (eq. (lambda) presupposes that w_* has error left)",
        printed=Claim(lambda case, gamma: bool(gamma.all()), _try_strict),
    ),
    "below-oracle": Statement(
        where="Thm (adaptive ridge), remark",
        claim="the error of the optimum is below that of the oracle",
        printed=Claim(optimal_penalties, _try_below_oracle),
    ),
    "same-order": Statement(
        where="Abstract; Thm (adaptive ridge), remark; Conclusion",
        claim="the error of the optimum is of the order of the oracle's: 𝓛(GR)/𝓛(ORA) stays away from 0 as T grows",
        printed=Claim(lambda prior, information: (information / (prior + information)).min(), _try_order),
    ),
    "asymptotics": Statement(
        row="24",
        where="Thm (adaptive ridge), remark",
        claim="the ratio of the errors of the optimum and of the oracle tends to 1 as T grows",
        correction="if, and only if, the information on every direction grows without bound",
        recorded=Verdict.READING,
        printed=Claim(ENDLESS | FADING, _try_equivalence),
        corrected=Claim(ENDLESS, _try_equivalence),
    ),
}
