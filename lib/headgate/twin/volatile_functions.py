"""Functions of time and chance in analysed plans: what they fill can't be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from headgate.twin.plan_tree import (
    Node,
    class_name,
    expression_id,
    expressions_of,
    tree_of,
    walk,
)

# They give another value in each run, or in each batch.
_VOLATILE = {
    **dict.fromkeys(("CurrentTimestamp", "Now", "LocalTimestamp"), "current_timestamp()"),
    **dict.fromkeys(("CurrentBatchTimestamp", "UnixTimestampNow"), "current_timestamp()"),
    **dict.fromkeys(("CurrentDate", "Curdate"), "current_date()"),
    "CurrentTime": "current_time()",
    **dict.fromkeys(("Rand", "Randn", "Shuffle"), "rand()"),
    **{"RandStr": "randstr()", "Uniform": "uniform()", "SparkPartitionID": "spark_partition_id()"},
    **dict.fromkeys(("Uuid",), "uuid()"),
    "MonotonicallyIncreasingID": "monotonically_increasing_id()",
}
_CARRIES = frozenset({"Project", "SubqueryAlias", "EventTimeWatermark", "View"})


def volatile(studies: Iterable[Mapping[str, Any]]) -> tuple[str | None, frozenset[str]]:
    """Return a function of time or chance that reaches a key, a filter or the state, and columns.

    The columns are those of the output that such a function fills without reaching any of these.
    """
    columns: set[str] = set()
    for study in studies:
        tainted: dict[str, str] = {}
        inside = _taint(tree_of(study["plan"]), tainted, columns)
        if inside is not None:
            return inside, frozenset()
    return None, frozenset(columns)


def _taint(node: Node, tainted: dict[str, str], columns: set[str]) -> str | None:
    """Note what holds such a value; return the function where it is more than carried along."""
    for child in node["children"]:
        if (inside := _taint(child, tainted, columns)) is not None:
            return inside
    for tree in expressions_of(node):
        name = next(
            (
                _VOLATILE.get(class_name(p)) or tainted[expression_id(p)]
                for p in walk(tree)
                if class_name(p) in _VOLATILE or expression_id(p) in tainted
            ),
            None,
        )
        if name is None:
            continue
        if class_name(node) not in _CARRIES:
            return name
        if class_name(tree) == "Alias":
            tainted[expression_id(tree)] = name
            columns.add(str(tree.get("name")))
    return None
