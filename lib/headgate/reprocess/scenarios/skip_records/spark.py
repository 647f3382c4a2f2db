"""Skip for a Spark query: its batch ends before the record, the next batch starts after it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from headgate.errors import RefusedError
from headgate.reprocess.checkpoint.files import CheckpointFiles
from headgate.reprocess.checkpoint.offset_cut import (
    end_in,
    readers_of,
    unreadable_sources,
    with_end,
)
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.ports.record_backup import Span
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.skip_records.consumer_group import SKIPPED, SKIPPED_STAY
from headgate.reprocess.scenarios.skip_records.offset_range import outside_log, read_span
from headgate.reprocess.scenarios.skip_records.sink import SINK_RISKS, SkipSink, check_sink
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.checkpoint.cut_batch import CutCopy, SwapCutCheckpoint, entry_edit
from headgate.reprocess.steps.checkpoint.finish_batch import FinishBatch
from headgate.reprocess.steps.offsets.skip_records import outside
from headgate.reprocess.steps.process.stop_start import StopPipeline, start_or_ask
from headgate.reprocess.steps.records.back_up_records import BackUpRecords
from headgate.reprocess.steps.topics.delete_topics import topic_shapes
from headgate.text.numbers import as_records, offset_range, plural
from headgate.text.risk import Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """Where the query is: `done` is its last batch, `begun` the uncommitted one after it, if any.

    `at` is where the partition is after `done`, `to` where it is after `begun`. `texts` are both
    entries of the offset log, by batch.
    """

    span: Span
    done: int
    begun: int | None
    at: int
    to: int | None
    texts: dict[int, str]

    @property
    def part(self) -> int | None:
        """The batch that must be done up to the range first, None where it begins in the range."""
        return self.begun if self.at < self.span.begin else None

    def entry(self, batch: int, end: int) -> str:
        """Return an entry of the offset log with another end of the partition."""
        return with_end(self.texts[batch], self.span.topic, self.span.partition, end)


def build(request: PlanRequest) -> Plan:
    """Return the plan: stop, back up the range, process what is before it, skip it, start."""
    pipeline, inspector = request.pipeline, request.inspector
    span = read_span(request.options["records"])
    if not pipeline.checkpoint:
        return request.block(common.no_checkpoint(pipeline))
    at = inspector.checkpoints.read(pipeline.checkpoint)
    files = inspector.checkpoints.files(pipeline.checkpoint)
    if at is None or files is None:
        return request.block(common.no_checkpoint(pipeline))
    if not inspector.kafka.has_cluster():
        return request.block(
            "no Kafka cluster is configured: the records can't be backed up. Set "
            "`bootstrap_servers` under [kafka]"
        )
    topics = inspector.kafka.topics([span.topic])
    missing = [
        *common.topic_blockers({span.topic}, topics),
        *outside_log(span, topics.get(span.topic)),
    ]
    if missing:
        return request.block(*missing)
    try:
        cut = _cut(span, files)
    except RefusedError as error:
        return request.block(str(error))
    sink = check_sink(request, cut.done, cut.part)
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=_steps(request, at, cut, files.digest, sink),
        preconditions={
            "cluster_id": inspector.kafka.cluster_id(),
            **common.input_facts(inspector, {*at.offsets, span.topic}),
            "checkpoint": {
                "location": at.location,
                "query_id": at.query_id,
                "logs": files.digest,
            },
            "commands": common.command_facts(pipeline),
        },
        impact={
            "records": {span.topic: 0},
            "total": 0,
            "skipped": {span.topic: max(span.end - max(cut.at, span.begin), 0)},
            "snapshot": asdict(inspector.checkpoints.snapshot_size(at.location)),
        },
        risks=(*_risks(request, cut), *sink.risks),
        blockers=(*_blockers(request, at, cut), *sink.blockers),
        options=dict(request.options),
        resources=(f"checkpoint:{at.location}", *sink.resources),
    )


def _cut(span: Span, files: CheckpointFiles) -> _Cut:
    """Read where the query is; RefusedError if the range can't be skipped from there."""
    done, newest = files.last_commit, max(files.logged, default=None)
    if done is None or newest is None:
        raise RefusedError(
            "the query has not completed its first batch, so it has no state yet. Use from-point "
            "to start a new checkpoint after the record"
        )
    if newest not in (done, done + 1):
        raise RefusedError(
            f"the offset log ends at batch {newest}, and the commit log at batch "
            f"{done}: run `headgate plan repair` first"
        )
    ends = {batch: _end(span, files, batch) for batch in range(done, newest + 1)}
    texts = {batch: files.files[f"offsets/{batch}"].decode() for batch in ends}
    cut = _Cut(
        span=span,
        done=done,
        begun=newest if newest > done else None,
        at=ends[done],
        to=ends.get(done + 1),
        texts=texts,
    )
    if reason := _reason(cut):
        raise RefusedError(f"{span.topic}[{span.partition}]: {reason}")
    return cut


