"""Whether two versions are the same query to Catalyst, before any row runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.model.twin import Equivalence, SameOperator

# Of `capture.json`: what may differ without another result.
_ASIDE = frozenset({"checkpoint", "functions", "spark_version"})
_NAMES = {
    "sources": "sources", "sink": "sink", "output": "output columns", "output_mode": "output mode",
    "trigger": "trigger", "name": "query name", "state": "state schemas", "error": "start",
}  # fmt: skip


def equivalence(
    studies: Sequence[Mapping[str, Any]],
    captures: Sequence[Mapping[str, Any]],
    settings: Sequence[Mapping[str, str]],
) -> Equivalence:
    """Compare the canonical plans of `study.json`, and what was recorded beside them.

    `captures` are both versions' `capture.json`, `settings` their `conf.json`.
    """
    old, new = (study["canonical"] for study in studies)
    functions = [sorted(map(repr, capture.get("functions", ()))) for capture in captures]
    differs = [*_differs(*captures)]
    differs += ["user functions"] if functions[0] != functions[1] else []
    differs += ["settings"] if settings[0] != settings[1] else []
    if old is None or new is None:
        return Equivalence(plan=None, differs=tuple(differs))
    is_comparable = functions[0] == functions[1]
    return Equivalence(
        plan=old["plan"] == new["plan"] if is_comparable else None,
        differs=tuple(differs),
        operators=tuple(_operators(old["operators"], new["operators"])) if is_comparable else (),
    )


def _differs(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    keys = dict.fromkeys((*old, *new))
    return [_NAMES.get(k, k) for k in keys if k not in _ASIDE and old.get(k) != new.get(k)]


def _operators(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> list[SameOperator]:
    """Compare operators by their ids; none if the versions have different ones."""
    if [o["operator"] for o in old] != [o["operator"] for o in new]:
        return []
    return [
        SameOperator(
            operator_id=number,
            operator=str(a["operator"]),
            inputs=a["inputs"] == b["inputs"],
            keys=a["keys"] == b["keys"] if a["inputs"] == b["inputs"] else None,
            values=a["values"] == b["values"] if a["inputs"] == b["inputs"] else None,
        )
        for number, (a, b) in enumerate(zip(old, new, strict=True))
    ]
