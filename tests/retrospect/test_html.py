"""A summary in a notebook: the numbers and notes of the printed one, as HTML."""

import numpy as np
import pandas as pd
import pytest
from html_pages import HOSTILE, Reader

from ridgeway import GeneralizedRidge, retrospect, weights


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
