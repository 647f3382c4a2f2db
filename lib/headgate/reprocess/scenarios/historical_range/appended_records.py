"""Append the results of a range to an existing topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.reprocess.output_effects import OutputEffects
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.spark_jobs import EventTimes
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.written_results import Target
from headgate.reprocess.steps.base.step import topic_facts
from headgate.reprocess.steps.outputs.append_records import (
    AppendRecords,
    DeleteStagedRecords,
    StageRecords,
)
from headgate.text.risk import Risk

# What the target takes, the run's topic must take, too.
_LARGEST = "max.message.bytes"
# A run may be resumed much later.
_STAYS = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}


def append_blockers(request: PlanRequest, topic: str) -> list[str]:
    """Return why results can't be appended to the topic."""
    if not request.inspector.kafka.shapes([topic]):
        return [
            f"--append: topic {topic} doesn't exist. Correct --to, or omit --append to "
            "create the topic"
        ]
    sources = request.version.sources if request.version else None
    if any(topic in source.topics for source in sources or ()):
        return [
            f"--to: {request.pipeline.name} reads topic {topic}, so the results would become input "
            "of the pipeline. Pass another topic"
        ]
    if request.inspector.dead_letters.may_write([topic]).get(topic) is False:
        return [
            f"--to: Kafka's ACLs don't allow Headgate to write to {topic}. Grant the operation "
            "Write, or pass another topic"
        ]
    return []


APPENDED_AT_ONCE = Risk(
    "the run writes the results to a temporary topic, then appends them to {topic}. Before "
    "the append, an undo deletes the temporary topic. Afterwards, an undo is blocked, because "
    "Kafka can't remove the appended records"
)
RESULTS_KEPT = Risk(
    "{topic} keeps its earlier results: consumers get the results of the range a second time"
)
IN_TRANSACTION = Risk(
    "the run writes results and its progress in the same transaction: each result is written "
    "once, even if the run is killed and resumed. Consumers with "
    "isolation.level=read_uncommitted may also get records of an aborted transaction"
)


def append_to_topic(
    request: PlanRequest, topic: str, what: Mapping[str, Any], found: EventTimes
) -> Target:
    """Return the steps and what the plan says of records that can't be undone."""
    kafka = request.inspector.kafka
    shape = kafka.shapes([topic])[topic]
    facts = topic_facts(kafka.topics([topic]))
    largest = {k: v for k, v in shape.configs.items() if k == _LARGEST}
    like = {
        "partitions": shape.partitions,
        "replication": shape.replication,
        "configs": {**_STAYS, **largest},
    }
    return Target(
        steps=(
            StageRecords(to=topic, shape=like, **what),
            AppendRecords(topic=topic, topics=facts),
            DeleteStagedRecords(),
        ),
        resources=(f"topic:{topic}",),
        outputs=OutputEffects(
            run=(f"The results of the range are appended to topic {topic}.",),
            undo=(f"Once results are in {topic}, an undo is blocked: Kafka can't remove them.",),
            remains=True,
        ),
        risks=(
            APPENDED_AT_ONCE(topic=topic),
            RESULTS_KEPT(topic=topic),
            IN_TRANSACTION(),
        ),
        blockers=_key_blockers(topic, shape, found),
    )


def _key_blockers(topic: str, shape: TopicShape, found: EventTimes) -> tuple[str, ...]:
    policy = shape.configs.get("cleanup.policy", "")
    if "compact" not in policy or "key" in found.columns:
        return ()
    return (
        f"--to: {topic} is compacted, so its records need a key. The results have no column `key`. "
        "Pass another topic",
    )


RISKS = (
    APPENDED_AT_ONCE,
    RESULTS_KEPT,
    IN_TRANSACTION,
)
