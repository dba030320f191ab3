"""What the questions about tasks have in common: who may ask, what is printed, and what is said."""

from itertools import groupby

import numpy as np
import pandas as pd
import pytest
from grouped import drawn, learned_by_task
from html_pages import HOSTILE, Reader

from ridgeway import ContinualRidge, GeneralizedRidge, retrospect, weights
from ridgeway.errors import InferenceError, InvalidParameterError

QUESTIONS = {
    "fixed_effects": retrospect.fixed_effects,
    "random_effects": retrospect.random_effects,
    "tasks": retrospect.tasks,
}


@pytest.fixture(params=QUESTIONS.values(), ids=QUESTIONS.keys())
def ask(request):
    return request.param


def rows(targets=None, p=2):
    return drawn(np.random.default_rng(2), n_tasks=12, most=16, p=p, targets=targets, least=7)[:3]


def test_models_that_cannot_be_asked(ask):
    X, y, labels = rows()
    with pytest.raises(InvalidParameterError, match=r'information="by_task"'):
        ask(GeneralizedRidge().fit(X, y, tasks=labels))
    with pytest.raises(InvalidParameterError, match="GeneralizedRidge"):
        ask(ContinualRidge().fit(X, y))
    for settings in ({"weights": weights.Accumulated(prior=1.0)}, {"initial_coef": np.ones(2)}):
        with pytest.raises(InferenceError, match="about least squares"):
            ask(GeneralizedRidge(information="by_task", **settings).fit(X, y, tasks=labels))


@pytest.mark.parametrize("level", [0.0, 1.0, 95, "95"])
def test_levels(ask, level):
    X, y, labels = rows()
    with pytest.raises(InvalidParameterError, match=r"0\.95"):
        ask(learned_by_task(X, y, labels), level=level)


def test_the_model_is_left_as_it_is(ask):
    X, y, labels = rows()
    model = learned_by_task(X, y, labels)
    before = {name: array.copy() for name, array in model.to_arrays().items()}
    ask(model)
    for name, array in model.to_arrays().items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize("targets", [None, 2])
def test_a_notebook_shows_what_is_printed(ask, targets):
    X, y, labels = rows(targets)
    found = ask(learned_by_task(X, y, labels))
    page, printed = Reader(found._repr_html_()), str(found).splitlines()
    shown = [" ".join(" ".join(row).split()) for row in page.rows]
    lines = [" ".join(line.split()) for line in printed]
    assert all(row in lines for row in shown)
    assert len(shown) > 2
    for in_table, table in groupby(printed, lambda line: " ".join(line.split()) in shown or line.startswith("---")):
        assert not in_table or len({len(line) for line in table}) == 1  # the columns are aligned
    rest = [line for line in lines if line not in shown and not line.startswith("-")]
    assert [" ".join(word.split()) for word in page.words] == rest
    assert found.assumption in printed
    assert ("target 1" in str(found)) == (targets == 2)
    assert "assumed" in found.assumption


@pytest.mark.parametrize("targets", [None, 2])
def test_frames_hold_the_numbers(ask, targets):
    X, y, labels = rows(targets)
    found = ask(learned_by_task(X, y, labels))
    frame = found.to_frame()
    column = "coef" if "coef" in frame else found.terms[-1]
    numbers = found.coef if "coef" in frame else found.coef[..., -1]
    np.testing.assert_array_equal(frame[column], np.ravel(numbers))
    kind = "task" if len(frame) == len(getattr(found, "tasks", ())) * (targets or 1) else "term"
    labels = found.tasks if kind == "task" else found.terms
    assert list(frame.index.get_level_values(-1)) == list(labels) * (targets or 1)
    assert frame.index.names == ([None] if targets is None else ["target", kind])


def test_each_target_is_answered_as_if_alone(ask):
    X, Y, labels = rows(2)
    both, second = ask(learned_by_task(X, Y, labels)), ask(learned_by_task(X, Y[:, 1], labels))
    np.testing.assert_allclose(both.coef[1], second.coef, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(both.standard_errors[1], second.standard_errors, rtol=1e-5)
    np.testing.assert_allclose(both.intervals[1], second.intervals, rtol=1e-5, atol=1e-8)


def test_names_are_escaped(ask):
    X, y, labels = rows()
    frame = pd.DataFrame(X, columns=[HOSTILE, "b"])
    model = GeneralizedRidge(information="by_task").fit(frame, y, tasks=[f"<b>{label}" for label in labels])
    text = ask(model)._repr_html_()
    assert "script" not in Reader(text).tags
    assert "b" not in Reader(text).tags


def test_higher_levels_are_wider(ask):
    X, y, labels = rows()
    model = learned_by_task(X, y, labels)
    narrow, wide = (np.diff(ask(model, level=level).intervals, axis=-1) for level in (0.5, 0.99))
    assert (wide > 1.5 * narrow).all()


def test_a_search_that_did_not_converge_says_so(monkeypatch):
    X, y, labels = rows()
    model = learned_by_task(X, y, labels)
    assert "not converged" not in str(retrospect.random_effects(model))
    monkeypatch.setattr("ridgeway.retrospect._reml.MOST_RESTARTS", 0)
    monkeypatch.setattr("ridgeway.retrospect._reml.SMALL", 1e-30)
    found = retrospect.random_effects(model)
    assert not found.is_converged
    assert "did not converge" in str(found)
