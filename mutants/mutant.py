"""A mutant: one expression of one function, replaced by another. It is identified by its text, not by its line."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "ridgeway"


class MissingMutantError(LookupError):
    """The source does not contain what a mutant replaces."""


@dataclass(frozen=True, order=True)
class Mutant:
    """A small change of the source.

    Attributes
    ----------
    module : str
        Within the package, such as "information._moments".
    function : str
        The qualified name of the function or class; "" at the top of the module.
    before, after : str
        An expression or a simple statement, as `ast.unparse` writes it, and what replaces it.
    nth : int
        Which one, if the function has several that look the same.
    """

    module: str
    function: str
    before: str
    after: str
    nth: int = 0

    def __str__(self) -> str:
        again = f" (number {self.nth + 1})" if self.nth else ""
        return f"{self.module}:{self.function}: {self.before} → {self.after}{again}"

    @property
    def path(self) -> Path:
        """The file of the module."""
        return SOURCE.joinpath(*self.module.split(".")).with_suffix(".py")

    def lines(self) -> range:
        """Return the lines whose tests can notice the change: its statement's, or all of them outside functions."""
        site = self._site(ast.parse(self.path.read_text("utf-8")))
        return range(site.first, site.last + 1) if site.called else range(1, 10**6)

    def applied(self) -> ast.Module:
        """Return the module with the change.

        Raises
        ------
        MissingMutantError
            If the function no longer contains the expression.
        """
        tree = ast.parse(self.path.read_text("utf-8"))
        found = self._site(tree).node
        after = ast.parse(self.after).body[0]
        new = after.value if isinstance(found, ast.expr) and isinstance(after, ast.Expr) else after
        if hasattr(found, "ctx"):
            vars(new)["ctx"] = found.ctx  # a target is read from the text as a value
        _Replacement(found, ast.copy_location(new, found)).visit(tree)
        return ast.fix_missing_locations(tree)

    def _site(self, tree: ast.Module) -> "Site":
        same = [site for site in sites(tree) if site.function == self.function and site.text == self.before]
        if len(same) <= self.nth:
            raise MissingMutantError(f"the source has nothing to apply this mutant to; remove or update it: {self}")
        return same[self.nth]


class _Replacement(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)


@dataclass(frozen=True)
class Site:
    """An expression or simple statement that may be replaced.

    Attributes
    ----------
    function : str
        Where it is.
    node : ast.expr or ast.stmt
    condition : bool
        Whether only its truth matters.
    called : bool
        Whether it runs when a function is called, and not on import.
    first, last : int
        The lines of its statement.
    """

    function: str
    node: ast.expr | ast.stmt
    condition: bool
    called: bool
    first: int
    last: int

    @property
    def text(self) -> str:
        """The code."""
        return ast.unparse(self.node)


def sites(tree: ast.Module) -> list[Site]:
    """Return all that may be replaced in a module, in the order of the source."""
    return [site for statement in tree.body for site in _inside(statement, _Place("", False, 0, 0))]


class _Place(NamedTuple):
    function: str
    called: bool
    first: int
    last: int


_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
_LEAVES = (ast.Constant, ast.Name, ast.Slice, ast.Starred, ast.Lambda)
_SKIPPED = (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr)


def _inside(node: ast.AST, place: _Place, *, condition: bool = False) -> Iterator[Site]:
    """Yield the sites of a node. Docstrings, annotations, decorators, imports and messages have none."""
    if isinstance(node, _SKIPPED) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        name = f"{place.function}.{node.name}".removeprefix(".")
        place = place._replace(function=name, called=place.called or isinstance(node, ast.FunctionDef))
        for statement in node.body:
            yield from _inside(statement, place)
        return
    if isinstance(node, ast.stmt):
        place = place._replace(first=node.lineno, last=_last_line(node))
    if isinstance(node, _SIMPLE) or (isinstance(node, ast.expr) and not (isinstance(node, _LEAVES) or cuts(node))):
        yield Site(place.function, node, condition, place.called, place.first, place.last)
    annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
    tests = [getattr(node, "test", None), *getattr(node, "ifs", [])]
    for child in ast.iter_child_nodes(node):
        if child is not annotation:
            yield from _inside(child, place, condition=child in tests)


def cuts(node: ast.AST) -> bool:
    """Return whether a node is the inside of brackets such as [:, 1:], which is not an expression of its own."""
    return isinstance(node, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.elts)


def _last_line(statement: ast.stmt) -> int:
    """Return the last line of a statement; of a block, the last line of its head."""
    body: list[ast.stmt] = getattr(statement, "body", [])
    return max(statement.lineno, body[0].lineno - 1) if body else statement.end_lineno or statement.lineno
