"""The report in a real browser, with the network off."""

import numpy as np
import pytest
from browser import CHROMIUM, MISSING, browser
from report.tables import NASTY, nasty

from ridgeway import report

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    frame = nasty(np.random.default_rng(3))
    found = report.compare(frame, target=f"y {NASTY}", task_column=[f"site {NASTY}"], methods=["mn", "gr"])
    path = report.write_report(found, tmp_path_factory.mktemp("report") / "r")
    with browser(tmp_path_factory.mktemp("profile")) as page:
        page.path, page.found = path, found
        yield page


@pytest.mark.parametrize("width", [1280, 390])
def test_it_opens_from_disk_and_can_be_read(page, width):
    page.open(page.path, width)
    assert page.messages == []
    assert {url.partition(":")[0] for url in page.requests} == {"file", "data"}
    assert page.value("document.documentElement.scrollWidth") <= width
    pictures = page.value(
        "[...document.images].map(i => [i.naturalWidth, i.getBoundingClientRect().width, i.alt.length])"
    )
    assert len(pictures) == 3 + len(page.found.results)
    assert all(natural > 0 and 200 < shown <= width and words > 5 for natural, shown, words in pictures)
    sizes = page.value(
        "[...document.querySelectorAll('p, td, th, li')].map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 13
    cut = page.value(
        "[...document.querySelectorAll('#summary td, p, li, h1, h2')]"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).length"
    )
    assert cut == 0


def test_names_show_as_text(page):
    page.open(page.path, 1280)
    assert page.value("document.scripts.length") == 0
    assert NASTY in page.value("document.title")
    cells = page.value("[...document.querySelectorAll('#tasks td:nth-child(2)')].map(e => e.textContent)")
    assert cells == [task.name for task in page.found.tasks]
    assert all(NASTY in cell for cell in cells)
    assert NASTY in page.value("document.querySelector('#encoding').textContent")


def test_the_browser_would_notice(page, tmp_path):
    """A page with a script, a picture from outside and a wide table fails every check above."""
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<p style='width:2000px'>wide</p><img src='http://localhost:9/x.png'>"
        "<script>console.error('oops'); undefined()</script>"
    )
    page.requests.clear()
    page.call("Page.navigate", url=bad.as_uri())
    while page.value("document.readyState") != "complete":
        pass
    assert any(url.startswith("http:") for url in page.requests)
    assert any("oops" in message for message in page.messages)
    assert page.value("document.documentElement.scrollWidth") > 1280
    assert page.value("document.images[0].naturalWidth") == 0
