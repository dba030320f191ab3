"""How the tasks differ: the page has retrospect's numbers of the same rows, or says why not, and never fails."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from html_pages import Reader
from report.tables import NASTY, alike, nasty
from report.test_compare import SITES, rows_of

from ridgeway import GeneralizedRidge, report, retrospect
from ridgeway.report import _differences
from ridgeway.report._differences_section import differences_sentence

WORDS = {"path": "path of the", "influence": "influence of each", "segments": "segments with"}


def compared(frame, **options):
    return report.compare(frame, **SITES | options, methods=["gr"])


def changed(rng, *, n_tasks=8, n=40):
    """Tasks whose slope of x1 changes before s5."""
    x = rng.normal(size=(n_tasks * n, 2))
    task = np.repeat(np.arange(n_tasks), n)
    y = 3.0 + np.where(task < 5, 1.0, 3.0) * x[:, 0] - 2.0 * x[:, 1] + rng.normal(size=len(x))
    return pd.DataFrame({"site": [f"s{t}" for t in task], "x1": 5.0 + 1000.0 * x[:, 0], "x2": x[:, 1], "y": y})


def section(page):
    return page.read_text(encoding="utf-8").partition("<h2>How the tasks differ</h2>")[2]


def cells(page):
    """Return the rows of the table of tasks as texts; every tag of the section must be closed."""
    _, *rows = Reader(re.sub("<img[^>]*>", "", section(page).partition("</body>")[0])).rows
    return rows


def on_the_rows(frame, features=("x1", "x2")):
    """Return a model of the same rows in one call, the rows of each task, and the names of the tasks."""
    train, _ = rows_of(frame, target="y", task_columns=["site"], features=list(features))
    names = list(dict.fromkeys(frame["site"]))
    rows, labels = np.concatenate(train), np.repeat(names, [len(part) for part in train])
    model = GeneralizedRidge(information="by_task")
    return model.fit(pd.DataFrame(rows[:, :-1], columns=list(features)), rows[:, -1], tasks=labels), train, names


def test_the_page_and_the_files_have_the_numbers_of_retrospect(rng, tmp_path):
    frame = changed(rng)
    page = report.write_report(compared(frame), tmp_path / "r")
    model, train, names = on_the_rows(frame)
    table, moved, divided = retrospect.tasks(model), retrospect.influence(model), retrospect.segments(model)
    written = pd.read_parquet(page.parent / "tasks.parquet")
    assert list(written["task"]) == names
    np.testing.assert_allclose(written["p_value"], table.p_values, rtol=1e-6)
    np.testing.assert_allclose(written["adjusted_p_value"], table.adjusted_p_values, rtol=1e-6)
    np.testing.assert_allclose(written["cooks_distance"], moved.distance, rtol=1e-9)
    assert list(written["segment"]) == [1] * 5 + [2] * 3
    for row, each in zip(cells(page), written.itertuples(), strict=True):
        noise, distance = each.noise_standard_deviation, each.cooks_distance
        assert row == [
            each.task,
            str(each.rows_learned),
            f"{noise:.4g}",
            f"{each.adjusted_p_value:.2g}",
            f"{distance:.4g}",
        ]
    # The noise and the coefficients against NumPy's least squares, in the units of the table.
    coefs = pd.read_parquet(page.parent / "task_coefficients.parquet").set_index(["task", "term"])
    for name, rows, noise in zip(names, train, written["noise_standard_deviation"], strict=True):
        A = np.column_stack([np.ones(len(rows)), rows[:, :-1]])
        coef, (squares,) = np.linalg.lstsq(A, rows[:, -1], rcond=None)[:2]
        assert noise == pytest.approx(np.sqrt(squares / (len(A) - 3)))
        np.testing.assert_allclose(coefs.loc[name]["coef_alone"], coef, rtol=1e-7)
    rows = np.concatenate(train)
    pooled = np.linalg.lstsq(np.column_stack([np.ones(len(rows)), rows[:, :-1]]), rows[:, -1], rcond=None)[0]
    np.testing.assert_allclose(coefs.loc["s7"]["coef_so_far"], pooled, rtol=1e-7)
    np.testing.assert_allclose(coefs.loc["s0"]["coef_without"], moved.coef_without[0], rtol=1e-7)
    np.testing.assert_allclose(coefs.loc["s5"]["coef_in_segment"], divided.coef[1], rtol=1e-7)
    assert (
        abs(coefs.loc["s5", "x1"]["coef_in_segment"] - 0.003) < 4.0 * coefs.loc["s5", "x1"]["standard_error_in_segment"]
    )


def test_the_sentence_the_captions_and_the_figures_say_what_was_found(rng, tmp_path):
    frame = changed(rng)
    found = compared(frame)
    page = report.write_report(found, tmp_path / "r")
    model, _, names = on_the_rows(frame)
    differing = [n for n, p in zip(names, retrospect.tasks(model).adjusted_p_values, strict=True) if p < 0.05]
    said = differences_sentence(found)
    assert len(differing) >= 3
    listed = f"{', '.join(differing[:-1])} and {differing[-1]}"
    assert said.startswith(
        f"{len(differing)} of 8 tasks differ from the others after Holm's adjustment (p < 0.05): {listed}."
    )
    assert "In the order of the file, the relation changed before s5; " in said
    assert json.loads((page.parent / "comparison.json").read_text())["said_of_tasks"] == said
    assert html.escape(said) in section(page)
    pictures = re.findall('<figure><figcaption>(.*?)</figcaption><img alt="(.*?)" src="data:image/svg', section(page))
    assert len(pictures) == 3
    for caption, words in pictures:
        assert caption.count(". ") == 0, "one sentence"
        assert words.endswith(".")
        assert "assum" in caption or ", if " in caption
    assert "The relation changes before s5" in pictures[2][1]
    assert "not standardised" in section(page)


def test_one_task_that_differs_is_named(rng):
    frame = changed(rng).query("site < 's5'")
    frame["y"] += frame["x2"] * (frame["site"] == "s3")
    assert differences_sentence(compared(frame)).startswith("1 of 5 tasks differs from the others after Holm's ")


def test_tasks_that_agree_are_said_to_agree(rng):
    said = differences_sentence(compared(alike(np.random.default_rng(5))))
    assert said.startswith("No task differs detectably from the others after Holm's adjustment (the smallest adjusted ")
    assert "no change of the relation is found: the best single change, before s" in said


def test_tasks_that_are_too_small_still_give_a_report(tmp_path):
    frame = pd.DataFrame({"site": ["a", "a", "b", "b"], "x1": [0.0, 1.0, 2.0, 5.0], "x2": [1.0, 0.0, 1.0, 3.0]})
    page = report.write_report(compared(frame.assign(y=[1.0, 2.0, 0.5, 4.0])), tmp_path / "r")
    text = section(page)
    assert "Whether the tasks agree cannot be said: no task can be tested" in text
    assert "<figure>" not in text
    for words in WORDS.values():
        assert re.search(f"The {words}[^<]* cannot be shown: [^<]+\\.</p>", text), words
    table = pd.read_csv(page.parent / "tasks.csv")
    assert list(table["rows_learned"]) == [1, 1]
    assert table[["p_value", "cooks_distance", "segment"]].isna().all(axis=None)
    assert {*json.loads((page.parent / "comparison.json").read_text())["not_answered"]} == {*WORDS, "table"}


def test_one_small_task_among_others_is_named(rng, tmp_path):
    frame = changed(rng)
    frame = frame.drop(frame.index[2:40])
    page = report.write_report(compared(frame), tmp_path / "r")
    assert cells(page)[0][:3] == ["s0", "1", "–"]
    assert "Not tested: s0. Too few rows to tell other coefficients from more noise." in section(page)
    assert section(page).count("<figure>") == 2
    assert "needs more rows than coefficients in every task" in section(page)


def test_rows_without_noise_are_not_tested(rng):
    """Otherwise rounding would be called a difference: the second half shows that it would."""
    frame = changed(rng).assign(y=lambda f: f["x1"] + 2.0 * f["x2"] + 4.0)
    found = compared(frame)
    reasons = found.differences.reasons
    assert {*reasons} == {"table", "influence", "segments"}
    assert "without noise" in reasons["table"]
    assert "without noise" in reasons["influence"]
    assert found.differences.differing == ()
    noisy = compared(frame.assign(y=lambda f: f["y"] + rng.normal(scale=1e-4, size=len(f))))
    assert noisy.differences.reasons == {}


@pytest.mark.parametrize("order", ["sorted", "random"])
def test_segments_need_an_order(rng, order):
    found = compared(changed(rng), order=order)
    said = differences_sentence(found)
    if order == "sorted":
        assert "In sorted order, the relation changed before s5" in said
    else:
        assert "When the relation changed cannot be said: the tasks were learned in a random order" in said
        assert {*found.differences.reasons} == {"segments"}


def test_large_tables_are_not_asked_about_and_the_page_says_so(rng, tmp_path, blank_figures, monkeypatch):
    frame = changed(rng)
    for name, limit in (("MOST_ORDERED", 7), ("MOST_FITS", 36 * 9 - 1)):
        with monkeypatch.context() as patch:
            patch.setattr(_differences, name, limit)
            reasons = compared(frame).differences.reasons
        assert {*reasons} == {"segments"}
        assert "here are 8 tasks, and 3.2e+02." in reasons["segments"]
    for name, limit in (("MOST_TASKS", 7), ("MOST_WORK", 8 * 27 - 1)):
        with monkeypatch.context() as patch:
            patch.setattr(_differences, name, limit)
            found = compared(frame)
        page = report.write_report(found, tmp_path / name)
        assert "How the tasks differ was not computed: a report covers at most" in section(page)
        assert not (page.parent / "task_coefficients.csv").exists()
        assert len(pd.read_csv(page.parent / "tasks.csv")) == 8
    monkeypatch.setattr(_differences, "MOST_TASKS", 8)
    monkeypatch.setattr(_differences, "MOST_WORK", 8 * 27)
    monkeypatch.setattr(_differences, "MOST_ORDERED", 8)
    monkeypatch.setattr(_differences, "MOST_FITS", 36 * 9)
    assert compared(frame).differences.reasons == {}


@pytest.mark.parametrize("factor", [1e-55, 1e55])
def test_extreme_units_are_a_reason(rng, factor):
    """The methods learn standardised rows, but coefficients in the units of the table would overflow."""
    said = differences_sentence(compared(changed(rng).assign(x2=lambda f: factor * f["x2"])))
    assert said == (
        "How the tasks differ was not computed: a column has numbers above 1e+50, or varies by less than 1e-50. Change "
        "its unit."
    )
    usual = compared(changed(rng).assign(x2=lambda f: factor ** (40 / 55) * f["x2"])).differences
    assert usual.reasons == {}
    assert usual.segments.changes == ("s5",)


def test_whatever_goes_wrong_the_rest_is_written(rng, tmp_path, monkeypatch):
    def fail(model):
        raise ValueError("f(a) and f(b) must have different signs")

    monkeypatch.setattr(retrospect, "segments", fail)
    page = report.write_report(compared(changed(rng)), tmp_path / "r")
    assert "cannot be shown: f(a) and f(b) must have different signs</p>" in section(page)
    assert section(page).count("<figure>") == 2


def test_tasks_of_the_same_name_stay_apart(rng):
    frame = changed(rng, n_tasks=2).assign(u=["a / b"] * 40 + ["a"] * 40, v=["c"] * 40 + ["b / c"] * 40)
    found = compared(frame, task_column=["u", "v"], features=["x1", "x2"]).differences
    assert found.table.tasks == ("a / b / c (1)", "a / b / c (2)")


def test_names_are_escaped_and_missing_glyphs_are_said(tmp_path):
    frame = nasty(np.random.default_rng(3))
    frame[f"site {NASTY}"] += "\x1b[31m\x07"
    frame = frame.rename(columns={"x1": f"x1 {NASTY}\x08"})
    found = report.compare(frame, target=f"y {NASTY}", task_column=f"site {NASTY}", methods=["gr"])
    page = report.write_report(found, tmp_path / "r")
    text = section(page)
    assert "<script" not in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", text)
    assert cells(page)[0][0] == f"s0 {NASTY}\\x1b[31m\\x07"
    assert "lacks characters of some names" in text
    assert text.count("<figure>") == 3
    plain = report.write_report(compared(changed(np.random.default_rng(0))), tmp_path / "plain")
    assert "lacks characters" not in section(plain)


def test_many_tasks_are_listed_briefly(rng):
    frame = changed(rng, n_tasks=14)
    frame["y"] += 50.0 * frame["site"].str[1:].astype(int) ** 2
    said = differences_sentence(compared(frame))
    assert re.match(r"\d+ of 14 tasks differ", said)
    assert re.search(r": (s\d+, ){7}s\d+ and \d more\.", said)
