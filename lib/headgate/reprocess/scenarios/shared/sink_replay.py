"""What a query's sink does with batch numbers that come again, and what a plan does about it."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.errors import RefusedError
from headgate.model.sinks import BatchIds, SinkFormat, is_one_place, sink_format
from headgate.reprocess.scenario import Asked
from headgate.reprocess.steps import CutSinkLog, RecordOutput
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.checkpoint.record_output import spans, written_since
from headgate.text.numbers import named

NO_FOLDER = "the folder of the file sink is not known: say it with --sink-path"
# `other` is whatever writes a batch again.
_OTHER = SinkFormat(format="other", batch_ids=BatchIds.WRITES)
SINKS = ("file", "delta", "iceberg", "hudi", "kafka", "foreach", "other")


@dataclass(frozen=True, slots=True)
class SinkPlan:
    """The steps that the sink needs, and what is to be said of it."""

    steps: tuple[Step, ...] = ()
    risks: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    new_query_id: bool = False


def plan_sink(asked: Asked, batch: int, last: int, since: int | None) -> SinkPlan:
    """Return what the batches after `batch`, up to `last`, need when their numbers come again.

    `since` is when the first of them was planned (Unix milliseconds), None where nothing tells.
    """
    new_id = bool(asked.options.get("new-query-id"))
    sink, where = sink_of(asked), sink_place(asked)
    again = f"batches {batch + 1} to {last}" if last > batch + 1 else f"batch {last}"
    if reasons := contradictions(asked):
        return SinkPlan(blockers=reasons)
    if sink.is_files:
        return _files(asked, batch, where, new_id=new_id)
    match sink.batch_ids:
        case BatchIds.UNKNOWN:
            return SinkPlan(blockers=(unknown_sink(asked, sink),))
        case BatchIds.DROPS:
            return SinkPlan(blockers=(_dropped(sink, where, again),))
        case BatchIds.DROPS_OF_QUERY:
            return _of_query(sink, where, again, new_id=new_id)
        case BatchIds.BY_FUNCTION:
            return _foreach(asked, again, new_id=new_id)
    if sink.format == "kafka" and where and since and asked.world.has_cluster():
        return _kafka(asked, where, batch, again, since, new_id=new_id)
    return _doubled(asked, where, again, new_id=new_id)


def sink_of(asked: Asked) -> SinkFormat:
    """Return what is known of the sink's format; its name is empty if nothing tells it."""
    said = asked.options.get("sink")
    if said == _OTHER.format:
        return _OTHER
    known = asked.version.sink.traits if asked.version and asked.version.sink else None
    return sink_format(said) if said else known or sink_format(None)


def contradictions(asked: Asked) -> tuple[str, ...]:
    """Return what the stored version says against the answers about the sink."""
    known = asked.version.sink if asked.version else None
    said, path = asked.options.get("sink"), asked.options.get("sink-path")
    if known is None:
        return ()
    now, found = sink_of(asked), known.traits
    reasons: list[str] = []
    is_known = found.batch_ids is not BatchIds.UNKNOWN
    if said and is_known and (now.batch_ids, now.is_files) != (found.batch_ids, found.is_files):
        reasons.append(f"--sink {said}: the stored version writes to {found.format}; leave it out")
    if path and known.place and not is_one_place(path, known.place):
        reasons.append(
            f"--sink-path {path}: the stored version writes to {known.place}; leave it out, or"
            " capture the query again if it moved"
        )
    return tuple(reasons)


def sink_place(asked: Asked) -> str | None:
    """Return the folder, table or topic that the sink writes to; None if nothing tells it."""
    sink = asked.version.sink if asked.version else None
    return asked.options.get("sink-path") or (sink.place if sink else None)


def unknown_sink(asked: Asked, sink: SinkFormat) -> str:
    """Return the blocker of a query whose sink may drop batches that come again."""
    if sink.format:
        return (
            f"whether the sink {sink.format} of {asked.pipeline.name} drops batch numbers that it"
            " has is not known: say --sink other if it writes them again, --sink delta if it"
            " drops them by query id"
        )
    return (
        f"what {asked.pipeline.name} writes to is not known, and some sinks drop batches whose"
        " numbers they have: capture the query (`headgate capture --pipeline"
        f" {asked.pipeline.name}`), or say it with --sink"
    )


