"""The checks of the site find what is wrong: each is shown a page with the fault, and one without."""

from itertools import product

import pytest
from browser import CHROMIUM, MISSING, browser
from pages.links import broken, known_addresses
from pages.looks import faults

GOOD = "<!doctype html><html lang=en><title>A</title><article><h1 id=top>A page</h1><p>Some words.</p></article>"
FAULTS = {
    "scrolls sideways": "<p style='width: 3000px'>wide</p>",
    "alt text": "<img src='data:image/svg+xml,<svg xmlns=%22http://www.w3.org/2000/svg%22/>' alt=''>",
    "skips a level": "<h3>Too deep</h3>",
    "contrast": "<p style='color: #bbb; background: white'>pale</p>",
    "contrast 3.54: h2": "<h2 style='color: #888; background: white; font-size: 40px'>large and pale</h2>",
    "::before": "<style>div::before {content: 'Out:'; color: #888; background: white}</style><div>words</div>",
    "cut off": "<pre style='width: 200px; overflow: auto'>a line of code that is longer than its box is wide</pre>",
    "at the edge": "<div style='overflow: hidden'><span>" + "wide" * 99 + "</span></div>",
    "formula in a block": "<pre><math><mi>N</mi></math>_TASKS</pre>",
    "scrolls: ": "<table style='display: block; overflow: auto; width: 90px'><tr><td>unbreakableword</table>",
    "message": "<script>console.error('oops')</script>",
    "request": "<link rel=stylesheet href='http://localhost:9/x.css'>",
}


def test_broken_links_are_found(tmp_path):
    peer = min(known_addresses())
    good = f"<a href='#top'>up</a><a href='b.html#top'>b</a><a href='{peer}'>peer</a>"
    (tmp_path / "a.html").write_text(GOOD + good, "utf-8")
    (tmp_path / "b.html").write_text(GOOD, "utf-8")
    assert list(broken(tmp_path)) == []
    bad = {"c.html": "exist", "b.html#down": "anchor", "x.png": "exist", peer.replace("#", "#not-"): "inventories"}
    (tmp_path / "b.html").write_text(GOOD + "".join(f"<a href='{target}'>x</a>" for target in bad), "utf-8")
    assert [line.split()[-1] for line in broken(tmp_path)] == list(bad.values())


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
def test_a_sound_page_has_no_faults(page, tmp_path):
    (tmp_path / "a.html").write_text(GOOD, "utf-8")
    assert list(faults(page, tmp_path / "a.html")) == []


@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
@pytest.mark.parametrize("words", FAULTS)
def test_a_fault_is_found(page, tmp_path, words):
    (tmp_path / "a.html").write_text(GOOD.replace("</article>", f"{FAULTS[words]}</article>"), "utf-8")
    found = list(faults(page, tmp_path / "a.html"))
    assert any(words in line for line in found), found
    if words == "contrast":
        shown = [f"{width} {theme}: contrast" for width, theme in product((1280, 390), ("light", "dark"))]
        assert [line[: line.index("contrast") + 8] for line in found] == shown
