"""Where the page of a rule is on the web."""

from __future__ import annotations


def rule_link(code: str, base: str | None = None) -> str | None:
    """Return the address of a rule's page, None where nobody can open one.

    `base` is the folder of all pages (`[docs] rules_url` in headgate.toml). A path of the machine
    that made a report would mean nothing to its reader, so that there is no link without one.
    """
    return f"{base.rstrip('/')}/{code}.md" if base else None