def _end(span: Span, files: CheckpointFiles, batch: int) -> int:
    log = files.offsets(batch)
    if log is None:
        raise RefusedError(f"offsets/{batch} can't be read: run `headgate plan repair` first")
    if others := unreadable_sources(log):
        raise RefusedError(
            f"the query has {plural(others, 'source')} other than Kafka, or with an unknown "
            "offset format. Headgate can't keep the positions of these sources when it changes "
            "the batch. Change the query's code to filter the record instead"
        )
    location = f"{span.topic}[{span.partition}]"
    if (readers := readers_of(log, span.topic, span.partition)) > 1:
        raise RefusedError(
            f"{readers} of the query's sources read {location}: Headgate can't distinguish their "
            "offsets. Change the query's code to filter the record instead"
        )
    end = end_in(log, span.topic, span.partition)
    if end is None:
        raise RefusedError(
            f"the offset log of batch {batch} has no offset for {location}, so Headgate can't "
            "verify that the query has reached the record. Check the topic and the partition"
        )
    return end


def _reason(cut: _Cut) -> str | None:
    """Say why the query can't skip the range from where it is."""
    span = cut.span
    if cut.to is not None and cut.at < span.begin:
        if span.begin < cut.to:
            return None
        return (
            f"uncommitted batch {cut.begun} ends at offset {cut.to}, before the range to skip. "
            "Start the query, let it reach the range, then plan again. Or choose a range that "
            f"starts before offset {cut.to}. Headgate then skips all records of that range"
        )
    return outside(cut.at, span.begin, span.end)


def _steps(
    request: PlanRequest, at: Checkpoint, cut: _Cut, logs: str, sink: SkipSink
) -> tuple[Step, ...]:
    pipeline = request.pipeline
    stop = common.stop_step(pipeline, checkpoint=at.location)
    shapes = topic_shapes(request.inspector.kafka.shapes([cut.span.topic]))
    back_up = BackUpRecords(topics=shapes, only=(cut.span,), pipeline=pipeline.name)
    what: dict[str, Any] = {
        "pipeline": pipeline.name,
        "checkpoint": at.location,
        "query_id": at.query_id,
    }
    put = SwapCutCheckpoint(**what, batch=cut.done, sink=sink.target)
    if cut.part is None:
        return (stop, back_up, _behind(what, cut, cut.done, logs), put, start_or_ask(stop))
    first = CutCopy(
        **what,
        **_place(cut),
        batch=cut.done,
        entry=cut.part,
        end=cut.span.begin,
        edit=entry_edit(cut.part, cut.entry(cut.part, cut.span.begin)),
        logs=logs,
    )
    finish = _finish(what, cut.part, stop)
    behind = _behind(what, cut, cut.part, None)
    again = SwapCutCheckpoint(**what, **_place(cut), end=cut.span.end, batch=cut.part, first=False)
    return (stop, back_up, first, put, *finish, behind, again, start_or_ask(stop))


def _place(cut: _Cut) -> dict[str, Any]:
    return {"topic": cut.span.topic, "partition": cut.span.partition}


def _behind(what: dict[str, Any], cut: _Cut, batch: int, logs: str | None) -> CutCopy:
    """Return the step after which the query begins behind the range."""
    edit = entry_edit(batch, cut.entry(batch, cut.span.end))
    end = cut.span.end
    return CutCopy(**what, **_place(cut), batch=batch, entry=batch, end=end, edit=edit, logs=logs)


