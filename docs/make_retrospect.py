"""Make the table and the figures of docs/retrospect.md from the results in docs/retrospect.json."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from matplotlib.figure import Figure
from paper_figures import label, panels
from sklearn.datasets import load_diabetes

from ridgeway import GeneralizedRidge, retrospect
from ridgeway._style import BLACK, BLUE, GREEN, GREY, ORANGE, RED, SKY

PAGE = Path(__file__).with_name("retrospect.md")
RESULTS: dict[str, Any] = json.loads(PAGE.with_suffix(".json").read_text(encoding="utf-8"))
START, END = "<!-- table: made by `make retrospect` -->\n", "<!-- end of table -->\n"
AFTER, LARGEST = 10, 400.0


def main() -> None:
    """Draw the figures and put the table into the page."""
    for name, draw in {"diabetes": diabetes, "evidence": evidence, "jumps": jumps}.items():
        draw().savefig(PAGE.with_name("images") / f"retrospect-{name}.png", dpi=150)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    PAGE.write_text(before + START + "".join(table()) + END + after, encoding="utf-8")


def diabetes() -> Figure:
    """Coefficients per standard deviation, the lasso path, and where the two sexes differ."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X = (X - X.mean()) / X.std()
    figure, (first, second, third) = panels(3)
    model = GeneralizedRidge()
    for visit in range(4):
        model.partial_fit(X[visit::4], y[visit::4])
    found = retrospect.summary(model)
    places, names = np.arange(1, len(found.terms)), found.terms[1:]
    half = (found.intervals[1:, 1] - found.intervals[1:, 0]) / 2.0
    first.errorbar(found.coef[1:], places, xerr=half, fmt="o", color=BLUE, capsize=3)
    first.axvline(0.0, color=BLACK, lw=1)
    first.set_yticks(places, names)
    first.invert_yaxis()
    label(first, "Coefficients with 95 % intervals", "progression per standard deviation", "")
    path = retrospect.lasso_path(model)
    last = path.coefs[-1]
    free = np.inf
    for j in np.argsort(-last):
        shown = abs(last[j]) > 10.0
        second.semilogx(path.penalties, path.coefs[:, j], color=BLUE if shown else SKY, lw=1.5 if shown else 0.8)
        if shown:  # names from above, none on top of another
            free = min(last[j], free - 3.0)
            second.annotate(
                names[j], (path.penalties[-1], free), xytext=(4, -3), textcoords="offset points", fontsize=8
            )
    second.invert_xaxis()
    label(second, "The lasso path, from the state", "penalty", "coefficient")
    kept, low = X.drop(columns="sex"), X["sex"] < 0
    one, two = (retrospect.summary(GeneralizedRidge().fit(kept[of], y[of])) for of in (low, ~low))
    terms = np.arange(1, len(one.terms))
    for shift, who, colour, marker, name in ((-0.15, one, ORANGE, "o", "sex = 1"), (0.15, two, GREEN, "s", "sex = 2")):
        width = (who.intervals[1:, 1] - who.intervals[1:, 0]) / 2.0
        third.errorbar(who.coef[1:], terms + shift, xerr=width, fmt=marker, color=colour, capsize=2, ms=4, label=name)
    third.axvline(0.0, color=BLACK, lw=1)
    third.set_yticks(terms, one.terms[1:])
    third.invert_yaxis()
    p_value = retrospect.compare(GeneralizedRidge().fit(kept[low], y[low]), kept[~low], y[~low]).p_value
    label(third, f"Two tasks that disagree (Wald's test: p = {p_value:.0e})", "progression per standard deviation", "")
    return figure


def evidence() -> Figure:
    """Interpolation peak, and the distance from the optimum in the paper's settings."""
    figure, (first, second) = panels(2)
    peak = RESULTS["peak"]
    tasks = np.arange(1, len(peak["plain"]) + 1)
    first.semilogy(tasks, peak["plain"], color=GREY, ls="--", marker="o", ms=4, label="no prior (H̃)")
    first.semilogy(tasks, peak["evidence"], color=BLUE, marker="s", ms=4, label="prior='evidence'")
    first.semilogy(tasks, peak["optimum"], color=BLACK, ls=":", label="optimum, knows σ² and E[w w']")
    first.set_ylim(top=3e6)
    label(first, "The peak at n₁ + … + n₄ = p (n = 50, p = 200)", "task", "mean of ‖ŵ − w‖²")
    for (name, errors), colour, dashes in zip(
        _parts("evidence"), (BLUE, ORANGE, GREEN, RED), ("-", "--", "-.", ":"), strict=True
    ):
        ratio = np.array(errors["evidence"]) / errors["optimum"]
        second.plot(np.arange(2, len(ratio) + 1), 100.0 * (ratio[1:] - 1.0), color=colour, ls=dashes, label=name)
    second.axhline(1.0, color=BLACK, lw=1, ls=":", label="the bar")
    second.set_xticks([2, 5, 10, 15, 20])
    label(second, "The paper's settings: beyond the optimum", "task", "% of the optimum's error")
    return figure


