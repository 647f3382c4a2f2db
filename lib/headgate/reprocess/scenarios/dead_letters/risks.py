"""What can go wrong with a redrive, and what blocks it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from headgate.landscape.pipeline_topics import matcher, reads
from headgate.model.cluster import Topic
from headgate.model.dead_letters import Convention, Decision, Selection, Summary
from headgate.model.version import Engine
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.dead_letters.redrive import Redrive
from headgate.reprocess.scenarios.shared.processed_records import FIRST_RECORD_EXPIRES, expiry_risks
from headgate.text.numbers import duration, name_list, plural
from headgate.text.risk import Risk

# Dead letters younger than this suggest that their cause is not fixed.
_RECENT_MS = 3_600_000


def blockers_of(request: PlanRequest, found: Redrive) -> list[str]:
    """Return why nothing can be redriven."""
    chosen, counts, left = found.chosen, found.counts, found.left
    if chosen.to in left:
        return [f"topic {chosen.to} does not exist: correct --to, or create it with --create-topic"]
    if not counts:
        return [_nothing(chosen, found.summary, left)]
    allowed = request.inspector.dead_letters.may_write(counts)
    return [
        f"Kafka's ACLs don't allow Headgate to write to topic {name}. Grant the operation Write, "
        "or choose another topic with --to"
        for name, may in sorted(allowed.items())
        if may is False
    ]


def _nothing(chosen: Selection, summary: Summary, left: Mapping[str, str]) -> str:
    topic = chosen.topic
    if not summary.read:
        options = "--topic and --partitions" if chosen.partitions else "--topic"
        return f"{topic} has no records that can be read: nothing to redrive. Check {options}"
    selected = summary.read - summary.count(Decision.UNSELECTED)
    if not selected:
        more = ". To read all records for the plan, pass --count-all" if summary.is_sample else ""
        return (
            f"no record of {topic} is selected ({plural(summary.read, 'record')} read): change "
            f"--exception, --source-topic, --partitions, --from or --until{more}"
        )
    if summary.count(Decision.NO_TARGET) or left:
        why = "; ".join(f"{name}: {reason}" for name, reason in sorted(left.items()))
        said = why or "no header says where the records failed"
        return (
            f"no record of {topic} can be redriven to the topic where it failed ({said}): choose a "
            "topic with --to"
        )
    already, guarded = summary.count(Decision.ALREADY), summary.count(Decision.GUARDED)
    done = f"already redriven by an earlier run: {plural(already, 'record')} of {topic}"
    stuck = f"redriven {chosen.max_attempts} times without success: {plural(guarded, 'record')}"
    if not guarded:
        return f"{done}. Pass --again to redrive them once more"
    said = f"{stuck} of {topic}"
    if already:
        said = f"{done} (pass --again to redrive them). Other records: {stuck}"
    return f"{said}. Fix the cause, then raise --max-attempts"


def risks_of(request: PlanRequest, found: Redrive) -> Iterator[str]:
    """Name what the run doesn't redrive, what comes twice, and what may be lost."""
    chosen, summary = found.chosen, found.summary
    yield from _sample_risks(chosen, summary)
    yield from _left_risks(chosen, summary, found.left)
    yield from _cause_risks(found.topic, summary)
    yield from _reader_risks(request, found.targets)
    yield from _input_risks(request, found)
    yield from _target_risks(found)
    count = sum(found.scaled.values())
    yield from expiry_risks(found.topic, summary.oldest, count, found.rate)
    yield from _pipeline_risks(request)


COUNTED_IN_SAMPLE = Risk(
    "counts come from a sample of {read} records: the earliest and latest of each selected "
    "partition of {topic}. These partitions have up to {offsets} records. Use --count-all for "
    "exact counts",
    read="N",
    offsets="N",
)


def _sample_risks(chosen: Selection, summary: Summary) -> Iterator[str]:
    if summary.is_sample:
        yield COUNTED_IN_SAMPLE(read=summary.read, topic=chosen.topic, offsets=summary.offsets)


