"""What the questions about time have in common: what they show, what they need, and whom they refuse."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from ridgeway import ContinualRidge, GeneralizedRidge, Oracle, retrospect
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.weights import Accumulated, Isotropic

HOSTILE = "<script>hit()</script>&amp;\"'"
QUESTIONS = {
    "coefficient_path": retrospect.coefficient_path,
    "moving window": lambda model: retrospect.coefficient_path(model, window=3),
    "influence": retrospect.influence,
    "segments": retrospect.segments,
    "cusum": retrospect.cusum,
}
RNG = np.random.default_rng(3)
LABELS = np.repeat(["2011", "2012", "2013", "2014", "2015", "2016"], 9)
X = pd.DataFrame(RNG.normal(size=(54, 2)) + 1.0, columns=["a", "b"])
Y = np.where(LABELS < "2014", 1.0, -1.0) * X["a"].to_numpy() + RNG.normal(size=54)


def learned(X=X, y=Y, labels=LABELS, weight=None, **settings):
    return GeneralizedRidge(**{"information": "by_task", **settings}).fit(X, y, weight, tasks=labels)


class Cells(HTMLParser):
    """Collects the cells of each row of all tables."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags, self.inside = [], set(), False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag):
        self.inside = self.inside and tag not in ("th", "td")

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += data


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_a_notebook_shows_what_is_printed(ask):
    found = ask(learned())
    printed = str(found).splitlines()
    rules = [j for j, line in enumerate(printed) if set(line) == {"-"}]
    lines = [printed[j].split() for j in range(rules[0] + 1, rules[2]) if j != rules[1]]
    assert [" ".join(row).split() for row in Cells(found._repr_html_()).rows] == lines
    assert found.assumption in printed[rules[2] + 1 :]
    assert len({len(printed[j]) for j in rules}) == 1
    assert max(map(len, printed[rules[0] : rules[2]])) == len(printed[rules[0]])


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_names_are_escaped(ask):
    labels = np.where(LABELS == "2014", HOSTILE, LABELS)
    found = ask(learned(X.rename(columns={"a": HOSTILE}), labels=labels))
    cells = Cells(found._repr_html_())
    assert HOSTILE in str(found)
    assert any(HOSTILE in cell for row in cells.rows for cell in row)
    assert "script" not in cells.tags


def numbers(found):
    return [np.asarray(value) for value in vars(found).values() if not isinstance(value, str | tuple | type(None))]


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_the_arrays_of_the_state_are_enough(ask):
    model = learned()
    again = GeneralizedRidge.from_arrays(model.to_arrays(), ["a", "b"])
    for one, two in zip(numbers(ask(model)), numbers(ask(again)), strict=True):
        np.testing.assert_array_equal(one, two)
    kept = retrospect.reweighted(again, decay=0.9)
    np.testing.assert_array_equal(kept.coef_, retrospect.reweighted(model, decay=0.9).coef_)
    written = GeneralizedRidge.from_arrays(kept.to_arrays(), ["a", "b"])
    np.testing.assert_array_equal(written.coef_, kept.coef_)
    assert written.information_.ids == model.information_.ids


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_rows_observed_twice_are_two_rows(ask):
    """weight_kind="frequency": the counts, degrees of freedom and errors are those of repeated rows."""
    twice = np.repeat(np.arange(len(Y)), 2)
    counted = ask(learned(weight=np.full(len(Y), 2.0), weight_kind="frequency"))
    repeated = ask(learned(X.iloc[twice], Y[twice], LABELS[twice]))
    for one, two in zip(numbers(counted), numbers(repeated), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-10)
    precise = ask(learned(weight=np.full(len(Y), 2.0)))
    pairs = zip(numbers(precise), numbers(repeated), strict=True)
    assert not all(np.allclose(one, two, rtol=1e-8, atol=1e-10) for one, two in pairs)


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_who_is_refused(ask):
    with pytest.raises(InvalidParameterError, match="keeps only their total"):
        ask(learned(information="square_root"))
    with pytest.raises(InvalidParameterError, match=r"weights.Accumulated"):
        ask(GeneralizedRidge(Isotropic(1.0)).fit(X, Y))
    for other in (ContinualRidge(), Oracle()):
        with pytest.raises(InvalidParameterError, match="GeneralizedRidge"):
            ask(other.fit(X, Y))
    with pytest.raises(NotFittedError):
        ask(GeneralizedRidge(information="by_task"))
    for prior in (1.0, "evidence"):
        with pytest.raises(InferenceError, match="about least squares"):
            ask(learned(weights=Accumulated(prior)))
    with pytest.raises(InferenceError, match="about least squares"):
        ask(learned(initial_coef=[1.0, 0.0]))
    ask(learned())


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_the_model_is_left_as_it_was(ask):
    model = learned()
    before = {name: array.tobytes() for name, array in model.to_arrays().items()}
    ask(model)
    assert {name: array.tobytes() for name, array in model.to_arrays().items()} == before