def _finish(what: dict[str, Any], batch: int, stop: StopPipeline) -> tuple[FinishBatch, ...]:
    if stop.start is None or stop.command is None:
        return ()
    step = FinishBatch(
        **what,
        batch=batch,
        start=stop.start,
        stop=stop.command,
        suspend=stop.suspend,
        reenable=stop.reenable,
    )
    return (step,)


def _blockers(request: PlanRequest, at: Checkpoint, cut: _Cut) -> list[str]:
    pipeline, inspector = request.pipeline, request.inspector
    blockers = common.must_be_stopped(pipeline, inspector)
    if at.fixed:
        blockers.append(f"Headgate can't replace checkpoint {at.location}: {at.fixed}")
    missing = inspector.checkpoints.rewind(at.location, cut.done).missing
    blockers += [
        f"checkpoint {at.location} isn't complete at batch {cut.done}: {lack}. Check the "
        "checkpoint with `headgate plan repair`"
        for lack in missing
    ]
    if cut.part is None:
        return blockers
    commands = pipeline.commands
    absent = [w for w in ("stop", "start", "status") if getattr(commands, w) is None]
    if absent:
        blockers.append(
            f"batch {cut.part} has {as_records(cut.span.begin - cut.at)} before the range to skip. "
            f"{pipeline.name} must process them first. Headgate starts and stops the query for "
            f"this. Register the missing commands under [pipeline.commands]: {', '.join(absent)}"
        )
    if commands.status is not None and inspector.processes.status(pipeline.name) is Status.PAUSED:
        blockers.append(f"{pipeline.name} is paused: resume or stop it first")
    return blockers


UNDO_WRITES_TWICE = Risk(
    "an undo restores the checkpoint from before the skipped records: output since the run "
    "stays in the sink and is written a second time"
)
OFFSETS_OF_BATCH = Risk(
    "the run changes the start and end offsets of batch {batch}. If the query has a "
    "watermark, this can change which late records the query drops",
    batch="N",
)
BATCH_COMPLETES = Risk(
    "batch {batch} completes up to offset {offset}. The query then starts the next batch, "
    "before Headgate can stop the query. If that batch doesn't fail on the record, the record "
    "is processed normally: nothing is skipped, and the run reports this",
    batch="N",
)


def _risks(request: PlanRequest, cut: _Cut) -> list[str]:
    span, name = cut.span, request.pipeline.name
    risks = [
        SKIPPED(
            pipeline=name,
            offsets=offset_range(span.begin, span.end),
            topic=span.topic,
            partition=span.partition,
        ),
        SKIPPED_STAY(),
        UNDO_WRITES_TWICE(),
    ]
    if cut.begun is not None:
        risks.append(OFFSETS_OF_BATCH(batch=cut.begun))
    if cut.part is not None:
        risks.append(BATCH_COMPLETES(batch=cut.part, offset=cut.span.begin))
    return [_proof(request, cut), *risks]


ENDED_WITH = Risk(
    "the watch of {pipeline} reported that the query ended with `{error}`. Check that a "
    "record to skip is the cause"
)
NO_EVIDENCE = Risk(
    "no evidence that {pipeline} fails on a record to skip: no batch with these records has "
    "started, and no watch reported an error"
)
NO_ERROR_REPORTED = Risk(
    "batch {batch}, which has records to skip, is uncommitted. There is no evidence that "
    "{pipeline} fails on such a record: no watch reported an error",
    batch="N",
)


def _proof(request: PlanRequest, cut: _Cut) -> str:
    """Say what shows that the query fails on the record, or that nothing does."""
    name, told = (
        request.pipeline.name,
        request.inspector.processes.driver_status(request.pipeline.name),
    )
    if told.error:
        return ENDED_WITH(pipeline=name, error=told.error)
    if cut.begun is None:
        return NO_EVIDENCE(pipeline=name)
    return NO_ERROR_REPORTED(batch=cut.begun, pipeline=name)


RISKS = (
    SKIPPED,
    SKIPPED_STAY,
    UNDO_WRITES_TWICE,
    OFFSETS_OF_BATCH,
    BATCH_COMPLETES,
    ENDED_WITH,
    NO_EVIDENCE,
    NO_ERROR_REPORTED,
    *SINK_RISKS,
)
