"""Formulas as MathML, made during the build: browsers show it without a script, a font or a network."""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.math import get_node_equation_number


def converted(node: nodes.Node, *, block: bool) -> str:
    """Return the MathML of a formula."""
    text = node.astext()
    if block and r"\\" in text and r"\begin" not in text:
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    try:
        return str(latex2mathml.tex2mathml(text, as_block=block))
    except (MathError, SyntaxError) as error:
        raise SphinxError(f"{node.source}: the formula {text!r} cannot be read: {error}") from error


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    self.body.append(converted(node, block=False))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number if it has one."""
    number = ""
    if node["number"]:
        number = f'<span class="eqno">({get_node_equation_number(self, node)})</span>'
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    self.body.append(f"{converted(node, block=True)}{number}</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
