"""Tidies pages: pictures of the gallery, the end of a doctest, numbers and their units."""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

GALLERY_CODE = "code_links_block"
"""What the gallery makes of a block of code before other transforms see it."""
UNIT = re.compile(r"(?<=\d) (?=(?:%|g|kg|mm|ms|s|MB|GB)(?!\w))")
VERBATIM = (nodes.FixedTextElement, nodes.literal, nodes.math, nodes.raw, nodes.comment, addnodes.desc_signature)


def valid_thumbnails(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Give the pictures of the gallery an attribute that HTML has, for what shows when the mouse is over them."""
    for node in doctree.findall(nodes.raw):
        if "sphx-glr-thumbcontainer" in node.astext():
            text = node.astext().replace(' tooltip="', ' title="')
            node.replace_self(nodes.raw("", text, format=node["format"]))


def end_of_code(app: Sphinx, doctree: nodes.document) -> None:
    """Remove the blank line that ends a doctest, so that its box ends with the last line."""
    for node in doctree.findall(nodes.literal_block):
        node.rawsource = node.astext().rstrip()
        node[:] = [nodes.Text(node.rawsource)] if len(node) == 1 else node.children


def is_verbatim(node: nodes.Node) -> bool:
    """Say whether a text is code, a signature or a formula."""
    parent: nodes.Node | None = node.parent
    while parent is not None:
        if isinstance(parent, VERBATIM) or getattr(parent, "tagname", "") == GALLERY_CODE:
            return True
        parent = parent.parent
    return False


def units(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Keep a number and its unit on one line."""
    for node in list(doctree.findall(nodes.Text)):
        text = UNIT.sub("\N{NO-BREAK SPACE}", node.astext())
        if text != node.astext() and not is_verbatim(node):
            node.parent.replace(node, nodes.Text(text))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the hooks."""
    app.connect("doctree-read", end_of_code)
    app.connect("doctree-resolved", valid_thumbnails)
    app.connect("doctree-resolved", units)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
