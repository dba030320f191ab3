"""How the site is built: `make docs`, offline, warnings as errors."""

import os
import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "Ridgeway"
author = "The Ridgeway developers"
release = version = version_of("ridgeway")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "_ext.linked_names",
    "_ext.mathml",
    "_ext.tidy",
    "_ext.written_pages",
    "sphinxext.opengraph",
]
exclude_patterns = [
    "_build",
    "generated/*.rst.tmp",
    "generated/backreferences",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]
default_role = "literal"  # the docstrings write `name`; _ext.linked_names makes a link of it
numpydoc_show_class_members = False
autodoc_typehints = "none"  # the docstrings say shapes and meaning
autosummary_generate = True
templates_path = ["_templates"]
toc_object_entries_show_parents = "hide"
suppress_warnings = ["myst.header"]  # generated pages may begin below level 1
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
highlight_language = "text"

# The inventories have the names that our pages use, so that no network is needed.
intersphinx_mapping = {
    "numpy": ("https://numpy.org/doc/stable/", "inventories/numpy.inv"),
    "pandas": ("https://pandas.pydata.org/docs/", "inventories/pandas.inv"),
    "sklearn": ("https://scikit-learn.org/stable/", "inventories/scikit-learn.inv"),
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = "Ridgeway"
html_baseurl = os.environ.get("DOCS_URL", "")
ogp_site_url = f"{html_baseurl.rstrip('/')}/"
ogp_image = "_static/card.png"
ogp_image_alt = "Continual regression that does not forget: learn task after task, keep no rows."
ogp_custom_meta_tags = ['<meta name="twitter:card" content="summary_large_image">']
html_logo = html_favicon = "_static/mark.svg"
html_static_path = ["_static"]
html_css_files = ["ridgeway.css"]
html_js_files = ["tables.js"]
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}
html_domain_indices = False
html_show_sourcelink = False
html_show_search_summary = False  # it would need a server
html_sidebars = {"**": ["sidebar-nav-bs"], "index": [], "whats-new": []}
html_theme_options: dict[str, Any] = {
    "logo": {"text": "Ridgeway", "alt_text": "Ridgeway: the first page"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "footer_start": [],
    "footer_end": [],
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "doc_module": ("ridgeway",),  # the page of each name shows the examples that use it
    "backreferences_dir": "generated/backreferences",
    "reference_url": {"ridgeway": None},  # names in the code of examples are links
    "image_scrapers": ("_ext.films.scraper",),
    "reset_modules": ("matplotlib", "_ext.films.style"),
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "thumbnail_size": (400, 260),
    "within_subsection_order": "_ext.films.place",
    "abort_on_example_error": True,
}


def plain_to_rst(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Let docstrings be plain text: `coef_` is a name and |x| a modulus, neither a link nor a substitution."""
    in_example = False
    for number, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if in_example or "::" in line:
            continue
        parts = re.split(r"(``[^`]*``|`[^`]*`|\*\*[^*]+\*\*)", line)
        parts[::2] = [re.sub(r"(?<=\w)_(?!\w)|[|*]", r"\\\g<0>", part) for part in parts[::2]]
        lines[number] = "".join(parts)


def drop_without_source(app: Any) -> list[Any]:
    """Keep built-in types, of which some names are aliases, out of the list of sources: they have no page."""
    modules = getattr(app.env, "_viewcode_modules", {})
    for name in [name for name, entry in modules.items() if not entry]:
        del modules[name]
    return []


def mend_source(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Mark the parts of a source with spans: viewcode writes blocks, which HTML does not allow within `pre`."""
    if pagename.startswith("_modules/") and pagename != "_modules/index":
        before, start, source = context["body"].partition("<pre>")
        source, end, after = source.rpartition("</pre>")
        source = source.replace("<div ", "<span ").replace("</div>", "</span>")
        context["body"] = before + start + source + end + after


def setup(app: Any) -> None:
    """Register the hooks above: after numpydoc has read the sections, and before sources are listed."""
    app.connect("autodoc-process-docstring", plain_to_rst, priority=900)
    app.connect("html-collect-pages", drop_without_source, priority=100)
    app.connect("html-page-context", mend_source)
