"""Where the page of a rule is: on the web, or beside the package where it runs from its sources."""

from __future__ import annotations

from pathlib import Path

_PAGES = Path(__file__).parents[3] / "docs" / "rules"


def rule_link(code: str, base: str | None = None) -> str | None:
    """Return the address of a rule's page, None where nobody can open one.

    `base` is the folder of all pages (`[docs] rules_url` in headgate.toml). Without one it is the
    file in the sources, if the package runs from them.
    """
    if base:
        return f"{base.rstrip('/')}/{code}.md"
    page = _PAGES / f"{code}.md"
    return page.as_uri() if page.is_file() else None
