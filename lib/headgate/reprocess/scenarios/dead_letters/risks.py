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
from headgate.reprocess.scenarios.shared.processed_records import expiry_risks
from headgate.text.numbers import duration, name_list, plural

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


def _sample_risks(chosen: Selection, summary: Summary) -> Iterator[str]:
    if summary.is_sample:
        yield (
            f"counts come from a sample of {summary.read} records: the earliest and latest of each "
            f"selected partition of {chosen.topic}. These partitions have up to {summary.offsets} "
            "records. Use --count-all for exact counts"
        )


def _left_risks(chosen: Selection, summary: Summary, left: Mapping[str, str]) -> Iterator[str]:
    if guarded := summary.count(Decision.GUARDED):
        yield (
            f"{plural(guarded, 'record')} reached the limit of {chosen.max_attempts} attempts "
            "(--max-attempts) without success and will not be redriven. Fix the cause before you "
            "raise the limit"
        )
    if unknown := summary.count(Decision.NO_TARGET):
        yield (
            f"{plural(unknown, 'record')} will not be redriven: no header has the source topic. "
            "After this run, plan again and choose a topic for the remaining records with --to"
        )
    # A topic of --to that is left blocks the plan: no record failed in it.
    for name, why in sorted(left.items()) if chosen.to is None else ():
        yield (
            f"{plural(summary.targets.get(name, 0), 'record')} that failed in {name} will not be "
            f"redriven: {why}. After this run, plan again and choose a topic for the remaining "
            "records with --to"
        )
    if without := summary.conventions.get(Convention.NONE):
        yield (
            f"Headgate found no known dead letter header in {plural(without, 'record')}. If the "
            "consumer drops Headgate's headers when such a record fails again, --max-attempts "
            "can't limit how often the record is redriven"
        )


def _cause_risks(topic: Topic, summary: Summary) -> Iterator[str]:
    if summary.arrived:
        yield (
            f"{plural(summary.arrived, 'record')} arrived in {topic.name} while Headgate read "
            "the topic, so records still fail. Check that the cause is fixed"
        )
    elif summary.newest is not None:
        age = int(time.time() * 1000) - summary.newest
        if 0 <= age < _RECENT_MS:
            yield (
                f"the newest dead letter is from {duration(max(age, 1000))} ago. Check that the "
                "cause is fixed: otherwise redriven records fail again"
            )


def _input_risks(request: PlanRequest, found: Redrive) -> Iterator[str]:
    """Say where the pipeline doesn't read a target, or may not; a group's offsets show it."""
    pipeline, version = request.pipeline, request.version
    inputs = set(pipeline.topics)
    if version is not None:
        inputs |= {join.topic for join in reads(version, matcher(found.partitions))}
    if found.new and found.new.name not in inputs:
        yield (
            f"the run creates {found.new.name}, and {pipeline.name} processes the redriven records "
            f"only if it reads {found.new.name}. Add {found.new.name} to the input of "
            f"{pipeline.name}"
        )
    if pipeline.engine is not Engine.SPARK:
        return
    sources = (version.sources if version else None) or ()
    # Patterns are Java's, so one that seems to match nothing may match.
    is_known = bool(inputs) or any(s.topics for s in sources)
    is_known &= not any(s.pattern for s in sources)
    for name in sorted(found.targets.keys() - inputs):
        if is_known:
            yield (
                f"{pipeline.name} doesn't read {name}, so it doesn't process the redriven records. "
                f"Use --to to choose a topic that {pipeline.name} reads"
            )
        elif found.chosen.to is not None:
            yield (
                f"Headgate doesn't know whether {pipeline.name} reads {name}. If not, "
                f"{pipeline.name} doesn't process the redriven records: check its input"
            )


def _reader_risks(request: PlanRequest, targets: Mapping[str, Topic]) -> Iterator[str]:
    own = request.pipeline.group
    readers = request.inspector.kafka.topic_consumers(targets) if targets else {}
    for name, groups in sorted(readers.items()):
        if others := sorted(g for g in groups if g != own):
            yield (
                f"{name} is also read by {name_list(others)}: these consumers may have already "
                "processed the redriven records. Use idempotent consumers, or a retry topic with "
                "--to"
            )
        if own and targets and own not in groups:
            yield (
                f"group {own} doesn't read {name}, so {request.pipeline.name} doesn't process "
                "the redriven records. Use --to to choose a topic that the group reads"
            )


def _target_risks(found: Redrive) -> Iterator[str]:
    for name, topic in sorted(found.targets.items()):
        yield from _expiry_risks(name, topic, found.summary.written.get(name))
        if topic.cleanup_policy and "compact" in topic.cleanup_policy:
            yield (
                f"{name} is compacted: a redriven record replaces a newer value of its key. "
                "To keep the newer value, use --to to choose another topic"
            )
    if found.new:
        yield (
            f"{found.new.name} is created with retention.ms=-1, because redriven records keep "
            "their timestamps. The topic keeps all records until you set retention.ms or delete "
            "the topic"
        )
    if found.chosen.to is None:
        yield (
            "redriven records come after newer records of the same key. Consumers that keep the "
            "last value of a key may overwrite a newer value"
        )


def _expiry_risks(name: str, target: Topic, oldest: int | None) -> Iterator[str]:
    keep = target.retention_ms
    # With LogAppendTime, the broker replaces the timestamps.
    if keep is None or keep < 0 or target.timestamp_type == "LogAppendTime":
        return
    age = 0 if oldest is None else int(time.time() * 1000) - oldest
    if age > keep:
        yield (
            f"the oldest redriven record is from {duration(age)} ago, and {name} keeps records "
            f"for {duration(keep)}. Kafka may delete this and other old records before a consumer "
            "reads them, and they then count as redriven: raise retention.ms of "
            f"{name} first, or choose a retry topic with --to"
        )
    else:
        yield (
            f"the redriven records keep their timestamps. {name} keeps records for "
            f"{duration(keep)}, so old redriven records may expire before a consumer reads them"
        )


def _pipeline_risks(request: PlanRequest) -> Iterator[str]:
    pipeline, engine = request.pipeline.name, request.pipeline.engine
    has_status = request.pipeline.commands.status is not None
    if has_status and request.inspector.processes.status(pipeline) is Status.STOPPED:
        yield f"{pipeline} is stopped: the redriven records wait until {pipeline} starts"
    if engine is Engine.SPARK:
        yield (
            "the redriven records keep their event time. Queries with a watermark drop records "
            "that are older than the watermark"
        )
    elif engine is Engine.KAFKA_STREAMS:
        yield (
            "the redriven records keep their timestamps. Windows drop records that arrive after "
            "the grace period"
        )
