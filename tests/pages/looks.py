"""Open every page of a built site in Chromium, from disk: at 390 and 1280 pixels, light and dark.

`python tests/pages/looks.py build/docs [PAGE ...]` prints what `rules.js` finds, messages of the browser and requests
to other machines, and exits with status 1 if there are any. Without Chromium it says so, and checks nothing.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from browser import CHROMIUM, MISSING, browser
from pages.links import pages_of

RULES = Path(__file__).with_name("rules.js").read_text("utf-8")
WIDTHS, THEMES = (1280, 390), ("light", "dark")
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


def faults(page, path):
    """Yield a line for each fault of a page."""
    page.messages.clear()
    page.requests.clear()
    page.open(path, WIDTHS[0])
    for width in WIDTHS:
        page.resize(width)
        for theme in THEMES:
            page.value(f"Object.assign(document.documentElement.dataset, {{theme: '{theme}', mode: '{theme}'}}); true")
            page.value(SETTLED)
            yield from (f"{width} {theme}: {words}" for words in page.value(RULES))
    yield from (f"message: {words}" for words in page.messages)
    yield from (f"request: {url}" for url in page.requests if not url.startswith(("file:", "data:")))


def search(page, folder, words):
    """Return the titles that the search finds, opened from disk."""
    page.open(folder / "search.html", WIDTHS[0], query=f"q={words}")
    page.value("new Promise(done => setTimeout(() => done(true), 3000))")
    return page.value("[...document.querySelectorAll('#search-results li a')].map(a => a.textContent)")


def main(folder, *names):
    folder = Path(folder).resolve()
    paths = [folder / name for name in names] or pages_of(folder)
    if CHROMIUM is None:
        print(f"Pages were not opened: {MISSING}.")
        return 0
    count = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, browser(profile) as page:
        for path in paths:
            for line in faults(page, path):
                count += 1
                print(f"{path.relative_to(folder)}: {line}", flush=True)
        found = search(page, folder, "GeneralizedRidge")
        if "GeneralizedRidge" not in found:
            count += 1
            print(f"search.html: the search from disk finds {found}")
    print(f"Pages: {len(paths)} opened at {WIDTHS} pixels, {THEMES}; {count} faults.")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