ATTEMPTS_USED_UP = Risk(
    "{records} reached the limit of {attempts} attempts (--max-attempts) without success and "
    "will not be redriven. Fix the cause before you raise the limit",
    records="N records",
    attempts="N",
)
NO_SOURCE_TOPIC = Risk(
    "{records} will not be redriven: no header has the source topic. After this run, plan "
    "again and choose a topic for the remaining records with --to",
    records="N records",
)
NOT_REDRIVEN = Risk(
    "{records} that failed in {topic} will not be redriven: {reason}. After this run, plan "
    "again and choose a topic for the remaining records with --to",
    records="N records",
)
NO_HEADERS = Risk(
    "Headgate found no known dead letter header in {records}. If the consumer drops "
    "Headgate's headers when such a record fails again, --max-attempts can't limit how often "
    "the record is redriven",
    records="N records",
)


def _left_risks(chosen: Selection, summary: Summary, left: Mapping[str, str]) -> Iterator[str]:
    if guarded := summary.count(Decision.GUARDED):
        yield ATTEMPTS_USED_UP(records=plural(guarded, "record"), attempts=chosen.max_attempts)
    if unknown := summary.count(Decision.NO_TARGET):
        yield NO_SOURCE_TOPIC(records=plural(unknown, "record"))
    # A topic of --to that is left blocks the plan: no record failed in it.
    for name, why in sorted(left.items()) if chosen.to is None else ():
        yield NOT_REDRIVEN(
            records=plural(summary.targets.get(name, 0), "record"), topic=name, reason=why
        )
    if without := summary.conventions.get(Convention.NONE):
        yield NO_HEADERS(records=plural(without, "record"))


STILL_FAILING = Risk(
    "{records} arrived in {topic} while Headgate read the topic, so records still fail. Check "
    "that the cause is fixed",
    records="N records",
)
RECENT_FAILURE = Risk(
    "the newest dead letter is from {age} ago. Check that the cause is fixed: otherwise "
    "redriven records fail again"
)


def _cause_risks(topic: Topic, summary: Summary) -> Iterator[str]:
    if summary.arrived:
        yield STILL_FAILING(records=plural(summary.arrived, "record"), topic=topic.name)
    elif summary.newest is not None:
        age = int(time.time() * 1000) - summary.newest
        if 0 <= age < _RECENT_MS:
            yield RECENT_FAILURE(age=duration(max(age, 1000)))


NEW_TOPIC_READ = Risk(
    "the run creates {topic}, and {pipeline} processes the redriven records only if it reads "
    "{topic}. Add {topic} to the input of {pipeline}"
)
TARGET_NOT_READ = Risk(
    "{pipeline} doesn't read {topic}, so it doesn't process the redriven records. Use --to to "
    "choose a topic that {pipeline} reads"
)
TARGET_MAYBE_READ = Risk(
    "Headgate doesn't know whether {pipeline} reads {topic}. If not, {pipeline} doesn't "
    "process the redriven records: check its input"
)


def _input_risks(request: PlanRequest, found: Redrive) -> Iterator[str]:
    """Say where the pipeline doesn't read a target, or may not; a group's offsets show it."""
    pipeline, version = request.pipeline, request.version
    inputs = set(pipeline.topics)
    if version is not None:
        inputs |= {join.topic for join in reads(version, matcher(found.partitions))}
    if found.new and found.new.name not in inputs:
        yield NEW_TOPIC_READ(topic=found.new.name, pipeline=pipeline.name)
    if pipeline.engine is not Engine.SPARK:
        return
    sources = (version.sources if version else None) or ()
    # Patterns are Java's, so one that seems to match nothing may match.
    is_known = bool(inputs) or any(s.topics for s in sources)
    is_known &= not any(s.pattern for s in sources)
    for name in sorted(found.targets.keys() - inputs):
        if is_known:
            yield TARGET_NOT_READ(pipeline=pipeline.name, topic=name)
        elif found.chosen.to is not None:
            yield TARGET_MAYBE_READ(pipeline=pipeline.name, topic=name)


OTHER_CONSUMERS = Risk(
    "{topic} is also read by {groups}: these consumers may have already processed the "
    "redriven records. Use idempotent consumers, or a retry topic with --to"
)
GROUP_DOES_NOT_READ = Risk(
    "group {group} doesn't read {topic}, so {pipeline} doesn't process the redriven records. "
    "Use --to to choose a topic that the group reads"
)