def jumps() -> Figure:
    """Errors after a jump, over the sizes of the jump, and without one."""
    figure, (first, second, third) = panels(3)
    lines = {"plain": ("keep everything", RED, "--", "o"), "restarted": ("start again (hindsight)", ORANGE, "-.", "^")}
    lines["adaptive"] = ("decay='adaptive'", BLUE, "-", "s")
    large = RESULTS[f"jump, {LARGEST:g}"]
    for name, (text, colour, dashes, marker) in lines.items():
        first.semilogy(
            np.arange(1, len(large[name]) + 1), large[name], color=colour, ls=dashes, marker=marker, ms=3, label=text
        )
    label(first, "An independent parameter after task 10", "task", "mean of ‖ŵ − w‖²")
    sizes = [float(name) for name, _ in _parts("jump")]
    for name, (text, colour, dashes, marker) in lines.items():
        means = [np.mean(errors[name][AFTER:]) for _, errors in _parts("jump")]
        second.loglog(sizes, means, color=colour, ls=dashes, marker=marker, ms=4, label=text)
    label(second, "Mean over the 10 tasks after the jump", "size of the jump, ‖δ‖²", "mean of ‖ŵ − w‖²")
    for (name, errors), colour, dashes in zip(
        _parts("calm"), (BLUE, ORANGE, GREEN, RED), ("-", "--", "-.", ":"), strict=True
    ):
        ratio = np.array(errors["adaptive"]) / errors["plain"]
        third.plot(np.arange(1, len(ratio) + 1), 100.0 * (ratio - 1.0), color=colour, ls=dashes, label=name)
    third.axhline(5.0, color=BLACK, lw=1, ls=":", label="the bar")
    label(third, "Without a jump: what adapting costs", "task", "% of the plain error")
    return figure


def _parts(kind: str) -> list[tuple[str, dict[str, list[float]]]]:
    return [(name.partition(", ")[2], part) for name, part in RESULTS.items() if name.startswith(f"{kind}, ")]


def table() -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    hits, chow, peak = (RESULTS[name] for name in ("coverage", "chow", "peak"))
    worst = max(hits.values(), key=lambda share: abs(share - 0.95))
    beyond = max(max(np.array(part["evidence"][1:]) / part["optimum"][1:]) for _, part in _parts("evidence"))
    cost = max(max(np.array(part["adaptive"]) / part["plain"]) for _, part in _parts("calm"))
    large = RESULTS[f"jump, {LARGEST:g}"]
    better = large["plain"][AFTER + 4] / large["adaptive"][AFTER + 4]
    after = {name: {m: np.mean(e[AFTER:]) for m, e in part.items()} for name, part in _parts("jump")}
    ratios = {name: means["adaptive"] / min(means["plain"], means["restarted"]) for name, means in after.items()}
    size = max(ratios, key=lambda name: ratios[name])
    power = ", ".join(f"{100 * share:.0f} %" for share in chow["power"])
    yield "| what | limit | measured |\n|---|---|---|\n"
    rows = [
        (
            "coverage of 95 % intervals, 10,000 sequences, the farthest off of seven",
            "95 % ± 1 %",
            f"{100 * worst:.2f} %",
        ),
        (
            "p-values of `compare` under equal parameters, 6 rows of 10 features (Chow's test), Kolmogorov–Smirnov",
            "p > 0.01",
            f"p = {chow['uniform']:.2f}",
        ),
        (f"its power at 5 %, ‖δ‖² = {', '.join(f'{s:g}' for s in chow['sizes'])}", "rises", power),
        (
            '`prior="evidence"` over the optimum that knows, t ≥ 2, four settings',
            "≤ 1.01",
            f"{beyond:.4f}",
        ),
        (
            'the peak: no prior over `prior="evidence"` at t = 4',
            "≥ 10",
            f"{peak['plain'][3] / peak['evidence'][3]:.0f}",
        ),
        ('`decay="adaptive"` over plain without a jump, any t, four settings', "≤ 1.05", f"{cost:.4f}"),
        ('plain over `decay="adaptive"`, 5 tasks after an independent parameter', "≥ 100", f"{better:.0f}"),
        (
            '`decay="adaptive"` over the better of two in hindsight, 10 tasks after a jump of any size',
            "≤ 1.5",
            f"{ratios[size]:.2f} (‖δ‖² = {size})",
        ),
    ]
    for name, errors in _parts("scattered"):
        what = f'tasks that scatter by ‖δ‖² = {name}: `decay="adaptive"` over plain at t = {len(errors["plain"])}'
        rows.append((what, "above 1: here plain wins", f"{errors['adaptive'][-1] / errors['plain'][-1]:.2f}"))
    for row in rows:
        yield f"| {' | '.join(row)} |\n"


if __name__ == "__main__":
    main()
