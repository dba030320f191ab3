"""Make the table and the figures of docs/retrospect.md from the results in docs/retrospect.json."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from matplotlib.figure import Figure
from paper_figures import OLIVE, SLATE, VIOLET, label, name_line, panels
from sklearn.datasets import load_diabetes

from ridgeway import GeneralizedRidge, retrospect
from ridgeway._style import BLACK, BLUE, ink, shade

PAGE = Path(__file__).with_name("retrospect.md")
RESULTS: dict[str, Any] = json.loads(PAGE.with_suffix(".json").read_text(encoding="utf-8"))
START, END = "<!-- table: made by `make retrospect` -->\n", "<!-- end of table -->\n"


def main() -> None:
    """Draw the figures and put the table into the page."""
    for name, draw in {"diabetes": diabetes, "evidence": evidence}.items():
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
    label(first, "Four of ten 95 % intervals exclude 0", "progression per standard deviation", "")
    path = retrospect.elastic_net(model, l1_ratio=1)
    last = path.coefs[-1]
    free = np.inf
    for j in np.argsort(-last):
        shown = abs(last[j]) > 10.0
        second.semilogx(
            path.penalties, path.coefs[:, j], color=BLUE if shown else shade(BLUE, 0.35), lw=1.5 if shown else 0.8
        )
        if shown:  # names from above, none on top of another
            free = min(last[j], free - 3.0)
            second.annotate(
                names[j], (path.penalties[-1], free), xytext=(4, -3), textcoords="offset points", fontsize=8
            )
    second.invert_xaxis()
    label(second, "The lasso takes bmi and s5 first, then bp", "penalty", "progression per standard deviation")
    kept, low = X.drop(columns="sex"), X["sex"] < 0
    one, two = (retrospect.summary(GeneralizedRidge().fit(kept[of], y[of])) for of in (low, ~low))
    terms = np.arange(1, len(one.terms))
    for shift, who, colour, marker, text in ((-0.15, one, VIOLET, "o", "sex = 1"), (0.15, two, OLIVE, "s", "sex = 2")):
        width = (who.intervals[1:, 1] - who.intervals[1:, 0]) / 2.0
        third.errorbar(who.coef[1:], terms + shift, xerr=width, fmt=marker, color=colour, capsize=2, ms=4)
        third.text(who.coef[1] + np.sign(shift) * (width[0] + 3.0), 1.0 + shift, text, color=ink(colour), fontsize=8.5,
                   va="center", ha="left" if shift > 0.0 else "right")  # fmt: skip
    third.axvline(0.0, color=BLACK, lw=1)
    third.set_yticks(terms, one.terms[1:])
    third.invert_yaxis()
    p_value = retrospect.compare(GeneralizedRidge().fit(kept[low], y[low]), kept[~low], y[~low]).p_value
    title = f"As two tasks, the sexes disagree (Wald's test: p = {p_value:.0e})"
    label(third, title, "progression per standard deviation", "")
    return figure


def evidence() -> Figure:
    """Interpolation peak, and the distance from the optimum in the paper's settings."""
    figure, (first, second) = panels(2)
    peak = RESULTS["peak"]
    tasks = np.arange(1, len(peak["plain"]) + 1)
    (line,) = first.semilogy(tasks, peak["plain"], color=BLUE, marker="P", ms=4)
    name_line(line, "no prior (H̃)", 3 / 7, (8, 0), "left")
    (line,) = first.semilogy(tasks, peak["evidence"], color=shade(BLUE, -0.4), marker="s", ms=4)
    name_line(line, "prior='evidence'", 3 / 7, (-10, -8), "right")
    (line,) = first.semilogy(tasks, peak["optimum"], color=BLACK, ls=":")
    name_line(line, "dotted: the optimum\n(knows σ² and E[w w'])", 1.0, (0, 50), "right")
    first.set(ylim=(0.5, 1e5))
    title = "A learned prior removes the peak at p rows\n(n = 50, p = 200)"
    label(first, title, "task", "mean of ‖ŵ − w‖²")
    shifts = ((20, 8), (8, 4), (40, 18), (26, 0))
    styles = zip(_by_setting(), (BLUE, VIOLET, OLIVE, SLATE), ("-", "--", "-.", ":"), shifts, strict=True)
    for (setting, errors), colour, dashes, shift in styles:
        ratio = np.array(errors["evidence"]) / errors["optimum"]
        (line,) = second.plot(np.arange(2, len(ratio) + 1), 100.0 * (ratio[1:] - 1.0), color=colour, ls=dashes)
        name_line(line, setting, 0.0, shift, "left")
    second.axhline(1.0, color=BLACK, lw=1, ls=":")
    second.text(20, 0.96, "the bar", fontsize=8.5, ha="right", va="top")
    second.set_xticks([2, 5, 10, 15, 20])
    title = "In the paper's settings it costs less than\nhalf a percent of the optimum's error"
    label(second, title, "task", "% of the optimum's error")
    return figure


def _by_setting() -> list[tuple[str, dict[str, list[float]]]]:
    """Return each of the paper's settings with the errors in it."""
    prefix = "evidence, "
    return [(name.removeprefix(prefix), errors) for name, errors in RESULTS.items() if name.startswith(prefix)]


def table() -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    hits, chow, peak = (RESULTS[name] for name in ("coverage", "chow", "peak"))
    worst = max(hits.values(), key=lambda share: abs(share - 0.95))
    beyond = max(max(np.array(part["evidence"][1:]) / part["optimum"][1:]) for _, part in _by_setting())
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
    ]
    for row in rows:
        yield f"| {' | '.join(row)} |\n"


if __name__ == "__main__":
    main()
