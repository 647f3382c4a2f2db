"""Take JSON values as the shape that they should have; absent is empty, another shape an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def mapping(found: Any) -> Mapping[str, Any]:
    """Return an object, an empty one for None; ValueError for anything else."""
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ValueError("an object was expected")
    return found


def items(found: Any) -> list[Any]:
    """Return a list, an empty one for None; ValueError for anything else."""
    if found is None:
        return []
    if not isinstance(found, list):
        raise ValueError("a list was expected")
    return found
