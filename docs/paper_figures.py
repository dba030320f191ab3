"""The figures of docs/paper.md: for each statement that needed correcting, what is printed and what is so."""

from collections.abc import Callable
from dataclasses import replace

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgeway import ContinualRidge, GeneralizedRidge, Oracle
from ridgeway._style import BLACK, BLUE, GREEN, ORANGE, RED, SKY, STYLE, shade
from ridgeway.research import theory
from ridgeway.research.theory import CommutingProblem, FixedDesignProblem
from ridgeway.research.verify import STATEMENTS, at_the_edge, experiment, room
from ridgeway.weights import Accumulated, Zero

PRINT = {"color": RED, "linestyle": "--"}
RIGHT = {"color": BLUE, "linestyle": "-"}

PRINTED, CORRECTED = STATEMENTS["approx"].forms
RIDGES, CANDIDATES = STATEMENTS["experiment-shift"].forms
one_penalty, _ = STATEMENTS["ridge"].forms
printed_family, repaired_family = STATEMENTS["ridge-per-task"].forms


def panels(count: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels, two to a row: more would be too small to read on a page."""
    columns, rows = min(count, 2), (count + 1) // 2
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.2 * columns, 3.4 * rows), layout="constrained")
        return figure, [figure.add_subplot(rows, columns, i + 1) for i in range(count)]


def label(axis: Axes, title: str, x: str, y: str) -> None:
    """Write titles, and a legend where something has a label."""
    axis.set(xlabel=x, ylabel=y)
    axis.set_title(title, fontsize=10)
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=8, frameon=False)


def ridge() -> Figure:
    """Rows 8, 9, 16, 22 and 23."""
    figure, (first, second, third) = panels(3)
    n = np.geomspace(10, 1e8, 25)
    first.semilogx(
        n, [printed_family(x**2, x**3, x**-0.5) for x in n], marker="o", ms=3, label="proof's regime", **PRINT
    )
    first.semilogx(n, [printed_family(x**2, x**2, 1 / x) for x in n], **RIGHT, label="n₁ = n₂ = n², ε = 1/n")
    first.axhline(2, color=BLACK, lw=1, ls=":", label="supremum, not attained")
    label(first, "Row 9, a λ per task: never above 2", "n", "inf over λ₁, λ₂ of L(CRR)/L(GR)")
    m = np.geomspace(1e2, 1e12, 21)
    second.loglog(
        m,
        [one_penalty(x, (1.0, 1.0)) for x in m],
        color=ORANGE,
        ls="--",
        label="as printed, one λ, n₁ = n₂ = m, ε = $m^{-1/2}$",
    )
    second.loglog(m, [repaired_family(x) for x in m], **RIGHT, label="a λ per task, diag(m, 1), diag(√m, m)")
    second.loglog(m, m**0.25 / np.sqrt(2), color=BLACK, ls=":", lw=1, label=r"$m^{1/4}/\sqrt{2}$")
    few = np.geomspace(1e2, 1e12, 6)
    zeros = [printed_family(x, 1.0, 0.5 * x ** (-1 / 3), (1.0, 0.0)) for x in few]
    second.loglog(few, zeros, color=GREEN, ls="-.", marker="s", ms=4, label="a λ per task, w* = (1, 0), n₁ = m")
    label(second, "Rows 9 and 23: what does grow", "m", "inf over λ of L(CRR)/L(GR)")
    n = np.geomspace(10, 1e8, 30)
    before, new = 1 + n**1.5, n**3
    root = np.sqrt(2 * before / new)
    third.loglog(n, (before + root * new) / (1 - root) / new, color=BLACK, label="largest λ₂ that works")
    third.loglog(n, np.sqrt(1 / (n**1.5 + n**3)), **PRINT, label="its limit in the proof")
    third.loglog(n, np.sqrt(before / (n**1.5 + n**3)), **RIGHT, label="its limit, corrected")
    third.loglog(n, 1 / n, color=GREEN, ls="-.", label="least λ₂ for direction 1 in the proof")
    label(third, "Rows 16 and 22: no contradiction", "n, in the proof's regime", "λ₂")
    return figure


def approximation() -> Figure:
    """Rows 5, 6, 7 and 21."""
    figure, (first, second) = panels(2)
    forms = {
        "bound without σ² (row 5)": (
            replace(CORRECTED, denominator=PRINTED.denominator, bound=PRINTED.bound),
            RED,
            "--",
        ),
        "ρ without n (row 6)": (replace(CORRECTED, ratio=PRINTED.ratio), ORANGE, "-."),
        "Δ from eq. (lambda) (row 7)": (replace(CORRECTED, reference=PRINTED.reference), GREEN, ":"),
        "corrected": (CORRECTED, BLUE, "-"),
    }
    for name, (form, colour, dashes) in forms.items():
        worst = np.sort(at_the_edge(np.random.default_rng(0), 20_000, 30, form).ratios.max(axis=0)[1:])
        first.semilogx(worst, np.linspace(100, 0, worst.size), color=colour, ls=dashes, label=name)
    first.axvline(1, color=BLACK, lw=1)
    first.set(xlim=(0.3, 50))
    label(first, "Rows 5–7: right of 1 the bound is broken", "largest error over its bound", "% of instances beyond")
    rho = np.geomspace(1e-2, 1e3, 300)
    for constant, colour, dashes in ((1.1, SKY, "-"), (2.0, BLUE, "--"), (10.0, BLACK, "-.")):
        second.loglog(rho, room(constant, rho), color=colour, ls=dashes, label=f"C = {constant:g}")
        turn = (1 + np.sqrt(1 + 8 * constant)) / (2 * constant)
        second.plot(turn, room(constant, np.array(turn)), "o", color=RED)
    second.plot([], [], "o", color=RED, label="ρ = (1 + √(1 + 8C))/(2C)")
    label(second, "Row 21: a larger ρ, and then a tighter rule", "ρ", "how large (γΔ)² may be")
    return figure


def adaptive() -> Figure:
    """Rows 4, 19 and 24."""
    figure, (first, second, third) = panels(3)
    penalties = np.geomspace(0.01, 100, 300)
    case = CommutingProblem([[1.0]], [1], initial_errors=[4.0])
    errors = [case.direction_errors(x)[0, 0] for x in penalties]
    first.semilogx(penalties, errors, color=BLACK)
    for penalty, colour, marker, name in ((1 / 16, RED, "X", "printed: σ²/(n·e²)"), (1 / 4, BLUE, "o", "σ²/(n·e)")):
        first.plot(penalty, case.direction_errors(penalty)[0, 0], marker, ms=8, color=colour, label=name, ls="")
    label(first, "Row 4: the minimiser (γ = σ² = n = 1, e = 4)", "λ", "error after the task")
    e = np.geomspace(0.05, 20, 100)
    second.loglog(e, e / (e**2 + 1), **PRINT, label="first line of eq. (iteration)")
    second.loglog(e, e / (e + 1), **RIGHT, label="corrected")
    exact = [CommutingProblem([[1.0]], [1], initial_errors=[x]).optimal_error()[0] for x in e[::9]]
    second.loglog(e[::9], exact, "o", color=BLACK, ms=4, label="exact error")
    label(second, "Row 19: eq. (iteration) (γ = σ² = n = 1)", "error before the task", "error after the task")
    tasks = np.arange(1.0, 2001)
    families = {
        "$2^{-t}$": (np.exp2(-tasks), RED, "--"),
        "1": (np.ones_like(tasks), BLUE, "-"),
        "$t^{-1/2}$": (tasks**-0.5, GREEN, "-."),
    }
    for name, (information, colour, dashes) in families.items():
        problem = CommutingProblem(information[:, np.newaxis], np.ones(tasks.size), initial_errors=[1.0])
        ratio = problem.optimal_error() / problem.oracle_error()
        third.semilogx(tasks, ratio, color=colour, ls=dashes, label=f"information {name}")
    label(third, "Row 24: is GR the oracle in the end?", "T", "L(GR)/L(ORA)")
    return figure


def practical() -> Figure:
    """Rows 1, 2, 3 and 11."""
    figure, (first, second, third) = panels(3)
    rng = np.random.default_rng(5)
    gamma, n, start = np.exp(rng.normal(0, 1, (8, 12))), np.array([3, 12, 4, 30, 5, 8, 40, 6]), rng.normal(size=12) * 3
    case = CommutingProblem(gamma, n, noise_variance=4.0, initial_errors=start**2)
    seen = np.vstack([np.zeros(12), np.cumsum(gamma * n[:, np.newaxis], axis=0)[:-1]])
    tasks = np.arange(1, 9)
    printed = case.direction_errors((seen + 4.0 * start**2) / n[:, np.newaxis]).sum(axis=1)
    first.semilogy(tasks, printed, marker="X", **PRINT, label="with σ²·E₀, as printed")
    first.semilogy(tasks, case.optimal_error(), marker="o", **RIGHT, label="with σ²·E₀⁻¹")
    label(first, "Row 2: the prior term of the optimal H", "task", "error")
    wrong = CommutingProblem(gamma, np.full(8, 3), noise_variance=4.0, initial_errors=start**2)
    penalties = np.full((8, 1), 0.5)
    second.semilogy(
        tasks, wrong.direction_errors(penalties).sum(axis=1), marker="X", **PRINT, label="one n for all tasks"
    )
    second.semilogy(tasks, case.direction_errors(penalties).sum(axis=1), marker="o", **RIGHT, label="n of each task")
    second.semilogy(tasks, case.oracle_error() / 4.0, marker="v", color=ORANGE, ls="--", label="oracle without σ²")
    second.semilogy(tasks, case.oracle_error(), marker="^", color=GREEN, ls="-.", label="oracle")
    label(second, "Rows 1 and 3: a dropped n, a dropped σ²", "task", "error")
    p, coef = 20, rng.normal(size=20)
    models = {
        "GR with H̃": (GeneralizedRidge(fit_intercept=False), BLUE, "o"),
        "GR with a prior of 1": (GeneralizedRidge(Accumulated(prior=1.0), fit_intercept=False), shade(BLUE, -0.4), "s"),
        "CRR, λ = 0.1": (ContinualRidge(0.1, fit_intercept=False), ORANGE, "^"),
    }
    oracle = Oracle(fit_intercept=False)
    gaps: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(12):
        X = rng.normal(size=(6, p))
        y = X @ coef + rng.normal(size=6)
        pooled = oracle.partial_fit(X, y).coef_
        for name, (model, _, _) in models.items():
            gaps[name].append(float(np.linalg.norm(model.partial_fit(X, y).coef_ - pooled) / np.linalg.norm(pooled)))
    for name, (_, colour, marker) in models.items():
        third.semilogy(range(1, 13), np.maximum(gaps[name], 1e-17), color=colour, marker=marker, ms=4, label=name)
    label(third, "Row 11: n = 6, p = 20, equal at every t", "task", "relative distance from the oracle")
    return figure


def minimum_norm() -> Figure:
    """Rows 10b and 13."""
    figure, (first, second) = panels(2)
    rng = np.random.default_rng(0)
    sizes = np.arange(1, 41)
    errors, bounds, printed = [], [], []
    for n in sizes:
        X = rng.normal(size=(n, 10))
        largest = theory_eigenvalue(X)
        errors.append(FixedDesignProblem([X], signal=np.zeros(10)).expected_error(Zero()).total[0])
        bounds.append(min(int(n), 10) / (int(n) * largest))
        printed.append(1 / largest)
    first.semilogy(sizes, errors, color=BLACK, marker="o", ms=3, label="error, w* = 0")
    first.semilogy(sizes, printed, **PRINT, label="printed bound, σ²/$γ_{max}$")
    first.semilogy(sizes, bounds, **RIGHT, label="σ²·rank/(n·$γ_{max}$)")
    first.axvline(10, color=BLACK, lw=1, ls=":")
    label(first, "Row 10b: p = 10, one task", "n", "error of the minimum-norm estimator")
    for noise, colour, marker in ((1.0, RED, "o"), (5.0, shade(RED, -0.4), "s")):
        problem = experiment(np.random.default_rng(1), n=150, p=200, noise_variance=noise).problem
        total = problem.expected_error(Zero()).total
        second.semilogy(range(1, 21), total, color=colour, marker=marker, ms=4, label=f"MN, σ² = {noise:g}")
    second.axvspan(5, 20, color=BLACK, alpha=0.07, lw=0)
    second.text(12.5, 10, "nearly constant", ha="center", fontsize=9)
    second.set(ylim=(3, 150))
    label(second, "Row 13: n = 150, p = 200", "task", "error")
    return figure


def theory_eigenvalue(X: np.ndarray) -> float:
    """Return γ_max of a design."""
    return float(np.linalg.norm(X, 2) ** 2 / len(X))


def early_stopping() -> Figure:
    """Rows 10 and 10c."""
    figure, (first, second) = panels(2)
    step = np.linspace(0.02, 2.6, 800)
    for m, colour, dashes in ((1, BLUE, "-"), (2, ORANGE, "--"), (3, GREEN, "-.")):
        with np.errstate(divide="ignore", invalid="ignore"):
            penalty = (1 - step) ** m / (1 - (1 - step) ** m)
        penalty[np.abs(penalty) > 6] = np.nan
        first.plot(step, penalty, color=colour, ls=dashes, label=f"m = {m}")
    first.axvspan(0, 1, color=SKY, alpha=0.2, lw=0)
    first.axhline(0, color=BLACK, lw=1)
    first.set(ylim=(-3, 5))
    label(first, "Row 10: a penalty ≥ 0 for every m only up to sγ = 1", "sγ", "λ/γ of eq. (equivalence)")
    start = np.ones(2)
    covariance = np.diag([2.0, 0.5])
    angles = np.linspace(0, np.pi / 2, 40)
    printed: list[float] = []
    right: list[float] = []
    for angle in angles:
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        rates = turn @ np.diag([0.4, 0.1]) @ turn.T
        stopped = np.linalg.matrix_power(np.eye(2) - rates @ covariance, 4) @ start
        general = theory.weight_matrix_from_early_stopping(covariance, rates, 4)
        shared = np.diag(theory.penalties_from_early_stopping([2.0, 0.5], np.diagonal(rates), 4))
        for weight, found in ((shared, printed), (general, right)):
            kept = np.linalg.solve(covariance + weight, weight @ start)
            found.append(max(float(np.linalg.norm(kept - stopped) / np.linalg.norm(start)), 1e-17))
    second.semilogy(np.degrees(angles), printed, **PRINT, label="eq. (equivalence), s = uᵀAu")
    second.semilogy(np.degrees(angles), right, **RIGHT, label="the general H")
    label(second, "Row 10c: A turned against Σ, m = 4", "angle, degrees", "distance from early stopping")
    return figure


def extension() -> Figure:
    """Row 20."""
    figure, (axis,) = panels(1)
    penalties = np.geomspace(0.01, 100, 200)
    for start, colour, dashes, name in (([0.0, 1.0], RED, "--", "w* = (0, 1)"), ([1.0, 0.0], BLUE, "-", "w* = (1, 0)")):
        case = CommutingProblem([[1.0, 0.0]], [1], initial_errors=start)
        errors = [case.direction_errors(x).sum() for x in penalties]
        axis.semilogx(penalties, errors, color=colour, ls=dashes, label=f"after the task, {name}")
    axis.axhline(1, color=BLACK, lw=1, ls=":", label="before the task")
    label(axis, "Row 20: a task with Σ = diag(1, 0), σ² = n = 1", "λ", "error")
    return figure


def shift() -> Figure:
    """Row 12."""
    figure, axes = panels(4)
    methods = {name: RIDGES[name] for name in ("= 1", "at its best step by step")} | CANDIDATES
    for axis, (name, method) in zip(axes, methods.items(), strict=True):
        for shifted, style in ((False, RIGHT | {"marker": "o"}), (True, PRINT | {"marker": "X"})):
            one = experiment(np.random.default_rng(2), n=150, p=200, shift=shifted)
            words = "with the shift" if shifted else "without"
            axis.semilogy(range(1, 21), method(one).total, ms=4, label=words, **style)
        axis.set(ylim=(0.05, 300))
        label(axis, f"Row 12: CRR, λ {name}", "task", "error")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "ridge": ridge,
    "approximation": approximation,
    "adaptive": adaptive,
    "practical": practical,
    "minimum-norm": minimum_norm,
    "early-stopping": early_stopping,
    "extension": extension,
    "shift": shift,
}
