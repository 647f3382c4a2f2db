"""Offsets as progress reports and event logs carry them: JSON, or JSON within text."""

from __future__ import annotations

from typing import Any

from headgate.text.json_text import read_json
from headgate.text.secrets import mask_json, mask_text


def offset_value(found: Any) -> Any:
    """Return offsets as values, also where they are JSON within text; secrets are masked."""
    if isinstance(found, str):
        try:
            found = read_json(found)
        except (ValueError, RecursionError):
            return mask_text(found)
    return mask_json(found)
