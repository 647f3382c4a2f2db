"""Text that any XML parser takes, whatever a name holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

NOT_XML = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 (2.2) doesn't allow, and carriage returns, which parsers drop."""


def printable(text: str) -> str:
    """Return the text with a replacement character for each that XML does not have."""
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def xml(text: object) -> str:
    """Return text for an element or a quoted attribute."""
    return escape(printable(str(text)), quote=True)


def distinct(ids: Iterable[str]) -> dict[str, str]:
    """Return a printable id for each, different ones for different ids."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(ids):
        base = shown = printable(name)
        number = 2
        while shown in taken:
            shown, number = f"{base}~{number}", number + 1
        taken.add(shown)
        found[name] = shown
    return found
