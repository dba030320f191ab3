"""The figures of docs/paper.md: for each statement that needed correcting, what is printed and what is so.

Methods have the colours that they have everywhere. What is printed and what is correct have colours that no method has.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ridgeway import ContinualRidge, GeneralizedRidge, Oracle
from ridgeway._style import BLACK, BLUE, GREY, ORANGE, OTHERS, PURPLE, RED, STYLE, ink, shade
from ridgeway.research import theory
from ridgeway.research.theory import CommutingProblem, FixedDesignProblem
from ridgeway.research.verify import STATEMENTS, at_the_edge, experiment, room
from ridgeway.weights import Accumulated, Zero

BROWN, VIOLET, OLIVE, SLATE = (colour for colour, _ in OTHERS)
PRINT = {"color": BROWN, "linestyle": "--"}
RIGHT = {"color": VIOLET, "linestyle": "-"}

PRINTED, CORRECTED = STATEMENTS["approx"].forms
RIDGES, CANDIDATES = STATEMENTS["experiment-shift"].forms
one_penalty, _ = STATEMENTS["ridge"].forms
printed_family, repaired_family = STATEMENTS["ridge-per-task"].forms


def panels(count: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels, two to a row: more would be too small to read on a page. The last may be wide."""
    columns, rows = min(count, 2), (count + 1) // 2
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.4 * columns, 3.4 * rows), layout="constrained")
        grid = figure.add_gridspec(rows, columns)
        places = [grid[i // columns, i % columns] for i in range(count)]
        if count > columns and count % columns:
            places[-1] = grid[rows - 1, :]
        return figure, [figure.add_subplot(place) for place in places]


def label(axis: Axes, title: str, x: str, y: str) -> None:
    """Write what to see, and what the axes are."""
    axis.set(xlabel=x, ylabel=y)
    axis.set_title(title, fontsize=10)


def name_line(
    line: Line2D, text: str, at: float, shift: tuple[float, float] = (0.0, 7.0), side: str = "center"
) -> None:
    """Write the name of a line beside it, in its colour.

    Parameters
    ----------
    line : Line2D
    text : str
    at : float
        Which of its points, as a share: 0 is the first and 1 the last.
    shift : (float, float)
        From that point to the text, in points.
    side : {"center", "left", "right"}
        Which side of the text is there.
    """
    axis = cast(Axes, line.axes)
    xs, ys = (np.asarray(values, dtype=float) for values in line.get_data())
    point = round(at * (len(xs) - 1))
    place: dict[str, Any] = {"xytext": shift, "textcoords": "offset points", "ha": side, "va": "center"}
    axis.annotate(text, (xs[point], ys[point]), color=ink(str(line.get_color())), fontsize=8.5, **place)


def ridge() -> Figure:
    """Rows 8, 9, 16, 22 and 23."""
    figure, (first, second, third) = panels(3)
    n = np.geomspace(10, 1e8, 25)
    (line,) = first.semilogx(n, [printed_family(x**2, x**2, 1 / x) for x in n], **RIGHT)
    name_line(line, "n₁ = n₂ = n², ε = 1/n", 0.45, (0, -10), "left")
    (line,) = first.semilogx(n, [printed_family(x**2, x**3, x**-0.5) for x in n], marker="o", ms=3, **PRINT)
    name_line(line, "the regime of the proof", 0.5, (0, 10))
    first.axhline(2, color=BLACK, lw=1, ls=":")
    first.text(10, 2.03, "supremum, not attained", fontsize=8.5, color=BLACK)
    first.set(ylim=(0.95, 2.1))
    label(first, "Row 9: with a λ per task, the ratio stays below 2", "n", "least L(CRR)/L(GR) over λ₁ and λ₂")
    m = np.geomspace(1e2, 1e12, 21)
    few = np.geomspace(1e2, 1e12, 6)
    zeros = [printed_family(x, 1.0, 0.5 * x ** (-1 / 3), (1.0, 0.0)) for x in few]
    (line,) = second.loglog(few, zeros, color=OLIVE, ls="-.", marker="s", ms=4)
    name_line(line, "a λ per task, w* = (1, 0)", 0.6, (-6, 7), "right")
    (line,) = second.loglog(m, [one_penalty(x, (1.0, 1.0)) for x in m], **PRINT)
    name_line(line, "one λ, as printed", 1.0, (0, -93), "right")
    (line,) = second.loglog(m, [repaired_family(x) for x in m], **RIGHT)
    name_line(line, "a λ per task, diag(m, 1), diag(√m, m)", 1.0, (0, -94), "right")
    (line,) = second.loglog(m, m**0.25 / np.sqrt(2), color=BLACK, ls=":", lw=1)
    name_line(line, "dotted: $m^{1/4}/\\sqrt{2}$", 1.0, (0, -108), "right")
    label(second, "Rows 9 and 23: three families without a limit", "m", "least L(CRR)/L(GR) over λ")
    n = np.geomspace(10, 1e8, 30)
    before, new = 1 + n**1.5, n**3
    root = np.sqrt(2 * before / new)
    (line,) = third.loglog(n, (before + root * new) / (1 - root) / new, color=BLACK)
    name_line(line, "largest λ₂ that works", 1.0, (4, 6), "left")
    (line,) = third.loglog(n, np.sqrt(before / (n**1.5 + n**3)), **RIGHT)
    name_line(line, "its limit, corrected", 1.0, (4, -6), "left")
    (line,) = third.loglog(n, 1 / n, color=OLIVE, ls="-.")
    name_line(line, "least λ₂ for\ndirection 1, in the proof", 1.0, (4, 0), "left")
    (line,) = third.loglog(n, np.sqrt(1 / (n**1.5 + n**3)), **PRINT)
    name_line(line, "its limit in the proof", 1.0, (4, 0), "left")
    third.set(xlim=(5, 1.5e10))
    title = "Rows 16 and 22: once corrected, the upper limit lies above the lower one: no contradiction"
    label(third, title, "n, in the regime of the proof", "λ₂")
    return figure


def approximation() -> Figure:
    """Rows 5, 6, 7 and 21."""
    figure, (first, second) = panels(2)
    forms = (
        (replace(CORRECTED, denominator=PRINTED.denominator, bound=PRINTED.bound), BROWN, "--"),
        (replace(CORRECTED, ratio=PRINTED.ratio), SLATE, "-."),
        (replace(CORRECTED, limits=PRINTED.limits), OLIVE, ":"),
        (CORRECTED, VIOLET, "-"),
    )
    drawn = []
    for form, colour, dashes in forms:
        worst = np.sort(at_the_edge(np.random.default_rng(0), 20_000, 30, form).ratios.max(axis=0)[1:])
        drawn += first.semilogx(worst, np.linspace(100, 0, worst.size), color=colour, ls=dashes)
    name_line(drawn[0], "bound without σ² (row 5)", 0.6, (6, 4), "left")
    name_line(drawn[1], "ρ without n (row 6)", 0.7, (-8, 0), "right")
    name_line(drawn[2], "the same limit on ±Δ (row 7)", 0.15, (8, 0), "left")
    name_line(drawn[3], "corrected", 0.02, (10, 0), "left")
    first.axvline(1, color=BLACK, lw=1)
    first.set(xlim=(0.1, 50))
    title = "Rows 5–7: right of 1 the bound is broken;\nas corrected, it never is"
    label(first, title, "largest error over its bound", "% of instances beyond")
    rho = np.geomspace(1e-2, 1e3, 300)
    for constant, colour in ((10.0, shade(VIOLET, -0.4)), (2.0, VIOLET), (1.1, shade(VIOLET, 0.35))):
        (line,) = second.loglog(rho, room(constant, rho), color=colour)
        name_line(line, f"C = {constant:g}", 1.0, (4, 0), "left")
        turn = (1 + np.sqrt(1 + 8 * constant)) / (2 * constant)
        dots = second.plot(turn, room(constant, np.array(turn)), "o", color=BROWN)
    name_line(dots[0], "ρ = (1 + √(1 + 8C))/(2C)", 0.0, (8, -44))
    second.set(xlim=(5e-3, 2e4))
    title = "Row 21: beyond the dots, a larger ρ\nrequires more accurate penalties"
    label(second, title, "ρ", "how large (γΔ)² may be")
    return figure


def adaptive() -> Figure:
    """Rows 4, 19 and 24."""
    figure, (first, second, third) = panels(3)
    penalties = np.geomspace(0.01, 100, 300)
    case = CommutingProblem([[1.0]], [1], initial_errors=[4.0])
    first.semilogx(penalties, [case.direction_errors(x)[0, 0] for x in penalties], color=BLACK)
    for penalty, colour, marker, text, shift in (
        (1 / 16, BROWN, "X", "printed: σ²/(n·e²)", (0, 14)),
        (1 / 4, VIOLET, "o", "σ²/(n·e)", (0, -14)),
    ):
        dots = first.plot(penalty, case.direction_errors(penalty)[0, 0], marker, ms=8, color=colour)
        name_line(dots[0], text, 0.0, shift)
    first.set(ylim=(0.3, 4.1))
    label(first, "Row 4: the printed λ is not the best (e = 4)", "λ (γ = σ² = n = 1)", "error after the task")
    e = np.geomspace(0.05, 20, 100)
    (line,) = second.loglog(e, e / (e**2 + 1), **PRINT)
    name_line(line, "first line of\neq. (iteration)", 0.85, (-6, -10), "right")
    (line,) = second.loglog(e, e / (e + 1), **RIGHT)
    name_line(line, "corrected", 0.75, (0, 9), "right")
    exact = [CommutingProblem([[1.0]], [1], initial_errors=[x]).optimal_error()[0] for x in e[::9]]
    (marks,) = second.loglog(e[::9], exact, "o", color=BLACK, ms=4)
    name_line(marks, "dots: exact error", 0.3, (8, -8), "left")
    title = "Row 19: the first line of eq. (iteration) fails"
    label(second, title, "error before the task (γ = σ² = n = 1)", "error after the task")
    tasks = np.arange(1.0, 2001)
    families = (
        ("information 1 per task", np.ones_like(tasks), BLUE, "-", (0.015, (-6, 8), "right")),
        ("information $t^{-1/2}$ in task t", tasks**-0.5, shade(BLUE, 0.35), "-.", (0.03, (8, -9), "left")),
        ("information $2^{-t}$ in task t", np.exp2(-tasks), shade(BLUE, -0.4), "--", (0.03, (0, 8), "center")),
    )
    for text, information, colour, dashes, place in families:
        problem = CommutingProblem(information[:, np.newaxis], np.ones(tasks.size), initial_errors=[1.0])
        ratio = problem.optimal_error() / problem.oracle_error()
        (line,) = third.semilogx(tasks, ratio, color=colour, ls=dashes)
        name_line(line, text, *place)
    title = "Row 24: GR becomes the oracle in the end if the information grows without bound"
    label(third, title, "T, number of tasks", "L(GR)/L(ORA)")
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
    (line,) = first.semilogy(tasks, printed, marker="X", **PRINT)
    name_line(line, "with σ²·E₀, as printed", 0.5, (0, 12), "left")
    (line,) = first.semilogy(tasks, case.optimal_error(), marker="o", **RIGHT)
    name_line(line, "with σ²·E₀⁻¹", 0.45, (8, 8), "left")
    label(first, "Row 2: the prior term needs the inverse of E₀", "task", "error ‖ŵ − w*‖²")
    wrong = CommutingProblem(gamma, np.full(8, 3), noise_variance=4.0, initial_errors=start**2)
    penalties = np.full((8, 1), 0.5)
    (line,) = second.semilogy(tasks, wrong.direction_errors(penalties).sum(axis=1), marker="X", **PRINT)
    name_line(line, "CRR, one n for all tasks", 0.9, (8, 10), "right")
    (line,) = second.semilogy(tasks, case.direction_errors(penalties).sum(axis=1), marker="o", color=ORANGE)
    name_line(line, "CRR, n of each task", 0.58, (12, 10), "center")
    (line,) = second.semilogy(tasks, case.oracle_error(), marker="x", color=BLACK)
    name_line(line, "oracle", 0.9, (-4, -9), "center")
    (line,) = second.semilogy(tasks, case.oracle_error() / 4.0, marker="x", color=GREY, ls="--")
    name_line(line, "oracle without σ²", 0.45, (-6, -8), "right")
    label(second, "Rows 1 and 3: a dropped n or σ² changes the error", "task", "error ‖ŵ − w*‖²")
    p, coef = 20, rng.normal(size=20)
    models = {
        "CRR, λ = 0.1": (ContinualRidge(0.1, fit_intercept=False), ORANGE, "^", (0, 9)),
        "GR with a prior of 1": (
            GeneralizedRidge(Accumulated(prior=1.0), fit_intercept=False), shade(BLUE, -0.4), "s", (0, -10),
        ),
        "GR with H̃": (GeneralizedRidge(fit_intercept=False), BLUE, "P", (0, 10)),
    }  # fmt: skip
    oracle = Oracle(fit_intercept=False)
    gaps: dict[str, list[float]] = {text: [] for text in models}
    for _ in range(12):
        X = rng.normal(size=(6, p))
        y = X @ coef + rng.normal(size=6)
        pooled = oracle.partial_fit(X, y).coef_
        for text, (model, *_) in models.items():
            gaps[text].append(float(np.linalg.norm(model.partial_fit(X, y).coef_ - pooled) / np.linalg.norm(pooled)))
    for text, (_, colour, marker, shift) in models.items():
        (line,) = third.semilogy(range(1, 13), np.maximum(gaps[text], 1e-17), color=colour, marker=marker, ms=4)
        name_line(line, text, 0.75, shift)
    third.set(ylim=(1e-17, 1e2))
    title = "Row 11: GR with H̃ is the oracle after every task, up to rounding (n = 6, p = 20)"
    label(third, title, "task", "relative distance from the oracle")
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
    (line,) = first.semilogy(sizes, errors, color=RED, marker="o", ms=3)
    name_line(line, "error of MN, w* = 0", 0.3, (10, 8), "left")
    (line,) = first.semilogy(sizes, printed, **PRINT)
    name_line(line, "printed bound,\nσ²/$γ_{max}$", 1.0, (2, 20), "right")
    (line,) = first.semilogy(sizes, bounds, **RIGHT)
    name_line(line, "σ²·rank/(n·$γ_{max}$)", 1.0, (2, -10), "right")
    first.axvline(10, color=BLACK, lw=1, ls=":")
    first.text(10.5, 400, "n = p", fontsize=8.5, color=BLACK)
    first.set(ylim=(0.05, 1e3))
    title = "Row 10b: for n > p the printed lower bound\ncan exceed the error; with the rank it holds"
    label(first, title, "n, rows of the task (p = 10)", "error ‖ŵ − w*‖²")
    for noise, colour, marker in ((5.0, shade(RED, -0.4), "s"), (1.0, RED, "o")):
        problem = experiment(np.random.default_rng(1), n=150, p=200, noise_variance=noise).problem
        total = problem.expected_error(Zero()).total
        (line,) = second.semilogy(range(1, 21), total, color=colour, marker=marker, ms=4)
        name_line(line, f"MN, σ² = {noise:g}", 1.0, (0, 10), "right")
    second.axvspan(5, 20, color=BLACK, alpha=0.07, lw=0)
    second.set(ylim=(3, 150))
    title = "Row 13: the error of MN is nearly constant,\nbut only after the fifth task"
    label(second, title, "task (n = 150, p = 200)", "error ‖ŵ − w*‖²")
    return figure


def theory_eigenvalue(X: np.ndarray) -> float:
    """Return γ_max of a design."""
    return float(np.linalg.norm(X, 2) ** 2 / len(X))


def early_stopping() -> Figure:
    """Rows 10 and 10c."""
    figure, (first, second) = panels(2)
    step = np.linspace(0.02, 2.6, 800)
    for m, colour, dashes, place in (
        (1, PURPLE, "-", (0.2, (4, 8), "left")),
        (2, shade(PURPLE, -0.4), "--", (0.66, (-6, 8), "right")),
        (3, shade(PURPLE, 0.35), "-.", (1.0, (0, -10), "right")),
    ):
        with np.errstate(divide="ignore", invalid="ignore"):
            penalty = (1 - step) ** m / (1 - (1 - step) ** m)
        penalty[np.abs(penalty) > 6] = np.nan
        (line,) = first.plot(step, penalty, color=colour, ls=dashes)
        name_line(line, f"m = {m}", *place)
    first.axvspan(0, 1, color=GREY, alpha=0.12, lw=0)
    first.axhline(0, color=BLACK, lw=1)
    first.set(ylim=(-3, 5))
    title = "Row 10: only up to sγ = 1 (grey) is the\npenalty ≥ 0 for every number of steps m"
    label(first, title, "sγ, learning rate times eigenvalue", "λ/γ of eq. (equivalence)")
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
    (line,) = second.semilogy(np.degrees(angles), printed, **PRINT)
    name_line(line, "eq. (equivalence), s = uᵀAu", 0.5, (0, -10))
    (line,) = second.semilogy(np.degrees(angles), right, **RIGHT)
    name_line(line, "the general H", 0.5, (0, 24))
    title = "Row 10c: if A shares no eigenvectors with Σ,\nonly the general H is early stopping (m = 4)"
    label(second, title, "angle between A and Σ, degrees", "distance from early stopping")
    return figure


def extension() -> Figure:
    """Row 20."""
    figure, (axis,) = panels(1)
    penalties = np.geomspace(0.01, 100, 200)
    for start, style, place in (
        ([0.0, 1.0], PRINT, (0.3, (6, 4), "left")),
        ([1.0, 0.0], RIGHT, (0.6, (8, -6), "left")),
    ):
        case = CommutingProblem([[1.0, 0.0]], [1], initial_errors=start)
        errors = [case.direction_errors(x).sum() for x in penalties]
        (line,) = axis.semilogx(penalties, errors, **style)
        name_line(line, f"after it, w* = ({start[0]:g}, {start[1]:g})", *place)
    axis.axhline(1, color=BLACK, lw=1, ls=":")
    axis.text(0.01, 1.03, "before the task", fontsize=8.5, color=BLACK)
    title = "Row 20: a task about direction 1 only cannot\nlower an error that is in direction 2"
    label(axis, title, "λ (Σ = diag(1, 0), σ² = n = 1)", "error ‖ŵ − w*‖²")
    return figure


def shift() -> Figure:
    """Row 12."""
    figure, axes = panels(4)
    methods = {rule: RIDGES[rule] for rule in ("= 1", "at its best step by step")} | CANDIDATES
    said = ("nothing changes", "nothing changes", "the shift hurts", "the shift hurts")
    for axis, (rule, method), seen in zip(axes, methods.items(), said, strict=True):
        lines = []
        for shifted, style in (
            (False, {"color": ORANGE, "marker": "o"}),
            (True, {"color": shade(ORANGE, -0.4), "marker": "X", "linestyle": "--"}),
        ):
            one = experiment(np.random.default_rng(2), n=150, p=200, shift=shifted)
            lines += axis.semilogy(range(1, 21), method(one).total, ms=4, **style)
        if seen == "the shift hurts":
            name_line(lines[0], "without the shift", 0.5, (6, 8), "left")
            name_line(lines[1], "with the shift", 0.7, (0, 9), "left")
        else:
            name_line(lines[0], "with and without the shift", 0.3, (10, 12), "left")
        axis.set(ylim=(0.05, 400))
        label(axis, f"Row 12: CRR, λ {rule}:\n{seen}", "task", "error ‖ŵ − w*‖²")
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
