"""Pages that are written from the code before each build, so that they cannot fall behind it: the API, the commands."""

import ast
import inspect
import re
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from textwrap import dedent, indent
from typing import TYPE_CHECKING

import click

import ridgeway
from ridgeway.cli._commands import SECTIONS, commands

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PACKAGES = {
    "Models": ["ridgeway", "ridgeway.weights", "ridgeway.features", "ridgeway.metrics", "ridgeway.catalogue"],
    "Data that is gone": ["ridgeway.retrospect", "ridgeway.store"],
    "Tables and reports": ["ridgeway.report", "ridgeway.datasets"],
    "Many machines": ["ridgeway.distributed"],
    "The paper": [f"ridgeway.research.{name}" for name in ridgeway.research.__all__],
    "Errors": ["ridgeway.errors"],
    "Inside": [f"ridgeway.{name}" for name in ("data", "information", "likelihoods", "linalg", "kernels")],
}
"""The packages with public names, in the order of the page."""

WHAT_IS_INSIDE = "What the packages above are made of. You need these names if you work on Ridgeway itself."
KINDS: dict[str, Callable[[object], bool]] = {
    "Classes": inspect.isclass,
    "Functions": inspect.isroutine,
    "Modules": inspect.ismodule,
}
VALUES = "Values and types"
"""The heading of all other names: constants, and types that say what a parameter may be."""


def names_at_home(module: str) -> list[str]:
    """Return the classes, functions and modules that a package defines, without those that it only passes on."""
    package = import_module(module)
    if module == "ridgeway":
        return [name for name in package.__all__ if not name.islower()]
    named = [name for name in package.__all__ if name not in values_of(module)]
    return [name for name in named if str(getattr(getattr(package, name), "__module__", module)).startswith(module)]


def values_of(module: str) -> list[str]:
    """Return the names of a package that are neither a class nor a function nor a module."""
    package = import_module(module)
    return [name for name in package.__all__ if not any(belongs(getattr(package, name)) for belongs in KINDS.values())]


def described_value(module: str, name: str) -> tuple[str, str]:
    """Return what a value is, and the text below its assignment; both are empty if there is none."""
    tree = ast.parse(inspect.getsource(import_module(module)))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    for node in imports:
        if node.module and name in [alias.asname or alias.name for alias in node.names]:
            return described_value(node.module, name)
    for statement, below in pairwise([*tree.body, ast.Pass()]):
        if isinstance(statement, ast.Assign | ast.AnnAssign) and name in assigned(statement):
            about = below.value if isinstance(below, ast.Expr) else None
            text = about.value if isinstance(about, ast.Constant) and isinstance(about.value, str) else ""
            return shown_value(getattr(import_module(module), name), statement), inspect.cleandoc(text)
    return "", ""


def assigned(node: ast.Assign | ast.AnnAssign) -> set[str]:
    """Return the names that an assignment gives a value."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}


def shown_value(value: object, node: ast.Assign | ast.AnnAssign) -> str:
    """Return a number or a text as it is, a dictionary by its keys, and anything else by its source."""
    if isinstance(value, str | int | float):
        return repr(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: …' for key in value)}}}"
    return ast.unparse(node.value or ast.Constant(...))


def short_name(module: str) -> str:
    """Return how the table of contents calls a package."""
    return "estimators" if module == "ridgeway" else module.removeprefix("ridgeway.")


def summary_of(module: str) -> str:
    """Return the first paragraph of a package's docstring, or of its estimators for the top."""
    package = import_module("ridgeway.estimators" if module == "ridgeway" else module)
    return (package.__doc__ or "").partition("\n\n")[0].replace("\n", " ").strip()


