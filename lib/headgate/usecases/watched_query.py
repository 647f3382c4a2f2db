"""Which of the queries in a watch a registered pipeline is, and how far behind it is."""

from __future__ import annotations

import json

from headgate.errors import EvidenceError, HeadgateError
from headgate.gateway.evidence_files import find, read
from headgate.model.registry import Pipeline
from headgate.parse.spark.progress import read_progress
from headgate.parse.spark.watch import Life, Watched
from headgate.usecases.context import Context

_METADATA = 64 << 10
_MOST_NAMES = 5


def life_of(pipeline: Pipeline, watched: Watched, context: Context) -> Life | None:
    """Return the newest run of the pipeline's query, None where the watch tells of no query.

    The query is the one that the registry names, else the one of its checkpoint, else the one of
    its name, else the only one. EvidenceError where none of that tells.
    """
    lives = sorted(watched.lives.values(), key=lambda life: life.told_at or "")
    if pipeline.query:
        mine = [x for x in lives if pipeline.query in (x.name, x.query_id)]
    else:
        mine = _by_checkpoint(pipeline, lives, context)
        mine = mine or [x for x in lives if x.name == pipeline.name]
        mine = mine or (lives if len({x.query_id for x in lives}) == 1 else [])
    if lives and not mine:
        names = list(dict.fromkeys(x.name or x.query_id for x in lives))
        shown = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
        how = "has no query of that name" if pipeline.query else "say with `query` which one it is"
        raise EvidenceError(f"{pipeline.watch} tells of {shown}; for {pipeline.name}, {how}")
    return mine[-1] if mine else None


def lag_of(watched: Watched, life: Life) -> int | None:
    """Return how many records waited in Kafka when the newest batch began; None where unknown."""
    report = next((r.newest for r in watched.log.runs if r.run_id == life.run_id), None)
    if not report:
        return None
    try:
        sources = read_progress(report).sources
    except ValueError:
        return None
    waits = [_behind(s.end, s.latest) for s in sources]
    known = [w for w in waits if w is not None]
    return sum(known) if known and len(known) == len(waits) else None


def query_id_of(checkpoint: str, context: Context) -> str | None:
    """Return the id that a checkpoint gives its query, None where it can't be read."""
    try:
        place = find(f"{checkpoint.rstrip('/')}/metadata", context.registry.file_systems)
        found = json.loads(read(place, _METADATA)) if place else None
    except (HeadgateError, ValueError):
        return None
    return str(found["id"]) if isinstance(found, dict) and "id" in found else None


def _by_checkpoint(pipeline: Pipeline, lives: list[Life], context: Context) -> list[Life]:
    wanted = query_id_of(pipeline.checkpoint, context) if pipeline.checkpoint else None
    return [x for x in lives if x.query_id == wanted]


def _behind(end: object, latest: object) -> int | None:
    """Return the records between two of Kafka's offsets, {topic: {partition: offset}}."""
    if not isinstance(end, dict) or not isinstance(latest, dict):
        return None
    total = 0
    for topic, partitions in latest.items():
        done = end.get(topic)
        if not isinstance(partitions, dict) or not isinstance(done, dict):
            return None
        for number, offset in partitions.items():
            if not isinstance(offset, int) or not isinstance(done.get(number), int):
                return None
            total += max(offset - done[number], 0)
    return total
