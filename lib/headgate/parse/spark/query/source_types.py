"""The types of the columns that sources give, as any form of the plan tells them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from headgate.model.version import Source
from headgate.parse.spark.explain.printed_plan import Plan
from headgate.parse.spark.operators.canonical import Shape
from headgate.parse.spark.state.expected_schema import column_types


def with_types(
    sources: Sequence[Source] | None, plans: Sequence[Plan], shapes: Sequence[Shape]
) -> tuple[Source, ...] | None:
    """Return the sources with a type for each column, None for those that no form tells.

    Forms agree on the ids of the leaves, and a column is known by its name there.
    """
    if sources is None:
        return None
    pairs = list(zip(plans, shapes, strict=True))
    told: dict[str, dict[str, Any]] = {}
    for _, shape in pairs:
        types = column_types(shape, pairs)
        for anchor in shape.anchors.values():
            outputs = anchor.relation.outputs if anchor.word == "source" and anchor.relation else ()
            for column in outputs:
                if column.id in types:
                    told.setdefault(anchor.id, {})[column.name] = types[column.id].type
    return tuple(_typed(s, told.get(s.node or "", {})) for s in sources)


def _typed(source: Source, told: dict[str, Any]) -> Source:
    if not told or source.columns is None:
        return source
    return replace(source, column_types=tuple(told.get(name) for name in source.columns))
