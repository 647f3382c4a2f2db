"""What somebody declared to be a rename: `KIND:OLD=NEW`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from headgate.errors import RenameError

_RENAME = re.compile(r"^(?P<kind>source):(?P<old>[^=]+)=(?P<new>.+)$")


def source_renames(renames: Iterable[str]) -> dict[str, str]:
    """Return {old: new} of the sources' names; RenameError names what is not understood."""
    out: dict[str, str] = {}
    for text in renames:
        if not (match := _RENAME.match(text)):
            raise RenameError(f"--rename {text!r} is not understood; write source:OLD=NEW.")
        out[match["old"]] = match["new"]
    return out
