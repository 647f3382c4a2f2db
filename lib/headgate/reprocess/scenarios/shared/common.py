"""What the scenarios of all engines share: the words of risks, the facts of topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, TypeVar

from headgate.errors import ScenarioError, UnreachableError
from headgate.model.cluster import Group, Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.sinks import BatchIds
from headgate.model.version import Version
from headgate.reprocess.deleted_records import EARLIEST_OFFSETS, earliest_offsets
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.checkpoint.replace import SnapshotCheckpoint
from headgate.reprocess.steps.process.stop_start import StopPipeline, stop_with
from headgate.reprocess.steps.process.wait_until_stopped import PENDING_SECONDS, STOP_SECONDS
from headgate.text.numbers import duration, name_list, plural
from headgate.text.risk import Risk

T = TypeVar("T")
# A source whose format no evidence shows may be one.
_KAFKA = (None, "kafka")


def at_least(options: Mapping[str, Any], name: str, least: int, otherwise: T) -> int | T:
    """Return an option's number, else `otherwise`; ScenarioError if it is below `least`."""
    if (given := options.get(name)) is None:
        return otherwise
    if (number := int(given)) < least:
        raise ScenarioError(f"--{name}: expected {least} or more, found {number}")
    return number


def stop_step(pipeline: Pipeline, *, checkpoint: str | None = None) -> StopPipeline:
    """Return the step that stops the pipeline, or only verifies that it is stopped."""
    return stop_with(pipeline.commands, pipeline.name, checkpoint=checkpoint, group=pipeline.group)


def snapshot_step(
    inspector: Inspector, *, pipeline: str, checkpoint: str, query_id: str
) -> SnapshotCheckpoint:
    """Return the step that copies a checkpoint, with the size that it has now."""
    size = inspector.checkpoints.snapshot_size(checkpoint)
    return SnapshotCheckpoint(
        pipeline=pipeline,
        checkpoint=checkpoint,
        query_id=query_id,
        bytes=size.bytes,
        copied=size.copied,
    )


def no_checkpoint(pipeline: Pipeline) -> str:
    """Say why there is no checkpoint to read."""
    if pipeline.checkpoint:
        return f"checkpoint {pipeline.checkpoint} not found: check `checkpoint` in headgate.toml"
    return "headgate.toml sets no `checkpoint` for this pipeline: add it"


def command_facts(pipeline: Pipeline) -> dict[str, str | None]:
    """Return the commands that were shown and must not change until the run."""
    return {"stop": pipeline.commands.stop, "start": pipeline.commands.start}


def topic_blockers(wanted: set[str], topics: Mapping[str, Topic]) -> list[str]:
    """Refuse topics that are not there, and those whose id or log could not be read."""
    missing = [
        f"topic {name} does not exist. Check its name, or recreate the topic if it was deleted"
        for name in sorted(wanted - topics.keys())
    ]
    nameless = [
        f"Headgate could not read the id of topic {name}: check Headgate's ACLs on this topic"
        for name, topic in sorted(topics.items())
        if topic.id is None
    ]
    return missing + nameless + unread_logs(topics)


def input_facts(inspector: Inspector, topics: Iterable[str]) -> dict[str, Any]:
    """Return as preconditions which topics a pipeline's offsets are of: `cluster_id`, `topics`.

    Offsets of a topic that is deleted and recreated are offsets of other records. Nothing is
    returned without a cluster, or if it doesn't respond: these plans need no broker otherwise.
    """
    names = set(topics)
    if not names or not inspector.kafka.has_cluster():
        return {}
    try:
        known = inspector.kafka.identities(names)
        cluster = inspector.kafka.cluster_id()
    except UnreachableError:
        return {}
    facts = {n: {"id": id, "partitions": count} for n, (id, count) in sorted(known.items())}
    return {"cluster_id": cluster, "topics": facts}


def unread_logs(topics: Mapping[str, Topic]) -> list[str]:
    """Block partitions without a known earliest and latest offset: they have no leader."""
    return [
        f"Headgate could not read the earliest and latest offset of {name}[{part.number}]: check "
        "that the partition has a leader"
        for name, topic in sorted(topics.items())
        for part in topic.partitions
        if part.begin is None or part.end is None
    ]


CONSUMERS_GET_DUPLICATES = Risk("{topic} is read by {consumers}: these consumers get duplicates")
STATIC_MEMBERS = Risk(
    "group {group} has static members ({instances}). After the stop, a static member stays in "
    "the group until its session.timeout.ms expires. If that takes longer than "
    f"{STOP_SECONDS:.0f} s, the run fails"
)
OPEN_TRANSACTION = Risk(
    "an open transaction includes offsets of group {group} on {partitions}. If the "
    f"transaction is still open {PENDING_SECONDS:.0f} s after the stop, the run fails",
    partitions="TOPIC[PARTITION]",
)


