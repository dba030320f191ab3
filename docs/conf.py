"""How the pages are built: `make docs`, offline, warnings as errors."""

import re
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import ridgeway

project = "Ridgeway"
author = "The Ridgeway developers"
release = version = version_of("ridgeway")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "generated/*.rst.tmp", "**/sg_execution_times.rst", "sg_execution_times.rst"]
default_role = "literal"  # the docstrings write `name`
numpydoc_show_class_members = False
autodoc_typehints = "none"  # the docstrings say shapes and meaning
autosummary_generate = True
templates_path = ["_templates"]
suppress_warnings = ["myst.header", "toc.empty_glob"]  # pages may begin below a heading of level 1 where they are generated
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = "Ridgeway"
html_static_path = ["_static"]
html_css_files = ["ridgeway.css"]
html_show_sourcelink = False
html_theme_options: dict[str, Any] = {
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "footer_start": [],
    "footer_end": [],
    "show_prev_next": False,
}

sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "abort_on_example_error": True,
}


def is_at_home(name: str, module: str) -> bool:
    """Say whether a name is defined in a package, not only offered there: it then has its page there."""
    return str(getattr(getattr(import_module(module), name), "__module__", module)).startswith(module)


def write_api() -> None:
    """Write the page of every public name, package by package: it cannot fall behind the code."""
    packages = [name for name in ridgeway.__all__ if name.islower()]
    sections = {"ridgeway": [name for name in ridgeway.__all__ if name not in packages]}
    modules = [f"ridgeway.{name}" for name in packages if name != "research"]
    modules += [f"ridgeway.research.{name}" for name in ridgeway.research.__all__]
    sections |= {name: [each for each in import_module(name).__all__ if is_at_home(each, name)] for name in modules}
    lines = ["API", "===", "", "Every public name, from its docstring."]
    for module, names in sections.items():
        summary = (import_module(module).__doc__ or "").split("\n")[0]
        listed = [f"   {name}" for name in names if not name.isupper()]  # constants have no page of their own
        lines += ["", module, "-" * len(module), "", summary, "", f".. currentmodule:: {module}", ""]
        lines += [".. autosummary::", "   :toctree: generated", "", *listed]
    Path(__file__).with_name("api.rst").write_text("\n".join(lines) + "\n", encoding="utf-8")


def plain_to_rst(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Let docstrings be plain text: `coef_` is a name and |x| a modulus, neither a link nor a substitution."""
    for number, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")) or "::" in line:
            continue
        parts = re.split(r"(``[^`]*``|`[^`]*`|\*\*[^*]+\*\*)", line)
        parts[::2] = [re.sub(r"(?<=\w)_(?!\w)|[|*]", r"\\\g<0>", part) for part in parts[::2]]
        lines[number] = "".join(parts)


def setup(app: Any) -> None:
    """Write the page of names, and register the hook above, after numpydoc has read the sections."""
    write_api()
    app.connect("autodoc-process-docstring", plain_to_rst, priority=900)
