"""Read how many input records of a pipeline are unread, and when the last one arrived."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime

from headgate.gateway.adapters.live import LiveInspector
from headgate.model.registered_pipelines import Pipeline
from headgate.model.schedules import Inputs
from headgate.model.version import Engine
from headgate.reprocess.scenarios.bounded.options import unread_records
from headgate.reprocess.scenarios.bounded.spark import positions_of
from headgate.reprocess.scenarios.shared.group_inputs import input_topics
from headgate.reprocess.steps.offsets.partition_offsets import commits_of
from headgate.store import Store
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import described

Part = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Unread:
    """The latest offset of each partition (`orders:0`), and the total number of unread records."""

    ends: dict[str, int]
    records: int


def read_unread(context: Context, store: Store, pipeline: Pipeline) -> Unread | None:
    """Return what is unread now; None if nothing shows the pipeline's offsets.

    A group's topics are those that a bounded run would read. UnreachableError if Kafka doesn't
    respond.
    """
    with closing(LiveInspector(context.registry, context.home)) as inspector:
        if not inspector.kafka.has_cluster():
            return None
        if pipeline.engine is Engine.SPARK:
            at = _positions(inspector, pipeline)
            names = {topic for topic, _ in at}
        else:
            group = inspector.kafka.group(str(pipeline.group))
            at = {part: commit.offset for part, commit in commits_of(group).items()}
            version = store.versions.running(pipeline.name)
            if version is None:
                version, _ = described(inspector, pipeline.name)
            names = input_topics(inspector, pipeline, version, group)
        topics = inspector.kafka.topics(names) if names else {}
    parts = [((name, p.number), p) for name, topic in topics.items() for p in topic.partitions]
    if not parts:
        return None
    return Unread(
        ends={f"{topic}:{number}": p.end or 0 for (topic, number), p in parts},
        records=sum(unread_records(topics, at).values()),
    )


def _positions(inspector: LiveInspector, pipeline: Pipeline) -> dict[Part, int]:
    if pipeline.checkpoint is None:
        return {}
    found = inspector.checkpoints.query_position(pipeline.checkpoint)
    return positions_of(found) if found is not None else {}


def compared(known: Inputs | None, ends: Mapping[str, int], now: str) -> Inputs:
    """Return the current inputs: `since` stays the same while no offset changes."""
    if known is not None and known.ends == ends:
        return known
    return Inputs(ends=dict(ends), since=now)


def with_tick(inputs: Inputs) -> Inputs:
    """Return the inputs, marked as those of a tick."""
    return replace(inputs, ticked=True)


def quiet_seconds(inputs: Inputs, now: datetime) -> float:
    """Return for how many seconds no record has arrived."""
    return (now - datetime.fromisoformat(inputs.since)).total_seconds()
