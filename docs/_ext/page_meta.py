"""What other sites and search engines show of a page: its title, its first sentences and the card.

It also tidies what other extensions leave on a page.
"""

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

GALLERY_CODE = "code_links_block"
"""What the gallery makes of a block of code before other transforms see it."""
LONGEST = 200
UNIT = re.compile(r"(?<=\d) (?=(?:%|g|kg|mm|ms|s|MB|GB)(?!\w))")
VERBATIM = (nodes.FixedTextElement, nodes.literal, nodes.math, nodes.raw, nodes.comment, addnodes.desc_signature)


def description_of(doctree: nodes.document) -> str:
    """Return the first paragraph of a page that is a sentence, cut at the end of a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if len(text) > LONGEST:
            text = f"{text[:LONGEST].rpartition(' ')[0]} …"
        if text.endswith((".", ":", "…")) and len(text) > 20:
            return text.removesuffix(":")
    return ""


def add_tags(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Add the tags to the head of a page."""
    text = description_of(doctree) if doctree is not None else ""
    text = text or app.config.site_description
    card = context["pathto"]("_static/card.png", 1)
    if app.config.html_baseurl:
        card = f"{app.config.html_baseurl.rstrip('/')}/_static/card.png"
    tags = {"og:title": context.get("title", ""), "og:site_name": app.config.project, "og:type": "website"}
    tags |= {"og:description": text, "og:image": card, "og:image:alt": app.config.site_description}
    lines = [f'<meta property="{name}" content="{escape(nodes.unescape(value))}">' for name, value in tags.items()]
    lines += [f'<meta name="description" content="{escape(text)}">']
    lines += ['<meta name="twitter:card" content="summary_large_image">']
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines])


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
    app.add_config_value("site_description", "", "html", types=str)
    app.connect("html-page-context", add_tags)
    app.connect("doctree-read", end_of_code)
    app.connect("doctree-resolved", valid_thumbnails)
    app.connect("doctree-resolved", units)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
