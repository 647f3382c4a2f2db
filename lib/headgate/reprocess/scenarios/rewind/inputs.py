"""Records that a query reprocesses after a rewind: how many, and whether they still exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.model.cluster import Topic
from headgate.model.restore_points import LoggedBatch
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.recreated_topics import (
    RECREATED_RISKS,
    KnownTopics,
    OldOffsets,
    RecreatedTopics,
    recreated_topics,
)
from headgate.reprocess.scenarios.shared.uncounted_input import uncounted_input
from headgate.reprocess.steps.base.step import topic_facts
from headgate.text.numbers import as_records, duration, plural
from headgate.text.risk import Risk


@dataclass(frozen=True, slots=True)
class Inputs:
    """`again` are records by topic, `uncounted` input of which no number of records is known.

    `facts` are what must hold until the run. `unread` are the records after the batch by partition.
    """

    again: dict[str, int]
    uncounted: list[str]
    facts: dict[str, Any]
    blockers: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    unread: dict[tuple[str, int], int] = field(default_factory=dict)


NO_CLUSTER = Risk(
    "no Kafka cluster is configured: Headgate can't check whether the records still exist in "
    "{topics}. Set `bootstrap_servers` under [kafka]"
)
OTHER_SOURCES = Risk(
    "the query also reads from {sources} other than Kafka and files. Headgate can't check "
    "whether these sources still hold the records after batch {batch}",
    sources="N sources",
    batch="N",
)


def read_inputs(
    inspector: Inspector,
    checkpoint: Checkpoint,
    batch: LoggedBatch,
    batches: tuple[LoggedBatch, ...],
    files: int,
    known: KnownTopics,
) -> Inputs:
    """Return what is reprocessed; what no batch up to `batch` has read is new anyway.

    `files` is how many files later batches have read, `known` are the topics of an earlier time.
    """
    read = batch.offsets if inspector.kafka.has_cluster() else {}
    topics = inspector.kafka.topics(read) if read else {}
    blockers: list[str] = []
    if read:
        blockers += common.topic_blockers(set(read), topics)
        blockers += _not_held(batch, topics)
    recreated = _recreated(inspector, batch, topics, known)
    blockers += recreated.blockers
    risks = [*recreated.risks, *_kept(batch, topics)]
    if batch.offsets and not inspector.kafka.has_cluster():
        names = ", ".join(sorted(batch.offsets))
        risks.append(NO_CLUSTER(topics=names))
    if batch.other_sources:
        risks.append(
            OTHER_SOURCES(sources=plural(batch.other_sources, "source"), batch=batch.number)
        )
    if late := _watermark_gone_back(batch, batches):
        risks.append(late)
    facts = {"cluster_id": inspector.kafka.cluster_id()} if read else {}
    return Inputs(
        again=_again(batch.offsets, checkpoint.offsets),
        uncounted=uncounted_input(files=files, others=batch.other_sources),
        facts={**facts, "topics": topic_facts(topics)},
        blockers=tuple(blockers),
        risks=tuple(risks),
        unread=common.unread_parts(topics, _ends(batch)),
    )


def _recreated(
    inspector: Inspector, batch: LoggedBatch, topics: Mapping[str, Topic], known: KnownTopics
) -> RecreatedTopics:
    old = OldOffsets(name=f"batch {batch.number}", offsets=_ends(batch), at_ms=batch.planned_ms)
    return recreated_topics(inspector, topics, old, known) if topics else RecreatedTopics()


def _ends(batch: LoggedBatch) -> dict[tuple[str, int], int]:
    return {(t, n): at for t, parts in batch.offsets.items() for n, at in parts.items()}


def _again(
    at: Mapping[str, Mapping[int, int]], now: Mapping[str, Mapping[int, int]]
) -> dict[str, int]:
    """Return how many records lie between the batch's end and where the query is."""
    return {
        topic: sum(
            max(offset - parts.get(p, offset), 0) for p, offset in now.get(topic, {}).items()
        )
        for topic, parts in sorted(at.items())
    }


def _not_held(batch: LoggedBatch, topics: Mapping[str, Topic]) -> Iterator[str]:
    """Yield the partitions that no longer hold what came after the batch, or never did."""
    for name, topic in sorted(topics.items()):
        ends = batch.offsets[name]
        for part in topic.partitions:
            at = ends.get(part.number)
            if at is None or part.begin is None:
                continue
            location = f"{name}[{part.number}]"
            if at < part.begin:
                lost = part.begin - at
                yield (
                    f"{as_records(lost)} of {location} after batch {batch.number} "
                    f"{'is' if lost == 1 else 'are'} past retention: the batch ended at offset "
                    f"{at}, but the earliest offset is {part.begin}. Choose a later batch"
                )
            elif part.end is not None and at > part.end:
                yield (
                    f"batch {batch.number} ended at offset {at} of {location}, but the latest "
                    f"offset is {part.end}: the topic was recreated or lost records. Use "
                    "from-scratch or from-point"
                )


COMPACTED = Risk(
    "{topic} is compacted: of the records after batch {batch}, only the last record of each "
    "key may be left",
    batch="N",
)
RECORDS_EXPIRE = Risk(
    "{topic} keeps records for {time}. Records that expire before the query reads them are lost"
)


def _kept(batch: LoggedBatch, topics: Mapping[str, Topic]) -> Iterator[str]:
    """Yield what retention and compaction may remove before it is reprocessed."""
    for name, topic in sorted(topics.items()):
        if topic.cleanup_policy and "compact" in topic.cleanup_policy:
            yield COMPACTED(topic=name, batch=batch.number)
        elif topic.retention_ms is not None and topic.retention_ms >= 0:
            yield RECORDS_EXPIRE(topic=name, time=duration(topic.retention_ms))


WATERMARK_REWOUND = Risk(
    "the watermark is rewound, too. Batch boundaries can change, so records that Spark "
    "dropped as late may now be on time, and change results"
)


def _watermark_gone_back(batch: LoggedBatch, batches: tuple[LoggedBatch, ...]) -> str | None:
    """Say that the watermark is rewound, too: results may differ where records were dropped."""
    last = batches[-1].watermark_ms if batches else None
    if not batch.watermark_ms or not last or last <= batch.watermark_ms:
        return None
    return WATERMARK_REWOUND()


RISKS = (
    *RECREATED_RISKS,
    NO_CLUSTER,
    OTHER_SOURCES,
    COMPACTED,
    RECORDS_EXPIRE,
    WATERMARK_REWOUND,
)
