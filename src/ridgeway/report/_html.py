"""Pieces of the page: text made safe, tables and figures."""

import html
from base64 import b64encode
from collections.abc import Iterable

from ridgeway._text import visible


def escape(text: str) -> str:
    """Return text for HTML, with control characters made visible."""
    return html.escape(visible(text))


def make_table(name: str, headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table that scrolls; headings and cells are HTML already."""
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table id="{name}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def make_figure(caption: str, words: str, svg: bytes) -> str:
    """Return a figure with a caption and an alternative text."""
    image = f'<img alt="{escape(words)}" src="data:image/svg+xml;base64,{b64encode(svg).decode("ascii")}">'
    return f"<figure><figcaption>{escape(caption)}</figcaption>{image}</figure>"
