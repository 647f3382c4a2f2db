"""How many rows passed each filter and reached each stateful operator, by the plans' metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from headgate.spark_jobs.spark_reflection import elements, option

_ROWS, _STATE = "numOutputRows", "numTotalStateRows"
# They give one row for many, or rows of the state: what reached them is what lies below.
_FOLDS = ("Aggregate", "StateStoreRestore", "MergingSessions", "UpdatingSessions")
_ID = re.compile(r"#\d+L?")


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
        """
        found: dict[tuple[str, str], dict[str, Any]] = {}
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

    def counts(self) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
        """Yield a key that is the same in each batch, and the counts."""
        found: list[tuple[tuple[str, str], dict[str, Any]]] = []
        self._walk(self._root, "", found)
        yield from found

    def _walk(
        self, node: Any, path: str, found: list[tuple[tuple[str, str], dict[str, Any]]]
    ) -> tuple[int, bool]:
        """Return the rows that a node hands on, and whether state lies at it or below it."""
        children = elements(node.children())
        below = [self._walk(c, f"{path}{i}.", found) for i, c in enumerate(children)]
        rows_in = min((rows for rows, _ in below), default=0)
        handed, has_state = sum(rows for rows, _ in below), any(s for _, s in below)
        name, metrics = str(node.nodeName()), _metrics(node)
        rows = metrics.get(_ROWS, handed)
        about: dict[str, Any] = dict.fromkeys(("filter", "operator_id"))
        about |= {"rows_in": rows_in, "rows": rows}
        if name == "Filter":
            condition = _ID.sub("", str(node.condition().toString()))
            count = about | {"filter": condition, "is_after_state": has_state}
            found.append(((path, condition), count))
        elif _STATE in metrics:
            operator = int(option(node.stateInfo()).operatorId())
            count = about | {"operator_id": operator, "is_after_state": has_state}
            found.append(((path, str(operator)), count))
            has_state = True
        return (handed if any(f in name for f in _FOLDS) else rows), has_state


def _metrics(node: Any) -> dict[str, int]:
    """Return the metrics of rows that a node has."""
    metrics = node.metrics()
    return {k: int(metrics.apply(k).value()) for k in (_ROWS, _STATE) if metrics.contains(k)}