def group_risks(group: Group) -> list[str]:
    """Name what counts as alive for a while after a stop: static members, a transaction."""
    risks = []
    if static := [m.instance_id for m in group.members or () if m.instance_id]:
        risks.append(STATIC_MEMBERS(group=group.id, instances=name_list(static)))
    if group.pending:
        risks.append(OPEN_TRANSACTION(group=group.id, partitions=name_list(group.pending)))
    return risks


EFFECTS_UNKNOWN = Risk(
    "user functions ({functions}) are called for reprocessed records. If these functions have "
    "effects outside of Kafka, the effects happen {times}. Set `effects` in headgate.toml: "
    "`external` if there are such effects, else `idempotent`",
    times="a second time",
)


def effect_risks(pipeline: Pipeline, version: Version | None, *, times: str) -> list[str]:
    """Name what functions may do again outside of Kafka, if headgate.toml doesn't say.

    `times` says how often, such as "a second time". Effects that are declared as external are a
    risk of each plan that reprocesses records: see `with_statements`.
    """
    if pipeline.effects is None and version is not None and version.user_functions:
        return [EFFECTS_UNKNOWN(functions=name_list(version.user_functions), times=times)]
    return []


RECORDS_EXPIRE = Risk(
    "{topic} keeps records for {time}. Records that expire before they are read are lost"
)


def topic_risks(topics: Mapping[str, Topic], *, within: Set[str] = frozenset()) -> list[str]:
    """Name the retained input that is lost already, that may be lost, or is no longer whole.

    Of the topics in `within`, no record is wanted that is lost.
    """
    kept = [
        RECORDS_EXPIRE(topic=name, time=duration(topic.retention_ms))
        for name, topic in sorted(topics.items())
        if topic.retention_ms is not None and topic.retention_ms >= 0
        if name in within or not any(part.begin for part in topic.partitions)
    ]
    return [*lost_risks(topics, within=within), *kept]


RECORDS_GONE = Risk(
    "the first {offsets} of {topic} {are} past retention. The records can't be reprocessed, "
    "so results that need these records will differ from the earlier results",
    offsets="N offsets",
    are="are",
)
COMPACTED = Risk("{topic} is compacted: only the last record of each key is reprocessed")


def lost_risks(topics: Mapping[str, Topic], *, within: Set[str] = frozenset()) -> list[str]:
    """Name the retained input that is lost already, or is no longer whole; see `topic_risks`."""
    risks = []
    for name, topic in sorted(topics.items()):
        gone = 0 if name in within else sum(part.begin or 0 for part in topic.partitions)
        if gone:
            risks.append(
                RECORDS_GONE(
                    offsets=plural(gone, "offset"), topic=name, are="is" if gone == 1 else "are"
                )
            )
        if topic.cleanup_policy and "compact" in topic.cleanup_policy:
            risks.append(COMPACTED(topic=name))
    return risks


def unread_ranges(
    topics: Mapping[str, Topic], positions: Mapping[tuple[str, int], int]
) -> dict[str, dict[str, tuple[int, int]]]:
    """Return by topic and partition the offsets after the positions that Kafka still has."""
    return {
        name: {
            str(p.number): (at, max(at, p.end or 0))
            for p in topic.partitions
            for at in [max(positions.get((name, p.number), 0), p.begin or 0)]
        }
        for name, topic in sorted(topics.items())
    }


def unread_parts(
    topics: Mapping[str, Topic], positions: Mapping[tuple[str, int], int]
) -> dict[tuple[str, int], int]:
    """Return by partition how many offsets are after its position, of those that Kafka has."""
    ranges = unread_ranges(topics, positions).items()
    return {
        (name, int(part)): end - at for name, parts in ranges for part, (at, end) in parts.items()
    }


def batch_limits(version: Version | None) -> list[int]:
    """Return the `maxOffsetsPerTrigger` of the query's sources that have one."""
    options = [s.plain_options for s in (version.sources if version else None) or ()]
    found = [o.get("maxoffsetspertrigger", "") for o in options]
    return [int(text) for text in found if text.isascii() and text.isdecimal() and int(text)]


FIRST_BATCH_UNLIMITED = Risk(
    "at least one source of the query has no known `maxOffsetsPerTrigger`. Without this "
    "limit, the first batch contains all records to process{now}, and can exceed memory. Set "
    "this option in the query{more}",
    now=" (now N)",
    more="",
)


def first_batch_risks(version: Version | None, unread: int | None, more: str = "") -> list[str]:
    """Say that nothing limits the first batch of `unread` records; `more` is what else helps."""
    sources = [s for s in (version.sources if version else None) or () if s.format in _KAFKA]
    if unread == 0 or (sources and len(batch_limits(version)) >= len(sources)):
        return []
    now = "" if unread is None else f" (now {unread})"
    return [FIRST_BATCH_UNLIMITED(now=now, more=more)]


