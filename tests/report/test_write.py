"""The folder of a report: whole or not at all, and nobody else's files touched."""

import json
import re

import numpy as np
import pytest
from report.tables import NASTY, nasty, numbers_in, shifted

from ridgeway import report
from ridgeway.errors import InvalidParameterError
from ridgeway.report import write_report


@pytest.fixture(scope="module")
def comparison():
    frame = shifted(np.random.default_rng(12))
    return report.compare(frame, target="y", task_column="site", methods=["mn", "crr:0.1", "gr"])


def test_everything_is_there_and_says_the_same(comparison, tmp_path):
    page = write_report(comparison, tmp_path / "deep" / "report")
    folder = page.parent
    assert page == folder / "index.html"
    assert list((tmp_path / "deep").iterdir()) == [folder]
    losses = numbers_in(folder / "losses.csv")
    mn = losses[losses["method"] == "mn"].pivot(index="after", columns="on", values="loss")
    np.testing.assert_array_equal(mn, comparison["mn"].losses)
    summary = numbers_in(folder / "summary.csv").set_index("method")
    assert summary.loc["gr", "distance_to_pooled"] == comparison["gr"].distance
    assert bool(summary.loc["mn", "forgets"])
    orders = numbers_in(folder / "orders.csv")
    np.testing.assert_array_equal(orders.loc[orders["method"] == "mn", "average_loss"], comparison["mn"].order_losses)
    figures = {path.name.removesuffix(".svg") for path in (folder / "figures").iterdir()}
    methods = {"losses-mn", "losses-crr-0.1", "losses-gr", "losses-oracle"}
    assert figures == {"forgetting", "average", "orders"} | methods
    manifest = json.loads((folder / "comparison.json").read_text())
    assert {*manifest["files"]} == {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert manifest["said"] == comparison.sentence
    assert manifest["missing_values"] == {"x1": 1, "kind": 2}
    assert manifest["rows_left_out"] == 3
    text = page.read_text()
    assert comparison.sentence.replace("'", "&#x27;") in text
    assert "x1 (1), kind (2)" in text
    assert "with a as the reference level" in text


def test_the_page_asks_for_nothing_and_runs_nothing(comparison, tmp_path):
    text = write_report(comparison, tmp_path / "r").read_text()
    assert "<script" not in text
    assert not re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?!data:)[^"'>\s]+""", text)
    assert "default-src 'none'" in text


def test_names_are_text_wherever_they_stand(tmp_path):
    frame = nasty(np.random.default_rng(3))
    options = {"target": f"y {NASTY}", "task_column": [f"site {NASTY}"]}
    page = write_report(report.compare(frame, **options, methods=["gr"]), tmp_path / "r")
    text = page.read_text()
    assert "<script" not in text
    assert (
        text.count("&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; &quot;quotes&quot; $x^2$ {0} 100% ✓ 名前")
        > 6
    )
    for path in (page.parent / "figures").glob("*.svg"):
        assert not re.search(r"<script|<[^!][^>]*\son\w+=", path.read_text(encoding="utf-8"))


def test_an_earlier_report_is_replaced_and_nothing_else(comparison, tmp_path):
    folder = tmp_path / "r"
    first = write_report(comparison, folder).read_bytes()
    assert write_report(comparison, folder).read_bytes() == first
    (folder / "notes.txt").write_text("mine")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(InvalidParameterError, match=r"not a report \(it contains 'notes.txt'\)"):
        write_report(comparison, folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert list(tmp_path.iterdir()) == [folder]


def test_folders_that_are_not_ours(comparison, tmp_path, blank_figures):
    (tmp_path / "empty").mkdir()
    assert write_report(comparison, tmp_path / "empty").exists()
    assert write_report(comparison, tmp_path / "\udcff").exists()  # a name that is not UTF-8
    for name, content in (("mine", "x"), ("forged", '{"made_by": "ridgeway compare"}'), ("list", "[]")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "comparison.json").write_text(content)
        with pytest.raises(InvalidParameterError, match="is not a report"):
            write_report(comparison, folder)
        assert (folder / "comparison.json").read_text() == content
    (tmp_path / "hollow" / "inner").mkdir(parents=True)
    with pytest.raises(InvalidParameterError, match="is not a report"):
        write_report(comparison, tmp_path / "hollow")
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    for name in ("file", "link"):
        with pytest.raises(InvalidParameterError, match="is not a folder"):
            write_report(comparison, tmp_path / name)


@pytest.mark.parametrize("failing", ["make_page", "_write_table"])
def test_nothing_is_left_of_a_report_that_failed(comparison, tmp_path, blank_figures, monkeypatch, failing):
    def fail(*arguments):
        raise OSError(28, "No space left on device")

    old = write_report(comparison, tmp_path / "old")
    before = old.read_bytes()
    monkeypatch.setattr(f"ridgeway.report._write.{failing}", fail)
    for name in ("old", "new"):
        with pytest.raises(OSError, match="No space left"):
            write_report(comparison, tmp_path / name)
    assert list(tmp_path.iterdir()) == [tmp_path / "old"]
    assert old.read_bytes() == before
