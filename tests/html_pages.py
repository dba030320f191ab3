"""Pages of HTML, read as a browser would."""

from html.parser import HTMLParser

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
