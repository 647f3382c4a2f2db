"""What a plan's JSON says in objects and classes, as single words."""

from __future__ import annotations

from typing import Any

from headgate.parse.spark.explain.odd_names import encoded_type


def word(found: Any) -> str:
    """Return the last word of a Scala object's class: `Inner` of `...plans.Inner$`."""
    if isinstance(found, dict):
        found = found.get("object") or found.get("product-class") or ""
    return str(found or "").rstrip("$").rpartition(".")[2].rpartition("$")[2]


def listed_fields(found: Any) -> str:
    """Return `StructField(n,long,true), ...` of a struct type."""
    found = encoded_type(found)
    fields = found.get("fields", []) if isinstance(found, dict) else []
    return ", ".join(f"StructField({f['name']},{f['type']},{f['nullable']})" for f in fields)


# Spark's numbers of the kinds of Python functions (PythonEvalType): with and without initial state.
_INTERFACES = {211: "pandas", 212: "pandas", 213: "python_row", 214: "python_row"}


def interface(found: Any) -> str:
    """Return how a state function gets its rows, as a plan's text says it; "" if unknown."""
    first = found[0] if isinstance(found, list) and found else {}
    kind = first.get("evalType") if isinstance(first, dict) else None
    return _INTERFACES.get(kind, "") if isinstance(kind, int) else ""
