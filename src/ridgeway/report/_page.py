"""The report as one HTML file: no scripts, no requests, every name escaped."""

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from importlib.resources import files

import numpy as np

from ridgeway._text import escaped as escape
from ridgeway.catalogue import SGD_STEPS
from ridgeway.report._html import make_figure, make_table
from ridgeway.report._measures import Measure, short
from ridgeway.report._method_result import MethodResult
from ridgeway.report._result import MethodComparison

SGD_REGRESSOR = ("SGDRegressor", "the step size is reduced if it would overflow")


def _headings(measure: Measure) -> list[tuple[str, str]]:
    """Return the columns of the summary, and what they mean."""
    unit = ", in points" if measure.rises else ""
    change = "when learned minus at the end" if measure.rises else "at the end minus when learned"
    extra = [("log-loss", "average over all tasks after the last one, if the method has probabilities")]
    return [
        ("method", "the method, and what it keeps from task to task"),
        (measure.name, "average over all tasks after the last one"),
        *(extra if measure.rises else []),
        ("when learned", "on each task but the last, just after it was learned"),
        ("at the end", "on the same tasks, after the last one"),
        (f"forgetting{unit}", f"{change}; the negative of the backward transfer"),
        (
            f"forward transfer{unit}",
            f"how much better a task is predicted before it is learned than by {measure.nothing}",
        ),
        ("from pooled", measure.away),
        (f"spread over orders{unit}", f"largest minus smallest {measure.name} over the task orders"),
        ("bytes kept", "size of the pickled model after the last task"),
        ("ms per task", "median time to learn a task and make one prediction"),
    ]


