"""The configuration of Sphinx: `make docs` builds the site with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path

import xarrayops

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "xarrayops"
author = "the xarrayops contributors"
release = version = xarrayops.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "api_reference", "example_pages", "sharding_rules"]
exclude_patterns = ["_build"]
default_role = "py:obj"  # single backticks in docstrings name Python objects

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the sections of the docstrings say what the parameters are
numpydoc_show_class_members = False  # the members are documented in place
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = "xarrayops"
html_sidebars = {"index": [], "get-started": [], "contract": [], "comparison": []}  # pages without others below them
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "xarrayops"},
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
}
copyright = f"{author}, BSD-3-Clause"
