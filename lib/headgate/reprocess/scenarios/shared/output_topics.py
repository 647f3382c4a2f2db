"""A pipeline's outputs when it starts from scratch: kept, emptied, or replaced by new ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any
from urllib.parse import unquote, urlparse

from headgate.model.cluster import Topic
from headgate.model.kafka_streams import StreamsApplication
from headgate.model.sinks import BatchIds
from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import Kind, Option, PlanRequest
from headgate.reprocess.scenarios.shared.common import CONSUMERS_GET_DUPLICATES
from headgate.reprocess.steps.base.step import OUTPUT_FOLDER, Step
from headgate.reprocess.steps.checkpoint.move_to_backup import MoveToBackup
from headgate.reprocess.steps.process.stop_start import ManualStep, StartPipeline, StopPipeline
from headgate.reprocess.steps.process.verify_output import VerifyOutput
from headgate.reprocess.steps.records.back_up_records import BackUpRecords, sizes_of
from headgate.reprocess.steps.topics.delete_records import DeleteRecords
from headgate.reprocess.steps.topics.delete_topics import CreateTopics, topic_shapes
from headgate.text.numbers import name_list
from headgate.text.risk import Risk

_ENGINES = frozenset(Engine)


class How(StrEnum):
    """What becomes of the outputs."""

    KEEP = "keep"
    EMPTY = "empty"
    NEW = "new"


OPTIONS = (
    Option(
        name="outputs",
        ask="Existing outputs",
        help="Existing outputs: keep them and write to them (keep, the default), empty them first "
        "(empty), or keep them and write to new topics or a new folder (new).",
        kind=Kind.CHOICE,
        choices=tuple(how.value for how in How),
        engines=_ENGINES,
    ),
    Option(
        name="output-topics",
        ask="Output topics",
        help="Names of the output topics. Needed only if no stored version shows them.",
        kind=Kind.MANY,
        metavar="TOPIC,...",
        engines=_ENGINES,
        after=("outputs",),
    ),
    Option(
        name="back-up-outputs",
        ask="Back up the records of the output topics",
        help="Copy the records of the output topics to backup topics before the run deletes them; "
        "an undo restores them.",
        kind=Kind.FLAG,
        engines=_ENGINES,
        after=("outputs",),
    ),
    Option(
        name="new-suffix",
        ask="Suffix of new output topics",
        help="Suffix of the names of new output topics (default -new).",
        metavar="TEXT",
        engines=_ENGINES,
        after=("outputs",),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """What a pipeline writes: topics that exist, others that don't, and a folder of files."""

    topics: Mapping[str, Topic]
    missing: tuple[str, ...] = ()
    folder: str | None = None


def with_outputs(request: PlanRequest, plan: Plan) -> Plan:
    """Return the plan of a start from scratch with the steps that the outputs need."""
    how = How(request.options.get("outputs", How.KEEP))
    if not plan.steps:
        return plan
    found = _outputs(request)
    readers = tuple(_reader_risks(request, found, how))
    if how is How.KEEP:
        return replace(plan, risks=(*plan.risks, *readers))
    shapes = topic_shapes(request.inspector.kafka.shapes(found.topics))
    steps = _emptying(request, plan, found, shapes) if how is How.EMPTY else _new(request, shapes)
    blockers = tuple(_blockers(request, plan, found, how))
    facts: dict[str, Any] = {"outputs": {name: shape["id"] for name, shape in shapes.items()}}
    if shapes:
        # A query that reads files has not recorded it, but an undo changes topics of this cluster.
        facts["cluster_id"] = request.inspector.kafka.cluster_id()
    return replace(
        plan,
        steps=_placed(request, plan, steps, found, how),
        preconditions={**plan.preconditions, **facts},
        impact={**plan.impact, "outputs": {n: t.records for n, t in found.topics.items()}},
        risks=(*plan.risks, *readers, *_loss_risks(request, found, how)),
        blockers=(*plan.blockers, *blockers),
        resources=(*plan.resources, *(f"topic:{name}" for name in sorted(found.topics))),
    )


def _outputs(request: PlanRequest) -> Outputs:
    names, sink = (
        _given(request) or _told(request),
        request.version.sink if request.version else None,
    )
    topics = (
        request.inspector.kafka.topics(names)
        if names and request.inspector.kafka.has_cluster()
        else {}
    )
    files = sink if sink is not None and sink.is_files else None
    folder = (files.target or files.options.get("path")) if files else None
    return Outputs(topics=topics, missing=tuple(sorted(names - topics.keys())), folder=folder)


def _given(request: PlanRequest) -> set[str]:
    given = [
        n.strip() for text in request.options.get("output-topics", ()) for n in text.split(",")
    ]
    return {name for name in given if name}


