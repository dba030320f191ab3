"""What a notebook shows of results: small HTML without a request, names escaped; and plots."""

import re

import numpy as np
import pandas as pd
import pytest
from html_pages import HOSTILE, Reader
from matplotlib import pyplot
from matplotlib.figure import Figure

from ridgeway import (
    GeneralizedLogistic,
    GeneralizedRidge,
    GeneralizedRidgeClassifier,
    MinimumNorm,
    report,
    retrospect,
    store,
    weights,
)
from ridgeway.errors import InvalidParameterError, MissingPackageError

NAMES = [HOSTILE, "$b$", "c"]
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(60, 3)), columns=NAMES)
y = X @ [1.0, 2.0, 3.0] + rng.normal(size=60)


@pytest.fixture
def model():
    return GeneralizedRidge(information="by_task").fit(X, y, tasks=np.repeat([HOSTILE, "two", "three"], 20))


def state_file(folder):
    opened = store.create(folder / "state.rw", features=NAMES[1:], target="y")
    opened.absorb("<script>", X[NAMES[1:]], y)  # an id has no slash
    return opened


SHOWN = {
    "summary": lambda model, folder: retrospect.summary(model),
    "clustered": lambda model, folder: retrospect.clustered(model),
    "compare": lambda model, folder: retrospect.compare(model, X[:20], y[:20] + 1.0),
    "tasks": lambda model, folder: retrospect.tasks(model),
    "coefficient_path": lambda model, folder: retrospect.coefficient_path(model),
    "segments": lambda model, folder: retrospect.segments(model),
    "influence": lambda model, folder: retrospect.influence(model),
    "Store": lambda model, folder: state_file(folder),
}
STATES = {
    "pooled": GeneralizedRidge().fit(X, y),
    "by task": GeneralizedRidge(information="by_task").fit(X, y),
    "fading": GeneralizedRidge(weights.Accumulated(decay=0.5)).fit(X, y),
    "anchored": MinimumNorm().fit(X, y),
    "two targets": GeneralizedRidge().fit(X, np.column_stack([y, -y])),
    "classes": GeneralizedRidgeClassifier().fit(X, np.repeat([HOSTILE, "two", "three"], 20)),
    "expanded": GeneralizedLogistic(weights.Accumulated(prior=1.0)).fit(X, y > 0.0),
}


