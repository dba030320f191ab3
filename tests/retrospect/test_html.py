"""A summary in a notebook: the numbers and notes of the printed one, as HTML."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from ridgeway import GeneralizedRidge, retrospect, weights

HOSTILE = "<script>hit()</script>&amp;\"'"


class Reader(HTMLParser):
    """Collects the rows of all tables, captions and paragraphs; every tag must be closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.rows, self.words = set(), [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("th", "td"):
            self.rows[-1][-1] += data
        elif data.strip():
            self.words.append(data)


def summarized(names, n_targets=None, prior=0.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, len(names)))
    y = rng.normal(size=30 if n_targets is None else (30, n_targets))
    model = GeneralizedRidge(weights.Accumulated(prior=prior)).fit(pd.DataFrame(X, columns=names), y)
    return retrospect.summary(model)


@pytest.mark.parametrize(("n_targets", "prior"), [(None, 0.0), (None, 1.0), (2, 0.0)])
def test_it_says_what_the_printed_summary_says(n_targets, prior):
    summary = summarized(["age", "size"], n_targets, prior)
    page, printed = Reader(summary._repr_html_()), str(summary).splitlines()
    cells = [line.split() for line in printed]
    assert [row for row in page.rows if row[0]] == [line for line in cells if line[0] in summary.terms]
    assert {len(row) for row in page.rows} == {7}
    assert page.rows[0][1:] == ["coef", "std err", "t", "P>|t|", "[95 %", "95 %]"]
    table = [line for line in printed if line[0] in " -" or line.split()[0] in summary.terms]
    assert page.words == [line for line in printed if line not in table]
    assert page.words[-1] == summary.assumption


def test_names_are_escaped():
    summary = summarized([HOSTILE, "b"])
    assert [row[0] for row in Reader(summary._repr_html_()).rows] == ["", "intercept", HOSTILE, "b"]
    assert "script" not in Reader(summary._repr_html_()).tags
    assert "script" in Reader(summary._repr_html_().replace("&lt;", "<").replace("&gt;", ">")).tags  # the control


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
def test_what_the_rows_do_not_determine_is_said():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 4.0], "b": [0.0, 2.0, 4.0, 8.0]})
    summary = retrospect.summary(GeneralizedRidge().fit(frame, [1.0, 0.0, 2.0, 1.0]))
    assert "The rows do not determine: a, b" in Reader(summary._repr_html_()).words[-1]
