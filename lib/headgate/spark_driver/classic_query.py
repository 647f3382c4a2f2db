"""What a classic session's JVM knows of a running query: its plan uncut, its sources and sink."""

from __future__ import annotations

import json
from typing import Any

from headgate.model.sinks import sink_format
from headgate.spark_jobs.spark_reflection import (
    case_kept,
    field,
    mapping,
    streaming_sources,
    trigger_words,
)

_CUT = " more fields"
_UNCUT = 1_000_000
_SECTIONS = (
    ("Parsed Logical Plan", "logical"),
    ("Analyzed Logical Plan", "analyzed"),
    ("Optimized Logical Plan", "optimizedPlan"),
    ("Physical Plan", "executedPlan"),
)
_ALREADY_KNOWN = frozenset(("checkpointlocation", "queryname"))
_LARGEST_LOGICAL = 8 << 20


def plan_text(query: Any) -> str:
    """Return the extended explain text of a Java `StreamingQuery`'s last batch.

    Spark cuts lists of fields (`spark.sql.debug.maxToStringFields`); if it did, the sections
    are printed once more without that limit.
    """
    text = str(query.explainInternal(True))
    if _CUT not in text:
        return text
    execution = query.streamingQuery().lastExecution()
    if execution is None:
        return text
    try:
        return "\n".join(
            f"== {title} ==\n{_tree(getattr(execution, name)())}" for title, name in _SECTIONS
        )
    except Exception:
        return text  # another Spark with another signature: a cut plan is better than none


def _tree(node: Any) -> str:
    """Call `treeString(verbose, addSuffix, maxFields, ...)`; the rest differs by release."""
    for more in (2, 1, 0):
        try:
            return str(node.treeString(True, False, _UNCUT, *([False] * more)))
        except Exception as error:
            if "does not exist" not in str(error):
                raise
    raise AttributeError("treeString")


def facts(query: Any, spark_version: str) -> dict[str, Any] | None:
    """Return `capture` (as capture.json has it) and `logical` (a plan's JSON) of a query.

    None if the query has no plan of its own that can be read (an old or foreign release).
    """
    execution = query.streamingQuery()
    try:
        analyzed = field(execution, "plan").inputQuery()
    except AttributeError:
        return None
    capture = {
        "sources": streaming_sources(analyzed),
        "sink": _sink(execution),
        "output_mode": str(execution.outputMode().toString()),
        "trigger": trigger_words(execution.trigger()),
        "name": execution.name(),
        "spark_version": spark_version,
    }
    logical = str(analyzed.toJSON())
    told = json.loads(logical) if len(logical) <= _LARGEST_LOGICAL else None
    return {"capture": capture, **({"logical": told} if told else {})}


def _sink(execution: Any) -> dict[str, Any]:
    """Return format and options of the sink; the format is what its class is called after."""
    options = field(execution, "extraOptions")
    try:
        given = case_kept(options)
    except Exception:
        given = mapping(options)
    kept = {k.lower(): v for k, v in given.items() if k.lower() not in _ALREADY_KNOWN}
    return {"format": _sink_format(execution.sink()), "options": kept}


def _sink_format(sink: Any) -> str:
    name = str(sink.getClass().getSimpleName()).rstrip("$")
    if name == "FileStreamSink":
        name = str(field(sink, "fileFormat").toString())
        return sink_format(name.lower()).format
    return sink_format(name).format