def check_page(text):
    """Read a piece of HTML: every tag is closed, no element can ask for anything, and nothing is a script."""
    page = Reader(text)
    assert page.tags <= {"div", "p", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert set(re.findall(r"<\w+ (\w+)=", text)) <= {"style"}
    assert len(text) < 10_000
    return page


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.filterwarnings("ignore::ridgeway.errors.FewClustersWarning")
def test_results(name, model, tmp_path):
    text = SHOWN[name](model, tmp_path)._repr_html_()
    page = check_page(text)
    said = [*(cell for row in page.rows for cell in row), *page.words]
    assert any(("<script>" if name == "Store" else HOSTILE) in words for words in said)
    with pytest.raises(AssertionError):  # the control: without escapes, the names are tags
        check_page(text.replace("&lt;", "<").replace("&gt;", ">"))


@pytest.mark.parametrize("name", STATES)
def test_states(name):
    model = STATES[name]
    page = check_page(model.state_._repr_html_())
    kind = type(model.state_).__name__
    assert page.words[0].startswith(f"{kind}: 1 task, 60 rows, 3 features")
    shown = np.array([[float(cell) for cell in row[1:]] for row in page.rows[1:]])
    known = np.vstack([np.reshape(model.intercept_, (1, -1)), np.atleast_2d(model.coef_).T])
    np.testing.assert_allclose(shown, known, rtol=1e-3)
    assert [row[0] for row in page.rows[1:]] == ["intercept", "x0", "x1", "x2"]
    heads = {"classes": sorted([HOSTILE, "three", "two"]), "two targets": ["target 0", "target 1"]}
    assert page.rows[0][1:] == heads.get(name, ["coef"])


def test_a_state_without_an_answer_says_why():
    state = GeneralizedRidge(weights.Accumulated(prior="evidence", decay=0.5)).fit(X, y).state_
    assert "rows of older tasks fade" in check_page(state._repr_html_()).words[-1]
    assert "Anchored" in str(MinimumNorm(fit_intercept=False).fit(X, y).state_)


def test_many_features_stay_small():
    wide = np.random.default_rng(0).normal(size=(5, 2000))
    state = MinimumNorm().fit(wide, wide[:, 0]).state_
    check_page(state._repr_html_())
    axes = state.plot()
    assert axes.get_xlabel() == "coefficient\n(40 of 2,000 terms)"
    largest = np.sort(np.argsort(-np.abs(state.answer.coef[:, 0]))[:40])
    assert [text.get_text() for text in axes.get_yticklabels()] == [f"x{j}" for j in largest]
    pyplot.close(axes.figure)


def test_a_file_that_is_gone_or_has_lost_a_task(tmp_path):
    opened = state_file(tmp_path)
    opened.absorb("late", X[NAMES[1:]] + 1.0, y)
    opened.remove("late", X[NAMES[1:]] + 1.0, y)
    assert check_page(opened._repr_html_()).rows[-1][-1] == "removed at #3"
    assert "1 task, 60 rows" in opened._repr_html_()
    opened.path.unlink()
    assert "there is no state file" in check_page(opened._repr_html_()).words[-1]
    assert str(opened) == repr(opened)


def drawn(axes):
    """Return the names, the points and the ends of the lines of a plot, from top to bottom."""
    names = [text.get_text().replace("\n", "") for text in axes.get_yticklabels()]
    points = axes.lines[-1].get_xdata()
    return names, points, [segment[:, 0] for segment in axes.collections[0].get_segments()]


def test_plot_of_a_summary(model):
    found = retrospect.summary(model)
    axes = Figure().add_subplot()
    assert found.plot(axes) is axes
    names, points, ends = drawn(axes)
    assert names == NAMES
    np.testing.assert_array_equal(points, found.coef[1:])
    np.testing.assert_array_equal(ends, found.intervals[1:])
    assert axes.get_xlabel() == "coefficient, with 95 % intervals"
    axes.figure.draw_without_rendering()  # names are no formulas
    with pytest.raises(InvalidParameterError, match="target must be an integer from 0 to 0; got 1"):
        found.plot(target=1)


def learned_by_task(n_tasks, n_rows=12, targets=1):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(n_tasks * n_rows, 2)), columns=["$a$", HOSTILE])
    targets = rng.normal(size=(len(frame), targets)).squeeze()
    labels = np.repeat([f"{number}{HOSTILE}" for number in range(n_tasks)], n_rows)
    return GeneralizedRidge(information="by_task").fit(frame, targets, tasks=labels)


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize(("n_tasks", "step"), [(5, 1), (40, 1), (41, 2), (200, 5)])
def test_plot_of_tasks(n_tasks, step, targets):
    found = retrospect.tasks(learned_by_task(n_tasks, targets=targets), level=0.9)
    axes = Figure().add_subplot()
    assert found.plot("$a$", axes, target=targets - 1) is axes
    names, points, ends = drawn(axes)
    place = found.terms.index("$a$")
    coef, intervals = np.atleast_3d(found.coef.T).T[-1], found.intervals.reshape(-1, n_tasks, 3, 2)[-1]
    assert names == list(found.tasks)[::step]
    np.testing.assert_array_equal(points, coef[:, place])
    np.testing.assert_array_equal(ends, intervals[:, place])
    named = "" if step == 1 else f"\n(one of {step} tasks is named)"
    assert axes.get_xlabel() == f"$a$ in each task, with 90 % intervals{named}"
    axes.figure.draw_without_rendering()  # names are no formulas


def test_a_plot_of_tasks_refuses_what_is_not_there():
    found = retrospect.tasks(learned_by_task(3))
    with pytest.raises(InvalidParameterError, match=r"unknown term 'Intercept'\. Did you mean 'intercept'\?"):
        found.plot("Intercept")
    with pytest.raises(InvalidParameterError, match="target must be an integer from 0 to 0; got 1"):
        found.plot("intercept", target=1)


