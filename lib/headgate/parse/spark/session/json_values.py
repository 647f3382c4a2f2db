"""Offsets as progress reports and event logs carry them: JSON, or JSON within text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.text.json_text import read_json
from headgate.text.secrets import mask_json, mask_text


def mapping(found: Any) -> Mapping[str, Any]:
    """Return an object, an empty one for None; ValueError for anything else."""
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ValueError("expected a JSON object")
    return found


def items(found: Any) -> list[Any]:
    """Return a list, an empty one for None; ValueError for anything else."""
    if found is None:
        return []
    if not isinstance(found, list):
        raise ValueError("expected a JSON list")
    return found


def offset_value(found: Any) -> Any:
    """Return offsets as values, also where they are JSON within text; secrets are masked."""
    if isinstance(found, str):
        try:
            found = read_json(found)
        except (ValueError, RecursionError):
            return mask_text(found)
    return mask_json(found)
