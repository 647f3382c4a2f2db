"""Risks of a start at offsets: what a restore point lacks, and what isn't read."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.restore_points import RestorePoint
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.from_point import spark as from_point_spark
from headgate.reprocess.scenarios.shared.pipeline_links import is_internal, topics_read
from headgate.reprocess.steps.offsets.partition_offsets import committed
from headgate.text.numbers import as_records, name_list
from headgate.text.risk import Risk

_ONLY_OFFSETS = (
    "restore point {id} ({time}) has only offsets, because Kafka Streams keeps no old state. "
)
STORES_EMPTY = Risk(
    _ONLY_OFFSETS
    + "State stores start empty, and results lack all records from before these offsets"
)
STORES_KEPT = Risk(
    _ONLY_OFFSETS + "State stores keep their contents, which don't match these offsets"
)
NO_OFFSET_IN_POINT = Risk(
    "restore point {id} has no offset for {partitions}, because {pipeline} had not committed "
    "an offset there yet. Since then, the pipeline has read {records} of {these}. The run "
    "doesn't reprocess these records. To reprocess them, pass the offsets of all partitions "
    "with --to-offsets",
    partitions="TOPIC[PARTITION]",
    records="up to N records",
    these="these partitions",
)


def unknown_risks(request: PlanRequest, point: RestorePoint) -> Iterator[str]:
    """Name what the group has read since the point in partitions of which the point has nothing."""
    assert request.pipeline.group is not None
    left = {
        (topic, number): commit.offset
        for (topic, number), commit in committed(request.inspector, request.pipeline.group).items()
        if number not in point.offsets.get(topic, {}) and not is_internal(topic, request.pipeline)
    }
    logs = request.inspector.kafka.topics({topic for topic, _ in left}) if left else {}
    begins = {(t.name, p.number): p.begin or 0 for t in logs.values() for p in t.partitions}
    since = {part: at - begins.get(part, at) for part, at in left.items()}
    if read := [part for part, count in since.items() if count > 0]:
        name, parts = request.pipeline.name, [f"{topic}[{number}]" for topic, number in read]
        yield NO_OFFSET_IN_POINT(
            id=point.id,
            partitions=name_list(parts),
            pipeline=name,
            records=as_records(sum(since[part] for part in read)),
            these="this partition" if len(parts) == 1 else "these partitions",
        )


OFFSETS_OF_PIPELINE_IGNORED = Risk(
    "the run ignores the offsets that {other_pipeline} has for {topics}, because nothing "
    "shows that {pipeline} reads these topics"
)
OFFSETS_OF_GROUP_IGNORED = Risk(
    "the run ignores the offsets that group {other_group} has for {topics}, because nothing "
    "shows that {pipeline} reads these topics. If {pipeline} reads a topic, add the topic to "
    "`topics` in headgate.toml"
)


def left_out_risks(request: PlanRequest) -> Iterator[str]:
    """Name topics of the other group or query that the pipeline doesn't read, as far as known."""
    group, query = request.options.get("from-group"), request.options.get("from-pipeline")
    if (group is None and query is None) or not (read := topics_read(request)):
        return
    if query is not None:
        rows = from_point_spark.offsets_of_pipeline(query, request.inspector)
        if other := {row.split(",")[0] for row in rows} - read:
            yield OFFSETS_OF_PIPELINE_IGNORED(
                other_pipeline=query, topics=name_list(other), pipeline=request.pipeline.name
            )
        return
    if other := {topic for topic, _ in committed(request.inspector, str(group))} - read:
        yield OFFSETS_OF_GROUP_IGNORED(
            other_group=group, topics=name_list(other), pipeline=request.pipeline.name
        )


RISKS = (
    STORES_EMPTY,
    STORES_KEPT,
    NO_OFFSET_IN_POINT,
    OFFSETS_OF_PIPELINE_IGNORED,
    OFFSETS_OF_GROUP_IGNORED,
)
