"""How many rows passed each filter and reached each stateful operator, by the plans' metrics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from headgate.spark_jobs.spark_reflection import elements, option

_ROWS, _STATE = "numOutputRows", "numTotalStateRows"
# They give one row for many, or rows of the state: what reached them is what lies below.
_FOLDS = ("Aggregate", "StateStoreRestore", "MergingSessions", "UpdatingSessions")
# A batch has a subquery's result from another one, or not.
_ID = re.compile(r"#\d+L?|\bReusedSubquery ")


@dataclass
class BatchPlans:
    """The executed plan of every batch of a query, as far as somebody looked in time."""

    _plans: dict[int, Any] = field(default_factory=dict)

    def note(self, query: Any) -> None:
        """Keep the plan of the running batch; call it more often than batches follow each other."""
        execution = query.streamingQuery().lastExecution()
        if execution is not None:
            self._plans.setdefault(int(execution.currentBatchId()), execution)

    def counts(self) -> list[dict[str, Any]]:
        """Return `{"filter", "operator_id", "rows_in", "rows", "is_after_state"}` of all batches.

        A filter has its condition, without columns' ids, an operator with state its id; the other
        is None. `rows_in` are the rows that reached it, of a join those of the side with fewer.
        A batch without rows can have another plan, so the position in it says nothing: filters
        with the same condition are matched by their order.
        """
        found: dict[tuple[str, int], dict[str, Any]] = {}
        for execution in self._plans.values():
            for key, count in _Plan(execution.executedPlan()).counts():
                known = found.setdefault(key, count | {"rows_in": 0, "rows": 0})
                known["rows_in"] += count["rows_in"]
                known["rows"] += count["rows"]
        return list(found.values())


class _Plan:
    """One batch's plan; each of its nodes is asked once."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def counts(self) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
        """Yield a key that is the same in each batch, and the counts."""
        found: list[dict[str, Any]] = []
        self._walk(self._root, found)
        conditions: Counter[str] = Counter()
        for count in found:
            condition, operator = count["filter"], count["operator_id"]
            if condition is None:
                yield ("", operator), count
            else:
                yield (condition, conditions[condition]), count
                conditions[condition] += 1

    def _walk(self, node: Any, found: list[dict[str, Any]]) -> tuple[int, bool]:
        """Return the rows that a node outputs, and whether it or a node below has state."""
        below = [self._walk(child, found) for child in elements(node.children())]
        rows_in = min((rows for rows, _ in below), default=0)
        handed, has_state = sum(rows for rows, _ in below), any(s for _, s in below)
        name, metrics = str(node.nodeName()), _metrics(node)
        rows = metrics.get(_ROWS, handed)
        about: dict[str, Any] = dict.fromkeys(("filter", "operator_id"))
        about |= {"rows_in": rows_in, "rows": rows}
        if name == "Filter":
            condition = _ID.sub("", str(node.condition().toString()))
            found.append(about | {"filter": condition, "is_after_state": has_state})
        elif _STATE in metrics:
            operator = int(option(node.stateInfo()).operatorId())
            found.append(about | {"operator_id": operator, "is_after_state": has_state})
            has_state = True
        return (handed if any(f in name for f in _FOLDS) else rows), has_state


def _metrics(node: Any) -> dict[str, int]:
    """Return the metrics of rows that a node has."""
    metrics = node.metrics()
    return {k: int(metrics.apply(k).value()) for k in (_ROWS, _STATE) if metrics.contains(k)}
