"""The node of one operator: what it does, in the engine's own terms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headgate.model.topology import Node, NodeKind
from headgate.model.version import OperatorKind, StatefulOperator
from headgate.parse.spark.expression.labels import readable, short
from headgate.parse.spark.operators.canonical import Anchor
from headgate.parse.spark.operators.relation import Relation, begins
from headgate.parse.spark.query.inlet_nodes import readable_order

_JOINS = {
    "Inner": "join",
    "LeftOuter": "left join",
    "RightOuter": "right join",
    "FullOuter": "full join",
    "LeftSemi": "semi join",
    "LeftAnti": "anti join",
}
_BY_RELATION = ("limit", "function", "state_type", "interface")
_BY_OPERATOR = ("timeout", "time_mode", "state_format")
_TIMERS = {"$procTimers": "processing time", "$eventTimers": "event time"}
_FIELD = re.compile(r"StructField\((?P<name>.+?),(?P<type>.+?),(?:true|false|True|False)\)")


def said(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details without the unknown and empty ones."""
    return {k: v for k, v in details.items() if v not in (None, "", [], {}, ())}


def operator_node(anchor: Anchor, operator: StatefulOperator | None) -> Node:
    """Return the node of an operator that is neither a source nor the sink."""
    details = {**_planned(anchor), **(operator_facts(operator) if operator else {})}
    label = _label(anchor)
    return Node(anchor.id, NodeKind.TRANSFORM, anchor.word, label, details=said(details))


def _planned(anchor: Anchor) -> dict[str, Any]:
    """Return what a plan says of an operator, stateful or not."""
    facts, relation = anchor.facts, anchor.relation or Relation(kind=anchor.word)
    out: dict[str, Any] = {
        "keys": [k.text for k in facts.keys],
        "right_keys": [k.text for k in facts.right_keys],
        "functions": [f.text for f in facts.functions],
        "conditions": [c.text for c in facts.conditions],
        "orders": [o.text for o in facts.orders],
        "join_type": relation.join_type,
        "name": relation.name if anchor.word == "unknown" else None,
        "subquery_reads": relation.extra.get("subquery_reads"),
        **{k: relation.extra.get(k) for k in _BY_RELATION},
    }
    return out | _of_kind(anchor, relation)


def _of_kind(anchor: Anchor, relation: Relation) -> dict[str, Any]:
    joins = anchor.word.endswith("join")
    names = [] if joins else [c.name for c in relation.outputs if c.text is None]
    match anchor.word:
        case "watermark":
            column = anchor.facts.column
            return {
                "watermark_column": column.text if column else None,
                "watermark_delay": relation.extra.get("delay"),
            }
        case "union":
            return {"inputs": len(relation.inputs)}
        case "generate":
            names = [begins(k).name for k in relation.keys]
            made = [f.text for f in anchor.facts.functions]
            outer = True if relation.extra.get("outer") else None
            return {"functions": None, "function": made[0], "columns": names, "outer": outer}
        case "expand":
            rows = [f.text for f in anchor.facts.functions]
            names = [begins(k).name for k in relation.keys]
            return {"functions": None, "projections": rows, "columns": names}
        case "map_groups" | "transform_with_state":
            return {"columns": names, "state_type": _fields(relation.extra.get("state_type"))}
    return {"columns": names} if anchor.word.startswith(("map_", "flat_", "script")) else {}


def _fields(text: str | None) -> list[dict[str, str]] | str | None:
    """Return name and type of each field of a state, its text where that has no fields."""
    found = [m.groupdict() for m in _FIELD.finditer(text or "")]
    return found or text


def operator_facts(operator: StatefulOperator) -> dict[str, Any]:
    """Return what is known of a stateful operator, whether from its plan or from its checkpoint."""
    out: dict[str, Any] = {
        "operator_id": operator.operator_id,
        "name": operator.name,
        "output_mode": operator.output_mode,
        "watermark_column": operator.watermark_column,
        "watermark_delay": operator.watermark_delay,
        **{k: operator.extra.get(k) for k in _BY_OPERATOR},
    }
    if operator.kind is OperatorKind.TRANSFORM_WITH_STATE:
        named = operator.extra.get("variables") or {}
        kept = {n: v for n, v in named.items() if not n.startswith("$")}
        timers = [word for name, word in _TIMERS.items() if any(n.startswith(name) for n in named)]
        out |= {"variables": kept, "timers": ", ".join(timers)}
    if window := operator.window:
        out["window"] = window.size_us if window.session_gap is None else window.session_gap
        out["slide"] = window.slide_us
        out["window_column"] = window.column
    return out


def _label(anchor: Anchor) -> str:
    facts, relation = anchor.facts, anchor.relation or Relation(kind=anchor.word)
    keys = ", ".join(map(readable, facts.keys))
    made = ", ".join(map(readable, facts.functions))
    match anchor.word:
        case "aggregate" | "session_aggregate":
            made = made or "distinct"
            return short(f"{made} by {keys}" if keys else made)
        case "stream_join" | "static_join":
            kind = _JOINS.get(relation.join_type or "", relation.join_type or "")
            return short(f"{kind} on {keys}" if keys else kind)
        case "deduplicate" | "deduplicate_within_watermark":
            return short(f"unique by {keys}")
        case "watermark":
            column = readable(facts.column) if facts.column else ""
            return short(f"{column} {relation.extra.get('delay', '')}".strip())
        case "limit":
            return f"limit {relation.extra.get('limit', '')}".strip()
        case "generate":
            return short(made)
        case "window":
            by = ", ".join(readable_order(o.text) for o in facts.orders)
            return short(f"{made} by {keys or by}")
        case "unknown":
            return relation.name
    words = anchor.word.replace("_", " ")
    function = relation.extra.get("function", "").rpartition(".")[2]
    return short(f"{words} {function}".strip())
