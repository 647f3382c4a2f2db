"""Which look an operator has; joins and aggregations are looks, not kinds."""

from __future__ import annotations

from headgate.model.topology import NodeKind
from headgate.views.scene.scene import Look

NOT_READ = frozenset({"", "unknown", "generic"})
"""Operators without details: the evidence shows only that they exist."""
BY_KIND: dict[str, Look] = {
    NodeKind.SOURCE: Look.SOURCE,
    NodeKind.REPARTITION: Look.REPARTITION,
    NodeKind.STATE_STORE: Look.STORE,
    NodeKind.SINK: Look.SINK,
}
AGGREGATIONS = frozenset(
    {
        "aggregate",
        "session_aggregate",
        "deduplicate",
        "deduplicate_within_watermark",
        "limit",
        "map_groups",
        "transform_with_state",
        "count",
        "reduce",
        "cogroup_aggregate",
        "materialize",
        "stateful_processor",
        "suppress",
    }
)
"""Stateful operators that are drawn like aggregations."""

JOINS = frozenset(
    {
        "union",
        "merge",
        "cogroup_merge",
        "foreign_key_register",
        "foreign_key_resolve",
        "foreign_key_subscription",
    }
)
"""Operators that combine several streams, but whose names don't say so."""


def look_of(kind: str, operator: str) -> Look:
    """Return the look of a node; what nobody could read says so."""
    if kind in BY_KIND:
        return BY_KIND[kind]
    if operator in NOT_READ:
        return Look.UNREAD
    if "join" in operator or operator in JOINS:
        return Look.JOIN
    return Look.AGGREGATION if operator in AGGREGATIONS else Look.PROJECTION
