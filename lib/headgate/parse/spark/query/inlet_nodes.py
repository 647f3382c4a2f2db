"""The nodes between two operators: repartitions, filters, projections, sorts, observed numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.model.topology import Node, NodeKind
from headgate.parse.spark.expression.labels import readable, short
from headgate.parse.spark.expression.parse import parse
from headgate.parse.spark.operators.canonical import Inlet, node_id
from headgate.parse.spark.operators.relation import Exchange
from headgate.text.numbers import plural

_LONGEST_LABEL = 60


def inlet_nodes(target: str, slot: int, inlet: Inlet) -> list[Node]:
    """Return the nodes between the operator `target` and its input `slot`, upstream first."""
    required = [_exchange(target, f"{slot}.required", inlet.required)] if inlet.required else []
    return [
        *(_exchange(target, f"{slot}.wanted{n}", e) for n, e in enumerate(inlet.wanted[::-1])),
        *_observe(target, slot, inlet),
        *_filter(target, slot, inlet),
        *_project(target, slot, inlet),
        # A global sort is what needs the exchange.
        *required,
        *_sort(target, slot, inlet),
    ]


def _exchange(target: str, slot: str, exchange: Exchange) -> Node:
    keys = [parse(k).text for k in exchange.keys]
    label = f"by {', '.join(keys)}" if keys else "evenly"
    if not keys and exchange.partitions == 1:
        label = "to 1 partition"
    details = {"keys": keys, "partitions": exchange.partitions, "required": exchange.required}
    key = node_id("exchange", target, slot)
    if exchange.shuffles:
        return Node(key, NodeKind.REPARTITION, "exchange", label, details=details)
    kept = {"partitions": exchange.partitions}
    # Spark prints no number of partitions for some of them.
    label = f"to {plural(exchange.partitions, 'partition')}" if exchange.partitions else "coalesce"
    return Node(key, NodeKind.TRANSFORM, "coalesce", label, details=kept)


def _observe(target: str, slot: int, inlet: Inlet) -> list[Node]:
    return [
        Node(
            node_id("observe", target, f"{slot}.{name}"),
            NodeKind.TRANSFORM,
            "observe",
            short(name or "observe"),
            details={"name": name, "functions": list(calls)},
        )
        for name, calls in inlet.observed.items()
    ]


def _filter(target: str, slot: int, inlet: Inlet) -> list[Node]:
    """A filter that holds only what the optimiser inferred (`isnotnull`) says so."""
    if not inlet.filters:
        return []
    written = [c for c in inlet.filters if not c.startswith("isnotnull(")]
    label = _shortened(written or list(inlet.filters))
    details: dict[str, Any] = {"conditions": list(inlet.filters)}
    if inlet.inferred >= inlet.filters.keys():
        details["inferred"] = True
    if inlet.tables:
        details["subquery_reads"] = list(inlet.tables)
    key = node_id("filter", target, slot)
    return [
        Node(
            key, NodeKind.TRANSFORM, "filter", short(label), details=with_functions(details, inlet)
        )
    ]


def _shortened(conditions: Sequence[str]) -> str:
    """Return as many of the conditions as a label can show."""
    out: dict[str, None] = {}
    length = 0
    for text in conditions:
        part = readable(parse(text))
        length += 0 if part in out else len(part)
        out[part] = None
        if length > _LONGEST_LABEL:
            break
    return " and ".join(out)


def with_functions(details: Mapping[str, Any], inlet: Inlet) -> dict[str, Any]:
    """Return the details with the user's functions that their expressions call."""
    if not inlet.user_functions:
        return dict(details)
    texts = str(list(details.values()))
    called = [name for name in inlet.user_functions if f"{name}(" in texts]
    return {**details, "user_functions": called} if called else dict(details)


def _project(target: str, slot: int, inlet: Inlet) -> list[Node]:
    if not inlet.computed:
        return []
    label = short(", ".join(inlet.computed))
    key = node_id("project", target, slot)
    details = with_functions({"columns": dict(inlet.computed)}, inlet)
    return [Node(key, NodeKind.TRANSFORM, "project", label, details=details)]


def _sort(target: str, slot: int, inlet: Inlet) -> list[Node]:
    if not inlet.orders:
        return []
    label = short(f"sort by {', '.join(readable_order(o) for o in inlet.orders)}")
    key = node_id("sort", target, slot)
    return [Node(key, NodeKind.TRANSFORM, "sort", label, details={"orders": list(inlet.orders)})]


def readable_order(text: str) -> str:
    """Return `count DESC` of a sort order's full text."""
    by, falls, _ = text.partition(" DESC")
    return readable(parse(by.partition(" ASC")[0])) + falls
