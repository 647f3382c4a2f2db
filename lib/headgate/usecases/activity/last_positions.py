"""The last known offsets of a group, from the worker's checks and the journal of its runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from headgate.model.activity import Activity, Position
from headgate.model.cluster import Cluster, Group, Topic
from headgate.model.kafka_streams import internal_kind
from headgate.model.registered_pipelines import Pipeline
from headgate.reprocess.plan import load_plan
from headgate.reprocess.steps.offsets.partition_offsets import Commit, Move, moves_of
from headgate.reprocess.steps.offsets.target import TopicPart
from headgate.store.rows import Event, RunFacts

if TYPE_CHECKING:
    from headgate.store import Store
    from headgate.store.sqlite_reader import SqliteReader

_MOST = 1_000
"""Groups with more partitions get no stored positions: each check would write all of them."""


def with_positions(
    found: Activity, before: Activity | None, group: Group, cluster: Cluster
) -> Activity:
    """Return the activity with each committed offset between the earliest and latest offset.

    If the committed offset of a partition is out of range, the partition keeps its last known
    offset.
    """
    known = {(p.topic, p.partition): p for p in (before.positions if before else ())}
    for one in group.offsets:
        topic = cluster.topics.get(one.topic)
        if topic is None or one.offset is None or internal_kind(one.topic) is not None:
            continue
        if _holds(topic, one.partition, one.offset):
            known[one.topic, one.partition] = Position(
                topic=one.topic,
                topic_id=topic.id,
                partition=one.partition,
                offset=one.offset,
                at=cluster.at,
            )
    kept = known if len(known) <= _MOST else {}
    return replace(found, positions=tuple(kept[part] for part in sorted(kept)))


def _holds(topic: Topic, number: int, offset: int) -> bool:
    return any(
        p.number == number
        and p.begin is not None
        and p.end is not None
        and p.begin <= offset <= p.end
        for p in topic.partitions
    )


def last_positions(
    store: Store | SqliteReader, pipeline: Pipeline, topics: Mapping[str, Topic]
) -> dict[TopicPart, Position]:
    """Return the newest known offset of each partition that is still in range.

    Offsets of a topic that was recreated since then don't count.
    """
    seen = store.activity.all().get(pipeline.name)
    found = [*(seen.positions if seen else ()), *_journalled(store, str(pipeline.group))]
    newest: dict[TopicPart, Position] = {}
    for one in sorted(found, key=lambda p: p.at):
        topic = topics.get(one.topic)
        if topic is None or topic.id is None or topic.id != one.topic_id:
            continue
        if _holds(topic, one.partition, one.offset):
            newest[one.topic, one.partition] = one
    return newest


def _journalled(store: Store | SqliteReader, group: str) -> Iterator[Position]:
    for run in store.runs.touching(f"group:{group}"):
        yield from _of_run(store, run, group)


def _of_run(store: Store | SqliteReader, run: RunFacts, group: str) -> Iterator[Position]:
    """Yield what each step of a run found committed, and what it has committed."""
    steps = load_plan(store.runs.get(run.id).plan, source=f"run {run.id}").steps
    moves: dict[int, tuple[Move, ...]] = {}
    for entry in store.journal.entries(run.id):
        was = entry.data.get("was", {})
        if entry.event is Event.BEGUN and "moves" in was:
            moves[entry.position] = moves_of(was)
        if entry.event not in (Event.BEGUN, Event.DONE) or entry.position not in moves:
            continue
        details = steps[entry.position].details()
        if details.get("group") == group:
            begun = entry.event is Event.BEGUN
            commits = (
                (m.topic, m.partition, m.was if begun else m.to) for m in moves[entry.position]
            )
            yield from _positions(commits, details.get("topics", {}), entry.at)


def _positions(
    commits: Iterable[tuple[str, int, Commit | None]],
    topics: Mapping[str, Mapping[str, object]],
    at: str,
) -> Iterator[Position]:
    for topic, number, commit in commits:
        topic_id = topics.get(topic, {}).get("id")
        if commit is not None and isinstance(topic_id, str):
            yield Position(
                topic=topic,
                topic_id=topic_id,
                partition=number,
                offset=commit.offset,
                at=at,
            )
