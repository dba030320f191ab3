"""Check a built site: every link, anchor, picture and style leads somewhere, and links to peers are in the inventories.

`python tests/pages/links.py build/docs` prints what is broken, and exits with status 1 if anything is.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ATTRIBUTES = {"a": "href", "img": "src", "link": "href", "script": "src", "source": "src", "video": "src"}
INVENTORIES = Path(__file__).parents[2] / "docs" / "inventories"
HOMES = {
    "numpy": "https://numpy.org/doc/stable/",
    "pandas": "https://pandas.pydata.org/docs/",
    "scikit-learn": "https://scikit-learn.org/stable/",
}


class Links(HTMLParser):
    """Collects the anchors of a page and what it refers to."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.targets = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        if found.get(ATTRIBUTES.get(tag)):
            self.targets.append(found[ATTRIBUTES[tag]])


def known_addresses():
    """Return the address of each name in the bundled inventories."""
    found = set()
    for name, home in HOMES.items():
        lines = (INVENTORIES / f"{name}.inv").read_text("utf-8").splitlines()
        items = [line.split() for line in lines if not line.startswith("#")]
        found |= {f"{home}{path}#{item}" for item, _, path in items}
    return found


def pages_of(folder):
    """Return the pages of a site, without the templates of the theme."""
    return sorted(path for path in Path(folder).resolve().rglob("*.html") if "_static" not in path.parts)


def broken(folder):
    """Yield a line for each reference of a folder of pages that leads nowhere."""
    folder = Path(folder).resolve()
    pages = {path: Links(path.read_text("utf-8")) for path in pages_of(folder)}
    known = known_addresses()
    for path, page in pages.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https"):
                if target.startswith(tuple(HOMES.values())) and target not in known:
                    yield f"{path.relative_to(folder)}: {target} is not in the inventories"
            elif parts.scheme not in ("data", "mailto"):
                file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                if not file.is_file():
                    yield f"{path.relative_to(folder)}: {target} does not exist"
                elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
                    yield f"{path.relative_to(folder)}: {target} has no such anchor"


def main(folder):
    lines = sorted(set(broken(folder)))
    count = len(pages_of(folder))
    print(*lines, f"Links: {count} pages, {len(lines)} broken.", sep="\n")
    return 1 if lines or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
