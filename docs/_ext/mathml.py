"""Formulas as MathML, made during the build: browsers show it without a script and without a network.

Formulas are written in LaTeX, between dollars or in a math block.
"""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.math import get_node_equation_number

ACCENT = re.compile(r"\\(hat|tilde|bar)\{?\w\}?")
"""In braces and with an empty neighbour, an accented letter has its subscript beside it, not below."""
SIGNS = {"‖": 'stretchy="false"', "|": 'stretchy="false"', "/": 'lspace="0" rspace="0"'}
MISPLACED = re.compile(r' (?:movablelimits|displaystyle|scriptlevel)="\w+"(?=[^<>]*>)')
"""Attributes that HTML does not allow where docutils writes them."""
LONG = 30
"""The number of elements beyond which a formula within a sentence may be wider than a narrow screen."""


def converted(node: nodes.Node, *, block: bool) -> str:
    """Return the MathML of a formula."""
    text = node.astext()
    if block and r"\\" in text and r"\begin" not in text:
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    try:
        found = str(latex2mathml.tex2mathml(ACCENT.sub(r"{\g<0>{}}", text), as_block=block))
    except (MathError, SyntaxError) as error:
        raise SphinxError(f"{node.source}: the formula {text!r} cannot be read: {error}") from error
    found = re.sub(r"<(?:mi|mfrac) [^>]*>", lambda tag: MISPLACED.sub("", tag[0]), found)
    for sign, attributes in SIGNS.items():
        found = re.sub(rf"<mo(?: class=\"math\w+\")?>{re.escape(sign)}</mo>", f"<mo {attributes}>{sign}</mo>", found)
    return found


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula within a sentence; a long one can be scrolled on a narrow screen."""
    found = converted(node, block=False)
    long = found.count("<m") > LONG
    self.body.append(f'<span class="math-inline">{found}</span>' if long else found)
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number if it has one."""
    number = ""
    if node["number"]:
        number = f'<span class="eqno">({get_node_equation_number(self, node)})</span>'
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    self.body.append(f"{converted(node, block=True)}{number}</div>\n")
    raise nodes.SkipNode


def escape_stars(app: Sphinx, page: str, source: list[str]) -> None:
    """Keep the star of w_* in a Markdown page, where two of them would set what is between them in italics."""
    if app.env.doc2path(page).suffix == ".md":
        parts = re.split(r"(^```.*?^```|`[^`]*`|\$[^$\n]*\$)", source[0], flags=re.MULTILINE | re.DOTALL)
        parts[::2] = [part.replace("_*", r"_\*") for part in parts[::2]]
        source[0] = "".join(parts)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name `mathml`."""
    app.connect("source-read", escape_stars)
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
