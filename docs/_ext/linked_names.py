"""Names in prose become links: `GeneralizedRidge`, `store.open(…)`, `ridgeway absorb`, `sklearn.pipeline.Pipeline`."""

import re
from collections import defaultdict
from functools import cache
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.intersphinx import InventoryAdapter
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

from ridgeway.cli._commands import commands

NAME = re.compile(r"(\w+(?:\.\w+)*)(\(.*\))?", flags=re.DOTALL)
COMMAND = re.compile(r"ridgeway ([a-z-]+)( .*)?", flags=re.DOTALL)
PACKAGES = "generated/packages/"
QUESTIONS = "ridgeway.retrospect."
"""The package whose functions pages name without it."""
ALIASES = {"np": "numpy", "pd": "pandas"}
Target = tuple[str, str]


@cache
def own_names(env: BuildEnvironment) -> dict[str, Target]:
    """Return the page and anchor of every name by its endings, such as `weights.Explicit`, if they are not ambiguous.

    A bare name in lower case, such as `merge`, is an ordinary word or a method of several classes: it has no link,
    except for functions such as `fixed_effects`.
    """
    found = defaultdict(set)
    for full, entry in env.domains.python_domain.objects.items():
        parts = full.split(".")
        for start in range(len(parts)):
            ending = parts[start:]
            is_class = not ending[0].islower() and entry.objtype in ("class", "exception")
            if (
                len(ending) > 1
                or is_class
                or (full.startswith(QUESTIONS) and "_" in ending[0] and entry.objtype == "function")
            ):
                found[".".join(ending)].add((entry.docname, entry.node_id))
    pages = {page.rpartition("/")[2]: (page, "") for page in env.found_docs if page.startswith(PACKAGES)}
    return pages | {name: targets.pop() for name, targets in found.items() if len(targets) == 1}


@cache
def peers_names(env: BuildEnvironment) -> dict[str, str]:
    """Return the address of every name in the bundled inventories, by its full name and, for a class, by its own."""
    found: dict[str, str] = {}
    for kind, items in InventoryAdapter(env).main_inventory.items():
        for full, item in items.items():
            found[full] = item.uri
            if kind == "py:class" or "_" in full:
                found.setdefault(full.rpartition(".")[2], item.uri)
    return found


class LinkNames(SphinxPostTransform):
    """Turn each literal that names something into a link, except in headings, links and on the page of that name."""

    default_priority = 20

    def run(self, **_: Any) -> None:
        """Link the names of one page."""
        for node in list(self.document.findall(nodes.literal)):
            if not self.is_elsewhere(node):
                self.link(node)

    def is_elsewhere(self, node: nodes.Node) -> bool:
        """Say whether a literal stands where a link would be wrong."""
        parent = node.parent
        while parent is not None:
            if isinstance(parent, nodes.reference | nodes.title | nodes.term):
                return True
            parent = parent.parent
        return False

    def link(self, node: nodes.literal) -> None:
        """Put a literal into a reference to what it names, if it names something."""
        text = node.astext().strip()
        if (command := COMMAND.fullmatch(text)) and command[1] in commands.commands:
            self.replace(node, ("reference/commands", f"ridgeway-{command[1]}"))
            return
        if not (match := NAME.fullmatch(text)):
            return
        first, dot, rest = match[1].partition(".")
        name = f"{ALIASES.get(first, first)}{dot}{rest}"
        if target := own_names(self.env).get(name):
            self.replace(node, target)
        elif uri := peers_names(self.env).get(name):
            node.replace_self(nodes.reference("", "", node.deepcopy(), refuri=uri, internal=False))

    def replace(self, node: nodes.literal, target: Target) -> None:
        """Link a literal to a place of the site, unless that place is on this page."""
        page, anchor = target
        if page != self.env.current_document.docname:
            builder = self.app.builder
            here = self.env.current_document.docname
            node.replace_self(make_refnode(builder, here, page, anchor, node.deepcopy()))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_post_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
