"""What a plan's JSON says in objects and classes, as single words."""

from __future__ import annotations

from typing import Any


def word(found: Any) -> str:
    """Return the last word of a Scala object's class: `Inner` of `...plans.Inner$`."""
    if isinstance(found, dict):
        found = found.get("object") or found.get("product-class") or ""
    return str(found or "").rstrip("$").rpartition(".")[2].rpartition("$")[2]


def listed_fields(found: Any) -> str:
    """Return `StructField(n,long,true), ...` of a struct type."""
    fields = found.get("fields", []) if isinstance(found, dict) else []
    return ", ".join(f"StructField({f['name']},{f['type']},{f['nullable']})" for f in fields)