def test_one_wild_task_does_not_set_the_axes_of_a_plot_of_tasks():
    """A task without an error, and one with a very wide interval."""
    model = learned_by_task(12)
    before = retrospect.tasks(model).plot("$a$", Figure().add_subplot()).get_xlim()
    frame = pd.DataFrame({"$a$": [0.0, 1e-6, 1.0], HOSTILE: [1.0, 1.0, 2.0]})
    model.partial_fit(frame, [0.0, 5.0, 1.0], task="exact")
    frame = pd.DataFrame({"$a$": [0.0, 1e-3, 0.0, 1e-3], HOSTILE: [1.0, 1.0, 2.0, 3.0]})
    model.partial_fit(frame, [0.0, 0.1, 1.0, -1.0], task="wide")
    found = retrospect.tasks(model)
    assert np.isinf(found.standard_errors[found.tasks.index("exact")]).all()
    assert np.ptp(found.intervals[found.tasks.index("wide"), 1]) > 1000.0
    axes = found.plot("$a$", Figure().add_subplot())
    assert np.ptp(axes.get_xlim()) < 1.2 * np.ptp([*before, *found.coef[found.tasks.index("wide"), [1]]])


def test_plot_of_one_of_two_targets():
    model = GeneralizedRidge().fit(X, np.column_stack([y, -y]))
    found = retrospect.summary(model)
    np.testing.assert_array_equal(drawn(found.plot(Figure().add_subplot(), target=1))[1], found.coef[1, 1:])
    points = model.state_.plot(Figure().add_subplot(), target=1).lines[-1].get_xdata()
    np.testing.assert_array_equal(points, model.coef_[1])
    compared = retrospect.compare(model, X[:30] + 1.0, np.column_stack([y, y])[:30])
    points, ends = drawn(compared.plot(Figure().add_subplot(), target=1))[1:]
    np.testing.assert_array_equal(points, compared.coef_differences[1])
    np.testing.assert_array_equal(ends, compared.coef_intervals[1])


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
def test_terms_that_are_not_determined_are_named_without_an_interval():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 4.0], "b": [0.0, 2.0, 4.0, 8.0]})
    found = retrospect.summary(GeneralizedRidge().fit(frame, [1.0, 0.0, 2.0, 1.0]))
    names, points, ends = drawn(found.plot(Figure().add_subplot()))
    assert (names, len(points), ends) == (["a", "b"], 2, [])


def test_a_new_figure_unless_axes_are_given(model):
    axes = retrospect.summary(model).plot()
    assert pyplot.fignum_exists(axes.figure.number)
    pyplot.close(axes.figure)


def test_matplotlib_is_asked_for_by_name(model, monkeypatch):
    monkeypatch.setattr("ridgeway._optional.find_spec", lambda package: None)
    with pytest.raises(MissingPackageError, match=r"matplotlib.*ridgeway\[plot\]"):
        model.state_.plot()


@pytest.fixture(scope="module")
def compared():
    sites = np.repeat([HOSTILE, "two", "three"], 20)
    return report.compare(X.assign(site=sites, y=y), target="y", task_column="site", methods=["mn", "gr"])


def test_a_comparison_of_methods(compared):
    page = check_page(compared._repr_html_())
    assert page.rows[0][:3] == ["method", "error", "forgetting"]
    assert [row[0] for row in page.rows[1:]] == [result.method.name for result in compared.results]
    assert page.words == ["3 tasks, 48 training rows", *compared.notes]
    assert compared.sentence in str(compared)


def test_plot_of_a_comparison_of_methods(compared):
    axes = Figure().add_subplot()
    assert compared.plot(axes) is axes
    slopes = [line.get_ydata() for line in axes.lines]
    np.testing.assert_array_equal(slopes, [[result.learned_loss, result.kept_loss] for result in compared.results])
    assert {text.get_text().split()[0] for text in axes.texts} == {"MinimumNorm", "GeneralizedRidge", "Oracle"}
    pyplot.close(compared.plot().figure)
