"""What is changed: numbers, operators, conditions, boundaries, arguments and results."""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from mutants.mutant import SOURCE, Mutant, Site, cuts, sites

SWAPPED: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
"""Each operator, the shifted boundary first and then the opposite."""

_PAIRS = "min max, any all, minimum maximum, argmin argmax, zeros ones, zeros_like ones_like, isinf isnan, floor ceil"
RENAMED = {a: b for pair in _PAIRS.split(", ") for a, b in (pair.split(), pair.split()[::-1])}

CONVERSIONS = {"asarray", "ascontiguousarray", "bool", "enumerate", "float", "int", "len", "list", "str", "tuple"}
"""Functions of one argument: without them nothing changes, or nothing works."""

SYMMETRIC = {"min", "max", "minimum", "maximum"}
"""Functions whose arguments may be swapped."""

TINY = 1e-3
"""Numbers below this are tolerances: twice as much would change nothing that matters."""


def draw(packages: dict[str, int], seed: int) -> list[Mutant]:
    """Return mutants of each package, such as "research.theory", in the given numbers.

    Each mutant has a number that depends on the seed and on its own text alone, and the lowest are drawn. So an edit of
    the source replaces few of them.
    """

    def lot(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant}".encode()).digest()

    return [mutant for package, count in packages.items() for mutant in sorted(mutants_of(package), key=lot)[:count]]


def mutants_of(package: str) -> list[Mutant]:
    """Return every mutant of a package or module."""
    folder = SOURCE.joinpath(*package.split("."))
    paths = sorted(folder.glob("_[a-z]*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    found = []
    for path in paths:
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        seen: Counter[tuple[str, str]] = Counter()
        for site in sites(ast.parse(path.read_text("utf-8"))):
            nth = seen[site.function, site.text]
            seen[site.function, site.text] += 1
            found += [Mutant(module, site.function, site.text, after, nth) for after in changes(site)]
    return found


def changes(site: Site) -> list[str]:
    """Return all that replaces the code at a site."""
    node, before = site.node, site.text
    found = [*_edits(node), *_parts(node)]
    if site.condition and not isinstance(node, ast.Compare):
        found.append(f"not ({before})")
    return [after for after in dict.fromkeys(found) if after != before]


def _edits(node: ast.AST) -> Iterator[str]:
    """Yield the code with one number, operator, name or argument changed."""
    for holder, field, new in chain(_numbers(node), _operators(node), _arguments(node)):
        old = getattr(holder, field)
        setattr(holder, field, new)
        text = ast.unparse(node)
        setattr(holder, field, old)
        yield text


_Edit = tuple[ast.AST, str, object]


def _numbers(node: ast.AST) -> Iterator[_Edit]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Constant):
            yield from ((child, "value", value) for value in _others(child.value))
        elif (isinstance(child, ast.keyword) and child.arg != "strict") or isinstance(child, ast.Slice) or cuts(child):
            yield from _numbers(child)


def _others(value: object) -> list[object]:
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 1, value - 1] if value else [1]
        case float():
            return [value * (2 if abs(value) >= TINY else 1 / TINY) or 1.0]
    return []


def _operators(node: ast.AST) -> Iterator[_Edit]:
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign):
        yield from ((node, "op", new()) for new in SWAPPED.get(type(node.op), ()))
    elif isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            yield from ((node, "ops", [*node.ops[:i], new(), *node.ops[i + 1 :]]) for new in SWAPPED[type(op)])
    elif isinstance(node, ast.IfExp) and not _is_text(node.body):
        yield node, "body", node.orelse
        yield node, "orelse", node.body
    elif isinstance(node, ast.Subscript):
        for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            if isinstance(part, ast.Slice):
                yield from ((part, side, None) for side in ("lower", "upper") if getattr(part, side) is not None)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _arguments(node: ast.AST) -> Iterator[_Edit]:
    if not isinstance(node, ast.Call):
        return
    name = "attr" if isinstance(node.func, ast.Attribute) else "id"
    called = getattr(node.func, name, "")
    if called in RENAMED:
        yield node.func, name, RENAMED[called]
    match node.args:
        case [first, second, *rest] if called not in SYMMETRIC and not isinstance(first, ast.Starred):
            yield node, "args", [second, first, *rest]
    for i, keyword in enumerate(node.keywords):
        if keyword.arg != "strict":  # a guard for the reader
            yield node, "keywords", node.keywords[:i] + node.keywords[i + 1 :]


def _parts(node: ast.AST) -> Iterator[str]:
    """Yield parts that replace the whole, and results that are not returned."""
    match node:
        case ast.UnaryOp(operand=part) if not isinstance(part, ast.Constant):
            yield ast.unparse(part)
        case ast.BoolOp(values=parts):
            yield from map(ast.unparse, parts)
        case ast.Attribute(value=part, attr="T"):
            yield ast.unparse(part)
        case ast.Call(func=function, args=[part], keywords=[]) if not isinstance(part, ast.Starred):
            called = ast.unparse(function).split(".")[-1]
            if called.islower() and called not in CONVERSIONS:
                yield ast.unparse(part)
        case ast.Expr():
            yield "pass"
        case ast.Return(value=ast.expr()):
            yield "return None"
