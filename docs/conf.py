"""How Sphinx builds the documentation: `make docs` writes docs/_build/html, without a network."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "lib"))

from headgate import __version__  # noqa: E402

project = "Headgate"
author = "The Headgate authors"
project_copyright = "The Headgate authors, Apache-2.0"
version = release = __version__

extensions = ["myst_parser", "sphinx_click"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
# `#a-heading` works as on the pages of the repository.
myst_heading_anchors = 4
# Footnotes stay below the table that they belong to.
myst_footnote_sort = False

# They would make a dash of the hyphens of an option.
smartquotes = False

html_theme = "furo"
html_title = f"Headgate {__version__}"
html_copy_source = False
html_show_sphinx = False

_CODE = re.compile(r"`([^`]+)`")
_MARKUP = re.compile(r"([*|_\\])")


def _plain(text: str) -> str:
    """Return the text of a help as reStructuredText: `code` stays code, signs stay signs."""
    parts = _CODE.split(text)
    shown = (f"``{p}``" if i % 2 else _MARKUP.sub(r"\\\1", p) for i, p in enumerate(parts))
    return "".join(shown)


def _describe(_app: Any, _context: Any, lines: list[str]) -> None:
    """Mask the help of a command; `| ` begins a line that click does not wrap."""
    if not lines:
        return
    block = "\n".join(line[2:] if line.startswith("| ") else line for line in lines)
    shown = _plain(block).split("\n")
    lines[:] = [
        f"| {new}" if old.startswith("| ") else new for old, new in zip(lines, shown, strict=True)
    ]


def _describe_options(_app: Any, _context: Any, lines: list[str]) -> None:
    lines[:] = [
        _plain(line) if line.startswith("    ") and not line.lstrip().startswith(":") else line
        for line in lines
    ]


_LINK = re.compile(r"\]\((?P<path>(?:\.\./)+[^)#\s]+)(?:#[^)\s]*)?\)")


def _link_files(app: Any, name: str, source: list[str]) -> None:
    """Make a link to a file outside docs a download: its page is no part of the site."""
    folder = Path(app.env.doc2path(name)).parent

    def linked(link: re.Match[str]) -> str:
        is_outside = DOCS not in (folder / link["path"]).resolve().parents
        return f"](path:{link['path']})" if is_outside else link[0]

    source[0] = _LINK.sub(linked, source[0])


def setup(app: Any) -> None:
    """Connect the masks, and the links to files outside docs."""
    app.connect("source-read", _link_files)
    for event in ("description", "epilog"):
        app.connect(f"sphinx-click-process-{event}", _describe)
    app.connect("sphinx-click-process-options", _describe_options)
