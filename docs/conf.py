"""How Sphinx builds the site: ``make docs``. Warnings are errors there."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

import fairsmooth  # noqa: E402

project = "FairSmooth"
author = "The FairSmooth authors"
version = release = fairsmooth.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/README.rst"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections state the types in words
numpydoc_show_class_members = False  # the class template lists them
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "FairSmooth"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}

# Pages link to files beside docs/, so that they can be read where the sources are; here those
# files have another place.
ELSEWHERE = {
    "../CONTRIBUTING.md": "contributing.md",
    "../CHANGELOG.md": "changelog.md",
    "../README.md": "index.md",
    "../results/reproduce/index.md": "../results/reproduce/index.html",
    "../src/fairsmooth/datasets/_files/README.md": "data_sources.md",
}


def redirect(_app: object, _name: str, source: list[str]) -> None:
    """Point links that leave docs/ to where the site has the page."""
    for written, here in ELSEWHERE.items():
        source[0] = source[0].replace(f"]({written}", f"]({here}")


def setup(app: object) -> None:
    """Connect the above."""
    app.connect("source-read", redirect)