def make_page(comparison: MethodComparison, images: list[tuple[str, str, bytes]]) -> str:
    """Return the page with the figures (name, description, SVG) inside it."""
    shown = {name: make_figure(words, words, svg) for name, words, svg in images}
    maps = [html for name, html in shown.items() if name.startswith("losses-")]
    lines = [html for name, html in shown.items() if not name.startswith("losses-")]
    target, measure = escape(comparison.target), comparison.measure
    bad = "low" if measure.rises else "large"
    style = (files("ridgeway.report") / "page.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>Which methods forget? {target}</title>
<style>{style}</style>
</head>
<body>
<h1>Which methods forget?</h1>
<p class="quiet">{escape(comparison.source)}<br>Predicting <b>{target}</b>, one task per
{escape(", ".join(comparison.task_columns))}. {escape(comparison.family_sentence)}</p>
<p class="said">{escape(comparison.sentence)}</p>
{_summary(comparison)}
<p class="quiet">{_judged(comparison.measure, target)}</p>
<h2>What happened</h2>
<div class="grid">{"".join(lines)}</div>
<h2>The {measure.name} on every task after every task</h2>
<p class="quiet">Each row is the state after one task, each column the {measure.name} on one task. Tasks below the white
line have been learned. Dark means a {bad} {measure.name}: a method that forgets gets darker downwards. All maps use the
same colours.</p>
<div class="grid small">{"".join(maps)}</div>
<h2>The tasks, in the order in which they were learned</h2>
{_tasks(comparison)}
<h2>How the data was prepared</h2>
<ul>{"".join(f"<li>{line}</li>" for line in _prepared(comparison))}</ul>
{_encoding(comparison)}
<h2>How the methods were run</h2>
<ul>{"".join(f"<li>{line}</li>" for line in _run(comparison))}</ul>
</body>
</html>
"""


def _judged(measure: Measure, target: str) -> str:
    """Return what the numbers are, and what counts as forgetting."""
    more = "fell by at least 5 points more" if measure.rises else "rose by at least 5% more"
    return (
        f"{measure.words.format(target=target)} A method counts as forgetting if its {measure.name} on earlier tasks "
        f"{more} than that of the pooled answer, and by more than chance explains (99% confidence, from the same rows "
        "assigned to tasks at random), and if task order matters to it."
    )


def _summary(comparison: MethodComparison) -> str:
    headings = _headings(comparison.measure)
    head = "".join(f'<th title="{escape(words)}">{escape(name)}</th>' for name, words in headings)
    body = "".join(_summary_row(result, headings) for result in comparison.results)
    return f'<table class="cards" id="summary"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _summary_row(result: MethodResult, headings: list[tuple[str, str]]) -> str:
    measure = result.measure
    forgetting = measure.shown_change(result.forgetting)
    if result.forgets:
        mark = "" if measure.rises else f" ({result.rise:+.0%})"
        forgetting = f'<span class="forgets">{forgetting}{mark}</span>'
    distance = measure.shown_distance(result.distance)
    if result.distance <= 1e-8 and result.method.key != "oracle":
        distance = f'<span class="pooled">{distance}</span>'
    cells = [
        f"<span>{escape(result.method.name)} <span class='quiet'>{escape(result.method.about)}</span></span>",
        measure.shown(result.average_loss),
        *(["–" if np.isnan(result.log_loss) else short(result.log_loss)] if measure.rises else []),
        measure.shown(result.learned_loss),
        measure.shown(result.kept_loss),
        forgetting,
        measure.shown_change(result.forward_transfer),
        distance,
        measure.shown_change(result.spread) if measure.rises else f"{result.spread:.3g}",
        f"{result.n_bytes:,}",
        f"{1e3 * float(np.median(result.seconds)):.2f}",
    ]
    labelled = zip(headings, cells, strict=True)
    return "<tr>" + "".join(f'<td data-label="{escape(h)}">{cell}</td>' for (h, _), cell in labelled) + "</tr>"


def _tasks(comparison: MethodComparison) -> str:
    tasks = enumerate(comparison.tasks, start=1)
    rows = ((str(number), escape(task.name), f"{task.n_train:,}", f"{task.n_test:,}") for number, task in tasks)
    return make_table("tasks", ("number", "task", "rows learned from", "rows held out"), rows)


def _encoding(comparison: MethodComparison) -> str:
    names = [*comparison.encoding.features, f"{comparison.target} (target)"]
    constants = zip(names, comparison.center, comparison.scale, strict=True)
    rows = ((escape(name), f"{center:.6g}", f"{scale:.6g}") for name, center, scale in constants)
    return make_table("encoding", ("encoded column", "subtracted", "divided by"), rows)


def _counts(by_column: Mapping[str, int]) -> str:
    return ", ".join(f"{escape(name)} ({count:,})" for name, count in by_column.items())


def _prepared(comparison: MethodComparison) -> Iterator[str]:
    used = sum(task.n_train + task.n_test for task in comparison.tasks)
    yield f"{comparison.n_rows:,} rows in the table, {used:,} used."
    if comparison.dropped:
        yield f"Missing values, whose rows were left out: {_counts(comparison.dropped)}."
    else:
        yield "No rows were left out because of a missing value."
    if comparison.lost_tasks:
        yield f"Tasks left out because no rows remained: {escape(', '.join(comparison.lost_tasks))}."
    encoding = comparison.encoding
    for name, levels in encoding.levels.items():
        first, *others = map(escape, levels)
        yield f"{escape(name)}: 0 or 1 for each of {', '.join(others)}, with {first} as the reference level."
    if encoding.indicators:
        marked = escape(", ".join(encoding.indicators))
        yield f"Missing values count as 0 and are marked in a column of their own: {marked}."
    if comparison.constant:
        yield f"Left out because they have only one value: {escape(', '.join(comparison.constant))}."
    if comparison.classes:
        yield f"Classes: {escape(', '.join(comparison.classes))}."
    columns = "columns and the target" if comparison.family == "gaussian" else "columns"
    yield (
        f"Numeric {columns} are standardised by the constants below. They are fixed before the first task, "
        "from running sums over the rows to learn from: a count, a mean and a sum of squares per column."
    )
    chosen = f"{comparison.holdout:.0%} of the rows of each task, at least one,"
    yield f"{chosen} were chosen at random (seed {comparison.seed}) and held out."


def _run(comparison: MethodComparison) -> Iterator[str]:
    keys = {result.method.key for result in comparison.results}
    yield f"Task order: {escape(comparison.order)}. The spread is over this order and random ones."
    yield "The oracle keeps every row and fits them all at once. It is the pooled answer: a yardstick, not a method."
    if "sgd" in keys:
        name, except_ = ("SGDClassifier", "it has the logistic loss") if comparison.classes else SGD_REGRESSOR
        yield (
            f"{name} (scikit-learn {version('scikit-learn')}) has its default settings, except that {except_}. It "
            f"makes at least {SGD_STEPS:,} steps per task."
        )
    if "river" in keys:
        yield f"river {version('river')}: BayesianLinearRegression, which also keeps second moments; its prior is 1."
    for name in comparison.absent:
        yield f"{escape(name)} was not compared because it is not installed."
    for result in comparison.results:
        for warning in result.warned:
            yield f"{escape(result.method.name)} warned: {escape(warning)}"
    yield f"Made by ridgeway {version('ridgeway')}."