def page_of_package(module: str) -> list[str]:
    """Return the lines of the page of a package: its purpose, its classes and functions, and its values."""
    package = import_module(module)
    lines = [module, "=" * len(module), "", summary_of(module), "", f".. currentmodule:: {module}", ""]
    left = names_at_home(module)
    for title, belongs in KINDS.items():
        names = [name for name in left if belongs(getattr(package, name))]
        left = [name for name in left if name not in names]
        if names:
            lines += [title, "-" * len(title), "", ".. autosummary::", "   :toctree: ..", "   :nosignatures:", ""]
            lines += [*(f"   {name}" for name in names), ""]
    if values := values_of(module):
        lines += [VALUES, "-" * len(VALUES), ""]
    for name in values:
        shown, about = described_value(module, name)
        lines += [f".. py:data:: {name}", f"   :value: {shown}", "", indent(with_names(about), "   "), ""]
    return lines


def write_api(docs: Path) -> None:
    """Write the page of all packages, and one page for each."""
    lines = ["API", "===", "", "Every public name, from its docstring.", ""]
    for title, modules in PACKAGES.items():
        lines += [title, "-" * len(title), ""]
        lines += [WHAT_IS_INSIDE, ""] if title == "Inside" else []
        entries = [(short_name(module), f"generated/packages/{module}") for module in modules]
        for module, (short, page) in zip(modules, entries, strict=True):
            lines += [f":doc:`{short} <{page}>`", f"   {summary_of(module)}", ""]
            write(docs / f"{page}.rst", page_of_package(module))
        lines += [".. toctree::", "   :hidden:", "", *(f"   {short} <{page}>" for short, page in entries), ""]
    write(docs / "api.rst", lines)


def page_of_command(name: str, command: click.Command) -> list[str]:
    """Return the lines of a command: what it does, its arguments and options, and its examples."""
    context = click.Context(command, info_name=f"ridgeway {name}")
    title = f"ridgeway {name}"
    lines = [f".. _ridgeway-{name}:", "", title, "^" * len(title), ""]
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    lines += [as_rst(paragraphs[0]), "", ".. code-block:: text", "", f"   {command.get_usage(context)}", ""]
    for paragraph in paragraphs[1:]:
        lines += [as_rst(paragraph), ""]
    records = [record for param in command.params if (record := param.get_help_record(context))]
    for option, words in filter(itemgetter(1), records):
        lines += [f"``{option}``", *(f"   {line}" for line in as_rst(words).splitlines()), ""]
    return lines + end_of(command.epilog or "")


def end_of(epilog: str) -> list[str]:
    """Return the end of a command's help: its examples as a block of commands, what else is set in columns as text."""
    lines: list[str] = []
    for block in epilog.replace("\b\n", "").strip().split("\n\n"):
        title, _, body = block.strip().partition("\n")
        if not body:
            lines += [as_rst(block), ""]
            continue
        language = "bash" if title == "Examples:" else "text"
        lines += [] if title == "Examples:" else [title, ""]
        lines += [f".. code-block:: {language}", "", indent(dedent(body), "   "), ""]
    return lines


def as_rst(text: str) -> str:
    """Return plain text with options as code, and the characters escaped that mean something else in a page."""
    parts = re.split(r"(?<![\w-])(--[a-z][a-z-]*)", text)
    parts[::2] = [re.sub(r"[*|`_\\]", r"\\\g<0>", part) for part in parts[::2]]
    parts[1::2] = [f"``{part}``" for part in parts[1::2]]
    return "".join(parts)


def with_names(text: str) -> str:
    """Return plain text as `as_rst` does, but with names in backticks left as they are."""
    return "".join(part if part.startswith("`") else as_rst(part) for part in re.split(r"(`[^`]+`)", text))


def write_commands(docs: Path) -> None:
    """Write the page of all commands."""
    title = "Commands"
    lines = [title, "=" * len(title), "", as_rst(inspect.cleandoc(commands.help or "")), ""]
    for section, members in SECTIONS.items():
        lines += [section, "-" * len(section), ""]
        for member in members:
            lines += page_of_command(member.name or "", member)
    write(docs / "reference" / "commands.rst", lines)


def write(path: Path, lines: list[str]) -> None:
    """Write a page if it has changed, so that a second build is quick."""
    text = "\n".join(lines) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    docs = Path(app.srcdir)
    write_api(docs)
    write_commands(docs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