def _told(request: PlanRequest) -> set[str]:
    """Return the topics that the stored version writes."""
    version = request.version
    if version is not None and version.sink is not None and version.sink.format == "kafka":
        return {version.sink.place} if version.sink.place else set()
    return _written(version.streams) if version is not None and version.streams else set()


def _foreign(request: PlanRequest) -> set[str]:
    """Return the topics that were given and that the stored version doesn't write.

    None of them if records name their topics, or the version doesn't list all.
    """
    told, version = _told(request), request.version
    streams = version.streams if version else None
    if not told or (streams and any(s.extractor is not None for s in streams.sinks)):
        return set()
    return _given(request) - told


def _written(application: StreamsApplication) -> set[str]:
    """Return what an application writes for others: no topic of its own that it reads itself."""
    inside = {r.name for r in application.repartitions} | {
        r.topic for r in application.repartitions
    }
    read = {topic for source in application.sources for topic in source.topics}
    return {sink.topic for sink in application.sinks if sink.topic} - read - inside


def _emptying(
    request: PlanRequest, plan: Plan, found: Outputs, shapes: dict[str, dict[str, Any]]
) -> list[Step]:
    pipeline, backed_up = request.pipeline.name, "back-up-outputs" in request.options
    steps: list[Step] = []
    if shapes and backed_up:
        sizes = sizes_of(request.inspector, found.topics)
        steps.append(BackUpRecords(topics=shapes, pipeline=pipeline, sizes=sizes))
    if shapes:
        group = request.pipeline.group
        steps.append(
            DeleteRecords(topics=shapes, pipeline=pipeline, group=group, backed_up=backed_up)
        )
    if found.folder:
        location = plan.preconditions.get("checkpoint", {}).get("location")
        steps.append(
            MoveToBackup(
                pipeline=pipeline,
                folder=local(found.folder) or found.folder,
                what=OUTPUT_FOLDER,
                checkpoint=location,
            )
        )
    return steps


def _new(request: PlanRequest, shapes: dict[str, dict[str, Any]]) -> list[Step]:
    topics = {new: {**shapes[old], "id": ""} for old, new in _renamed(request, shapes).items()}
    return [CreateTopics(topics=topics, pipeline=request.pipeline.name)] if topics else []


def _renamed(request: PlanRequest, names: Mapping[str, Any]) -> dict[str, str]:
    suffix = request.options.get("new-suffix", "-new")
    return {name: f"{name}{suffix}" for name in names}


def _placed(
    request: PlanRequest, plan: Plan, steps: list[Step], found: Outputs, how: How
) -> tuple[Step, ...]:
    """Put the steps before the start; whoever writes to new outputs is started by a person."""
    before = [s for s in plan.steps if not isinstance(s, StartPipeline | ManualStep)]
    start = [s for s in plan.steps if isinstance(s, StartPipeline | ManualStep)]
    stop = next((s for s in before if isinstance(s, StopPipeline)), None)
    if how is How.NEW and stop is not None:
        ask = _ask(request, stop, found, fresh=any(s.fresh for s in start))
        return (*before, *steps, ask, *_look(request, stop, found))
    return (*before, *steps, *start)


def _look(request: PlanRequest, stop: StopPipeline, found: Outputs) -> list[VerifyOutput]:
    """Return the step that sees that a query no longer writes to its old outputs."""
    if request.pipeline.engine is not Engine.SPARK or stop.checkpoint is None:
        return []
    step = VerifyOutput(
        pipeline=stop.pipeline,
        checkpoint=stop.checkpoint,
        new=tuple(_renamed(request, found.topics).values()),
        old=(*found.topics, *([found.folder] if found.folder else [])),
    )
    return [step]


def _ask(request: PlanRequest, stop: StopPipeline, found: Outputs, *, fresh: bool) -> ManualStep:
    pairs = [f"{new} in place of {old}" for old, new in _renamed(request, found.topics).items()]
    location = name_list(pairs)
    if not pairs:
        location = f"a folder other than {found.folder}" if found.folder else "new outputs"
    return ManualStep(
        pipeline=stop.pipeline,
        request=f"configure {stop.pipeline} to write to {location}, and start it",
        waits=stop.command is not None,
        reenable_first=False,
        stop=stop.command,
        has_status=stop.has_status,
        checkpoint=stop.checkpoint,
        group=stop.group,
        fresh=fresh,
        suspend=stop.suspend,
        reenable=stop.reenable,
    )