def without_log(where: str) -> str:
    """Return the blocker of a folder that a file sink keeps no log in."""
    return f"{where} has no _spark_metadata: it is not where a file sink writes to"


def _files(asked: Asked, batch: int, where: str | None, *, new_id: bool) -> SinkPlan:
    if where is None:
        return SinkPlan(blockers=(NO_FOLDER,))
    try:
        found = asked.world.sink_log(where, batch)
    except RefusedError:
        return SinkPlan(
            blockers=(
                f"the file sink writes to {where} on a remote file system, where its log can't be"
                " cut in one step: it would drop the output of the batches that come again",
            )
        )
    if found is None:
        return SinkPlan(blockers=(without_log(where),))
    if found.problem is not None:
        return SinkPlan(blockers=(found.problem,))
    cut = CutSinkLog(
        pipeline=asked.pipeline.name,
        target=found.target,
        batch=batch,
        later=len(found.later),
        files=found.files,
    )
    return SinkPlan(
        steps=(cut,) if found.later else (),
        risks=(
            f"whoever has read the {found.files} file(s) of later batches in {where} gets their"
            " results again: the files are put aside, and others come",
        ),
        resources=(f"folder:{found.target}",),
        new_query_id=new_id,
    )


def _dropped(sink: SinkFormat, where: str | None, again: str) -> str:
    """Return the blocker of a table that drops numbers whichever query writes them."""
    return (
        f"the {sink.title}{f' {where}' if where else ''} remembers its last batch number, whatever"
        f" the query's id, and drops {again} without an error: restore the table to its state"
        " before them, or write to another table"
    )


def _of_query(sink: SinkFormat, where: str | None, again: str, *, new_id: bool) -> SinkPlan:
    table = f"the {sink.title}{f' {where}' if where else ''}"
    if not new_id:
        return SinkPlan(
            blockers=(
                f"{table} remembers the query's id with its last batch, and drops {again} without"
                " an error. Restore the table to its version before them, or say --new-query-id:"
                f" then it gets the rows of {again} twice",
            )
        )
    return SinkPlan(
        risks=(f"{table} gets the rows of {again} a second time, unless it merges them by key",),
        new_query_id=True,
    )


def _foreach(asked: Asked, again: str, *, new_id: bool) -> SinkPlan:
    return SinkPlan(
        risks=(
            f"the function of {asked.pipeline.name} gets {again} a second time, cut in other"
            " places: if it skips numbers that it has seen, rows are lost; if not, it writes them"
            " twice, unless it overwrites by key",
        ),
        new_query_id=new_id,
    )


def _kafka(
    asked: Asked, topic: str, batch: int, again: str, since: int, *, new_id: bool
) -> SinkPlan:
    """Say exactly what comes twice: nothing can be taken out of the end of a topic."""
    written = written_since(asked.world, topic, since)
    step = RecordOutput(topic=topic, batch=batch, since=since, written=written)
    risks = [
        f"{topic} keeps what {again} wrote, and gets their results again behind it: whoever reads"
        " them gets them twice, unless it overwrites by key or leaves the old ones out"
        f" ({spans(topic, written)}; the run writes down what they are after the stop, and"
        " `headgate plan skip-records` lets a group that has not read them step over them)"
    ]
    groups = asked.world.topic_readers([topic]).get(topic, {})
    if readers := sorted(g for g in groups if g != asked.pipeline.group):
        risks.append(f"{topic} is read by {named(readers)}: results reach them a second time")
    return SinkPlan(steps=(step,), risks=tuple(risks), new_query_id=new_id)


def _doubled(asked: Asked, where: str | None, again: str, *, new_id: bool) -> SinkPlan:
    return SinkPlan(
        risks=(
            f"{asked.pipeline.name} writes the results of {again} again"
            f"{f' to {where}' if where else ''}: whoever reads them gets them twice, unless the"
            " sink overwrites by key",
        ),
        new_query_id=new_id,
    )
