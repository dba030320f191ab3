"""Pieces of the page: tables and figures."""

from base64 import b64encode
from collections.abc import Iterable

from ridgeway._text import escaped


def make_table(name: str, headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table that scrolls; headings and cells are HTML already."""
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table id="{name}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def make_figure(caption: str, words: str, svg: bytes) -> str:
    """Return a figure with a caption and an alternative text."""
    image = f'<img alt="{escaped(words)}" src="data:image/svg+xml;base64,{b64encode(svg).decode("ascii")}">'
    return f"<figure><figcaption>{escaped(caption)}</figcaption>{image}</figure>"
