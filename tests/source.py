"""The source of the package as syntax trees: imports, classes, functions, and how long they are."""

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import ridgeway

ROOT = Path(ridgeway.__file__).parent
BRACKETS = set("()[]{},:")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A file of the package; `name` is its dotted name without `ridgeway.`."""

    path: Path
    text: str

    @cached_property
    def tree(self):
        return ast.parse(self.text)

    @property
    def name(self):
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def package(self):
        """The layer that the module is in."""
        return self.name.partition(".")[0]

    def imports(self):
        """Yield the dotted name of everything that is imported, wherever the import stands."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.name} has a relative import"
                yield from (f"{node.module}.{alias.name}" for alias in node.names)

    def classes(self):
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]

    def functions(self):
        return [node for node in ast.walk(self.tree) if isinstance(node, Function)]

    def lines_of_code(self):
        """Return the number of lines that are not blank, a comment, part of a docstring, or brackets alone."""
        docstrings = set().union(*map(docstring_lines, [self.tree, *self.classes(), *self.functions()]))
        lines = enumerate(map(str.strip, self.text.splitlines()), start=1)
        return sum(
            not (line.startswith("#") or set(line) <= BRACKETS) for number, line in lines if number not in docstrings
        )


def modules():
    """Return all modules of the package."""
    paths = sorted(ROOT.rglob("*.py"))
    return [Module(path.relative_to(ROOT), path.read_text(encoding="utf-8")) for path in paths]


def docstring_lines(node):
    """Return the numbers of the lines that the docstring of a module, class or function takes."""
    if ast.get_docstring(node, clean=False) is None:
        return set()
    return set(range(node.body[0].lineno, node.body[0].end_lineno + 1))


def function_length(node):
    """Return the lines of a function from `def` to its end, without its docstring."""
    return node.end_lineno - node.lineno + 1 - len(docstring_lines(node))


def private_owner(name):
    """Return the package of a private name, `store` for `ridgeway.store._state`; None for names that are public."""
    parts = name.split(".")
    if parts[0] != "ridgeway":
        return None
    private = [i for i, part in enumerate(parts) if part.startswith("_") and not part.startswith("__")]
    return ".".join(parts[1 : private[0]]) if private else None


def compared_classes(tree):
    """Yield the names of the classes that `isinstance`, `issubclass`, `type(…) is` and `case …():` ask for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            yield from _last_names(node.args[1])
        elif isinstance(node, ast.Compare) and any(_is_type_call(side) for side in (node.left, *node.comparators)):
            for side in (node.left, *node.comparators):
                yield from _last_names(side)
        elif isinstance(node, ast.MatchClass):
            yield from _last_names(node.cls)


def _is_type_call(node):
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "type" and len(node.args) == 1


def _last_names(node):
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Tuple | ast.BinOp):
        for child in ast.iter_child_nodes(node):
            yield from _last_names(child)
