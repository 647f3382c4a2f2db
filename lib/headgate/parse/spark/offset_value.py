"""Offsets as progress reports and event logs carry them: JSON, or JSON within text."""

from __future__ import annotations

from typing import Any

from headgate.parse.json_text import read_json
from headgate.parse.spark.secrets import MASK, is_secret, mask_text

_DEEPEST = 50


def offset_value(found: Any) -> Any:
    """Return offsets as values, also where they are JSON within text; secrets are masked."""
    if isinstance(found, str):
        try:
            found = read_json(found)
        except (ValueError, RecursionError):
            return mask_text(found)
    return _masked(found)


def _masked(found: Any, depth: int = 0) -> Any:
    """Return a source's own JSON without secrets; what nests absurdly deep is left out."""
    if depth > _DEEPEST:
        return None
    if isinstance(found, dict):
        return {
            str(k): MASK if isinstance(v, str) and is_secret(str(k)) else _masked(v, depth + 1)
            for k, v in found.items()
        }
    if isinstance(found, list):
        return [_masked(v, depth + 1) for v in found]
    return mask_text(found) if isinstance(found, str) else found
