"""Read JSON as others wrote it: half a character, which no text may hold, becomes a mark."""

from __future__ import annotations

import json
import re
from typing import Any

# Pairs and escaped backslashes are kept, halves are not.
_ESCAPED = re.compile(
    r"(?P<keep>\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F]\w\w"
)


def read_json(text: str | bytes) -> Any:
    """Return what `json.loads` does; the result can be written as JSON.

    ValueError if the text isn't JSON, is nested too deeply to be read, or isn't UTF-8.
    """
    kept = whole_characters(text.decode() if isinstance(text, bytes) else text)
    try:
        return json.loads(kept)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def whole(found: Any) -> int | None:
    """Return a whole number, None for anything else (True is none)."""
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def optional_text(found: Any) -> str | None:
    """Return any value as text; None stays None."""
    return None if found is None else str(found)


def setting_text(value: Any) -> str:
    """Return a setting as configuration files write it: `true`, not `True`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def whole_characters(text: str) -> str:
    r"""Return JSON whose `\ud800` and the like, halves of no pair, became `\ufffd`."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPED.sub(lambda found: found["keep"] or "\\ufffd", text)
