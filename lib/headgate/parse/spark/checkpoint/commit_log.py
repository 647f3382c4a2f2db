"""Read one file of the commit log: that a batch is done, written after the batch.

v1  {"nextBatchWatermarkMs":0}
v2  adds "stateUniqueIds": for each operator and partition the ids of its stores' checkpoints
v3  adds "sinkMetadataMap"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headgate.parse.spark.checkpoint.offset_log import versioned
from headgate.text.json_text import read_json, whole


@dataclass(frozen=True, slots=True)
class CommitLog:
    """One file; `state_ids` is by operator: for each partition the ids of its stores.

    `state_ids` is None where the state's checkpoints have no ids (format 1 of the state store).
    """

    version: int
    next_watermark_ms: int | None = None
    state_ids: Mapping[int, tuple[tuple[str, ...], ...]] | None = None
    sinks: Mapping[str, object] = field(default_factory=dict)


def read_commit(data: bytes) -> CommitLog:
    """Return one file of the commit log; ValueError where it is none, or not written to its end."""
    version, lines = versioned(data)
    if not lines:
        # Spark takes it, but writes at least `{}`.
        raise ValueError("the file is incomplete")
    found = read_json(lines[0] or "{}")
    if not isinstance(found, dict):
        raise ValueError("the second line isn't a JSON object")
    ids, sinks = found.get("stateUniqueIds"), found.get("sinkMetadataMap")
    return CommitLog(
        version,
        whole(found.get("nextBatchWatermarkMs")),
        _state_ids(ids) if isinstance(ids, dict) else None,
        sinks if isinstance(sinks, dict) else {},
    )


def _state_ids(found: Mapping[str, object]) -> dict[int, tuple[tuple[str, ...], ...]]:
    out = {}
    for operator, partitions in found.items():
        if not operator.isdecimal() or not isinstance(partitions, list):
            raise ValueError("stateUniqueIds doesn't have a list for each operator")
        out[int(operator)] = tuple(
            tuple(map(str, ids)) if isinstance(ids, list) else () for ids in partitions
        )
    return out
