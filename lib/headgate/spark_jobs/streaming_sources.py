"""The streaming sources of an analysed plan, as the session's own objects tell them."""

from __future__ import annotations

from typing import Any

from headgate.spark_jobs.spark_reflection import elements, mapping


def streaming_sources(analyzed: Any) -> list[dict[str, Any]]:
    """Return format, options, name and relation of each source, in the order of the leaves.

    A stream that is used twice stands there twice, as in the offset log.
    """
    found = []
    for leaf in elements(analyzed.collectLeaves()):
        relation = str(leaf.getClass().getSimpleName())
        if relation == "StreamingRelation":
            source = leaf.dataSource()
            about = {"format": str(source.className()), "options": mapping(source.options())}
        elif relation == "StreamingRelationV2":
            options = dict(leaf.extraOptions().items())
            about = {"format": str(leaf.sourceName()), "options": options}
        else:
            continue
        found.append({"relation": relation, **about, "name": _name(leaf)})
    return found


def _name(leaf: Any) -> str | None:
    """Return what `DataStreamReader.name` gave; Spark before 4.2 names no sources."""
    try:
        name = leaf.sourceIdentifyingName()
        is_given = str(name.getClass().getSimpleName()) == "UserProvided"
        return str(name.name()) if is_given else None
    except Exception:
        return None