CATCHES_UP = Risk(
    "the query catches up in batches of `maxOffsetsPerTrigger` records. If the event times of "
    "one partition advance faster than those of the others, the watermark runs ahead, and "
    "Spark drops more records as late than in normal operation. To avoid this, raise "
    "`maxOffsetsPerTrigger` until the query has caught up"
)


def catch_up_risks(version: Version | None, unread: Mapping[tuple[str, int], int]) -> list[str]:
    """Say what can happen when a query that starts again reads many records at once.

    In its first batch no record is late. After that, the watermark follows the partition whose
    event times are the latest.
    """
    total = sum(unread.values())
    risks = first_batch_risks(version, total)
    limits = batch_limits(version)
    is_uneven = sum(map(bool, unread.values())) > 1
    drops = version is not None and version.watermarks and version.stateful
    if drops and limits and is_uneven and total > sum(limits):
        risks.append(CATCHES_UP())
    return risks


def records_again(
    topics: Mapping[str, Topic], positions: Mapping[tuple[str, int], int]
) -> dict[str, Any]:
    """Return how many records are reprocessed, from where: each log's begin to the position."""
    counts = dict.fromkeys(sorted(topics), 0)
    to_read = dict.fromkeys(sorted(topics), 0)
    for name, topic in topics.items():
        for part in topic.partitions:
            begin = part.begin or 0
            at = positions.get((name, part.number), begin)
            counts[name] += max(min(at, part.end if part.end is not None else at) - begin, 0)
            to_read[name] += max((part.end or begin) - begin, 0)
    return {
        "records": counts,
        "total": sum(counts.values()),
        "to_read": to_read,
        EARLIEST_OFFSETS: earliest_offsets(topics),
    }


def shared_checkpoint(pipeline: Pipeline, inspector: Inspector) -> list[str]:
    """Refuse where another registered pipeline has the same checkpoint: only one can be stopped."""
    if pipeline.checkpoint is None:
        return []
    place = inspector.checkpoints.place
    mine = place(pipeline.checkpoint)
    others = [
        p.name
        for p in inspector.processes.pipelines()
        if p.name != pipeline.name and p.checkpoint and place(p.checkpoint) == mine
    ]
    return [
        f"{name} and {pipeline.name} are registered with the same checkpoint {mine}: give each "
        "pipeline its own checkpoint, or remove one pipeline from headgate.toml"
        for name in others
    ]


def groups_without_cluster(steps: Iterable[Step], inspector: Inspector) -> list[str]:
    """Refuse steps that check or change a group where no cluster is configured: they would fail."""
    groups = sorted({g for step in steps if (g := getattr(step, "group", None)) is not None})
    if not groups or inspector.kafka.has_cluster():
        return []
    return [
        f"no Kafka cluster is configured, so Headgate can't check group {name_list(groups)}. Set "
        "`bootstrap_servers` under [kafka], or remove `group` of this pipeline from headgate.toml"
    ]


def uncreatable_topics(steps: Iterable[Step], inspector: Inspector) -> list[str]:
    """Return why Kafka would not create the topics of the steps, as far as it says so before."""
    new = [shape for step in steps for shape in step.creates]
    return list(inspector.kafka.uncreatable(new).values()) if new else []


def skipped_batches(version: Version | None, then: str) -> list[str]:
    """Refuse a new checkpoint over a sink that drops batch numbers whichever query writes them.

    `FileStreamSink.addBatch` compares with the newest batch number in its log and says nothing
    (Spark 3.5 to 4.2). `then` says what comes of it in this scenario, and the way out.
    """
    sink = version.sink if version else None
    if sink is None or sink.traits.batch_ids is not BatchIds.DROPS:
        return []
    log = "_spark_metadata" if sink.is_files else "timeline"
    return [
        f"{' '.join(filter(None, ('the', sink.traits.title, sink.place)))} skips batch numbers "
        f"that its {log} already has. {then}"
    ]


def must_be_stopped(pipeline: Pipeline, inspector: Inspector) -> list[str]:
    """Block a pipeline that has no stop command and isn't verified to be stopped."""
    if pipeline.commands.stop is not None:
        return []
    status = inspector.processes.status(pipeline.name)
    if status is Status.STOPPED:
        return []
    if pipeline.commands.status is None:
        return [
            f"{pipeline.name} has neither a stop command nor a status command, so Headgate can't "
            "verify that the pipeline is stopped. Register one of these commands; the stop "
            "command can be a manual step (docs/commands.md)"
        ]
    return [
        f"{pipeline.name} has no stop command, and its status is {status.word}. Stop the pipeline "
        "first, or register a stop command; the command can be a manual step (docs/commands.md)"
    ]


GROUP_RISKS = (
    STATIC_MEMBERS,
    OPEN_TRANSACTION,
)
LOST_RISKS = (
    RECORDS_GONE,
    COMPACTED,
)
TOPIC_RISKS = (
    *LOST_RISKS,
    RECORDS_EXPIRE,
)
CATCH_UP_RISKS = (
    FIRST_BATCH_UNLIMITED,
    CATCHES_UP,
)
