"""What other sites and search engines show of a page: its title, its first sentences and the card."""

from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LONGEST = 200


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


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the hook."""
    app.add_config_value("site_description", "", "html", types=str)
    app.connect("html-page-context", add_tags)
    app.connect("doctree-resolved", valid_thumbnails)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