def _blockers(request: PlanRequest, plan: Plan, found: Outputs, how: How) -> Iterator[str]:
    if not (found.topics or found.missing or found.folder):
        yield _unknown(request)
    for name in sorted(_foreign(request)):
        yield (
            f"--output-topics: {request.pipeline.name} doesn't write to {name}. The stored version "
            f"writes to {name_list(_told(request))}. Correct the name, or capture the "
            "current version"
        )
    for name in found.missing:
        yield f"the output topic {name} does not exist. Check its name"
    for name in sorted(found.topics.keys() & plan.preconditions.get("topics", {}).keys()):
        yield (
            f"{name} is both an input and an output of {request.pipeline.name}, so its records "
            "can't be deleted or replaced. Use --outputs=keep"
        )
    for name, topic in sorted(found.topics.items()):
        if how is How.EMPTY and topic.cleanup_policy == "compact":
            yield (
                f"{name} has cleanup.policy=compact, and Kafka can't delete the records of such a "
                "topic. Use --outputs=keep or --outputs=new"
            )
    if how is How.NEW:
        names = _renamed(request, found.topics).values()
        yield from (
            f"topic {n} already exists: choose another --new-suffix"
            for n in request.inspector.kafka.shapes(names)
        )
    if how is How.EMPTY and found.folder and local(found.folder) is None:
        yield (
            f"{found.folder} isn't on a local file system, so Headgate can't move it to backup in "
            "one step. Use --outputs=new"
        )


def _unknown(request: PlanRequest) -> str:
    """Say why no output is known; of a table, a run can neither empty nor replace the rows."""
    name, sink = request.pipeline.name, request.version.sink if request.version else None
    if sink is not None and sink.format not in (None, "kafka") and not sink.traits.calls_function:
        way = "--outputs=keep"
        if sink.traits.batch_ids is BatchIds.DROPS:
            way = "from-point with --to-earliest --new-output --output-path FOLDER"
        return (
            f"{name} writes to sink {sink.format}, but --outputs=empty and --outputs=new are only "
            f"for Kafka topics and the folder of a file sink. Use {way}"
        )
    return (
        f"the outputs of {name} are unknown: pass its output topics with --output-topics, or "
        "capture a version with its sink"
    )


CONSUMERS_OF_EMPTIED = Risk(
    "the run empties {topic} and rebuilds it. Its consumers {consumers} lose the old records "
    "that they haven't read, and get all rebuilt results"
)
CONSUMERS_MUST_SWITCH = Risk(
    "{topic} is read by {consumers}: these consumers get no new records until they switch to "
    "the new topic"
)


def _reader_risks(request: PlanRequest, found: Outputs, how: How) -> Iterator[str]:
    if not found.topics:
        return
    for name, groups in sorted(request.inspector.kafka.topic_consumers(found.topics).items()):
        readers = sorted(g for g in groups if g != request.pipeline.group)
        if readers and how is How.KEEP:
            yield CONSUMERS_GET_DUPLICATES(topic=name, consumers=name_list(readers))
        elif readers and how is How.EMPTY:
            yield CONSUMERS_OF_EMPTIED(topic=name, consumers=name_list(readers))
        elif readers:
            yield CONSUMERS_MUST_SWITCH(topic=name, consumers=name_list(readers))


NEW_TOPICS_KEPT = Risk("the new topics and their records are kept after an undo")
ALL_RECORDS_DELETED = Risk(
    "all records in {topics} are deleted, including records from producers other than {pipeline}"
)
NO_BACKUP = Risk(
    "the records of {topics} are permanently lost: they have no backup{option}",
    option=". To copy them first, pass --back-up-outputs",
)
RESTORED_BY_UNDO = Risk(
    "an undo deletes the new records of {topics}. It restores the old records from backup "
    "topics (prefix headgate-backup- and the run id), with new offsets. Keep these backup "
    "topics as long as you may need the undo"
)
FILES_MOVED = Risk(
    "the old files of {folder} move to a backup folder next to it. An undo restores them, as "
    "long as Headgate keeps the backup (`keep_snapshots` under [runs] in headgate.toml)"
)


def _loss_risks(request: PlanRequest, found: Outputs, how: How) -> Iterator[str]:
    if how is not How.EMPTY:
        if found.topics:
            yield NEW_TOPICS_KEPT()
        return
    names = name_list(found.topics)
    if found.topics:
        yield ALL_RECORDS_DELETED(topics=names, pipeline=request.pipeline.name)
    if found.topics and "back-up-outputs" not in request.options:
        # Once partitions were added no undo would bring back what is backed up: it is not asked.
        option = "" if request.scenario == "repartition" else None
        yield NO_BACKUP(topics=names, option=option)
    elif found.topics:
        yield RESTORED_BY_UNDO(topics=names)
    if found.folder:
        yield FILES_MOVED(folder=found.folder)


def local(folder: str) -> str | None:
    """Return the folder's path where it is on a local file system, else None."""
    if folder.startswith("/"):
        return folder
    parts = urlparse(folder)
    return unquote(parts.path) if parts.scheme == "file" and parts.path else None


RISKS = (
    CONSUMERS_GET_DUPLICATES,
    CONSUMERS_OF_EMPTIED,
    CONSUMERS_MUST_SWITCH,
    NEW_TOPICS_KEPT,
    ALL_RECORDS_DELETED,
    NO_BACKUP,
    RESTORED_BY_UNDO,
    FILES_MOVED,
)