def _reader_risks(request: PlanRequest, targets: Mapping[str, Topic]) -> Iterator[str]:
    own = request.pipeline.group
    readers = request.inspector.kafka.topic_consumers(targets) if targets else {}
    for name, groups in sorted(readers.items()):
        if others := sorted(g for g in groups if g != own):
            yield OTHER_CONSUMERS(topic=name, groups=name_list(others))
        if own and targets and own not in groups:
            yield GROUP_DOES_NOT_READ(group=own, topic=name, pipeline=request.pipeline.name)


REPLACES_NEWER = Risk(
    "{topic} is compacted: a redriven record replaces a newer value of its key. To keep the "
    "newer value, use --to to choose another topic"
)
RETRY_TOPIC_KEEPS = Risk(
    "{topic} is created with retention.ms=-1, because redriven records keep their timestamps. "
    "The topic keeps all records until you set retention.ms or delete the topic"
)
OUT_OF_ORDER = Risk(
    "redriven records come after newer records of the same key. Consumers that keep the last "
    "value of a key may overwrite a newer value"
)


def _target_risks(found: Redrive) -> Iterator[str]:
    for name, topic in sorted(found.targets.items()):
        yield from _expiry_risks(name, topic, found.summary.written.get(name))
        if topic.cleanup_policy and "compact" in topic.cleanup_policy:
            yield REPLACES_NEWER(topic=name)
    if found.new:
        yield RETRY_TOPIC_KEEPS(topic=found.new.name)
    if found.chosen.to is None:
        yield OUT_OF_ORDER()


EXPIRES_AT_ONCE = Risk(
    "the oldest redriven record is from {age} ago, and {topic} keeps records for {time}. "
    "Kafka may delete this and other old records before a consumer reads them, and they then "
    "count as redriven: raise retention.ms of {topic} first, or choose a retry topic with "
    "--to"
)
MAY_EXPIRE = Risk(
    "the redriven records keep their timestamps. {topic} keeps records for {time}, so old "
    "redriven records may expire before a consumer reads them"
)


def _expiry_risks(name: str, target: Topic, oldest: int | None) -> Iterator[str]:
    keep = target.retention_ms
    # With LogAppendTime, the broker replaces the timestamps.
    if keep is None or keep < 0 or target.timestamp_type == "LogAppendTime":
        return
    age = 0 if oldest is None else int(time.time() * 1000) - oldest
    if age > keep:
        yield EXPIRES_AT_ONCE(age=duration(age), topic=name, time=duration(keep))
    else:
        yield MAY_EXPIRE(topic=name, time=duration(keep))


PIPELINE_STOPPED = Risk("{pipeline} is stopped: the redriven records wait until {pipeline} starts")
EVENT_TIME_KEPT = Risk(
    "the redriven records keep their event time. Queries with a watermark drop records that "
    "are older than the watermark"
)
TIMESTAMPS_KEPT = Risk(
    "the redriven records keep their timestamps. Windows drop records that arrive after the "
    "grace period"
)


def _pipeline_risks(request: PlanRequest) -> Iterator[str]:
    pipeline, engine = request.pipeline.name, request.pipeline.engine
    has_status = request.pipeline.commands.status is not None
    if has_status and request.inspector.processes.status(pipeline) is Status.STOPPED:
        yield PIPELINE_STOPPED(pipeline=pipeline)
    if engine is Engine.SPARK:
        yield EVENT_TIME_KEPT()
    elif engine is Engine.KAFKA_STREAMS:
        yield TIMESTAMPS_KEPT()


RISKS = (
    COUNTED_IN_SAMPLE,
    ATTEMPTS_USED_UP,
    NO_SOURCE_TOPIC,
    NOT_REDRIVEN,
    NO_HEADERS,
    STILL_FAILING,
    RECENT_FAILURE,
    NEW_TOPIC_READ,
    TARGET_NOT_READ,
    TARGET_MAYBE_READ,
    OTHER_CONSUMERS,
    GROUP_DOES_NOT_READ,
    REPLACES_NEWER,
    RETRY_TOPIC_KEEPS,
    OUT_OF_ORDER,
    EXPIRES_AT_ONCE,
    MAY_EXPIRE,
    PIPELINE_STOPPED,
    EVENT_TIME_KEPT,
    TIMESTAMPS_KEPT,
    FIRST_RECORD_EXPIRES,
)
