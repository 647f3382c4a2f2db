"""What a query's sink does with batch numbers that come again, and what a plan does about it."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.errors import RefusedError
from headgate.model.version import FILE_SINKS
from headgate.plan.scenario import Asked
from headgate.plan.step import Step
from headgate.plan.steps import CutSinkLog, RecordOutput
from headgate.plan.steps.output_record import spans, written_since
from headgate.plan.words import named

NO_FOLDER = "the folder of the file sink is not known: say it with --sink-path"
SINKS = ("file", "delta", "kafka", "foreach", "other")
_KINDS = {
    **dict.fromkeys(FILE_SINKS, "file"),
    **dict.fromkeys(("foreachbatch", "foreach"), "foreach"),
    "delta": "delta",
    "kafka": "kafka",
}


@dataclass(frozen=True, slots=True)
class SinkPlan:
    """The steps that the sink needs, and what is to be said of it."""

    steps: tuple[Step, ...] = ()
    risks: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    new_query_id: bool = False


def plan_sink(asked: Asked, batch: int, last: int, since: int | None) -> SinkPlan:
    """Return what the batches after `batch`, up to `last`, need when their numbers come again.

    `since` is when the first of them was planned (Unix milliseconds), None where nothing tells.
    """
    new_id = bool(asked.options.get("new-query-id"))
    kind, where = sink_kind(asked), sink_place(asked)
    again = f"batches {batch + 1} to {last}" if last > batch + 1 else f"batch {last}"
    match kind:
        case "":
            return SinkPlan(refusals=(unknown_sink(asked),))
        case "file":
            return _files(asked, batch, where, new_id=new_id)
        case "delta":
            return _delta(where, again, new_id=new_id)
        case "foreach":
            return _foreach(asked, again, new_id=new_id)
        case "kafka" if where and since and asked.world.has_cluster():
            return _kafka(asked, where, batch, again, since, new_id=new_id)
        case _:
            return _doubled(asked, where, again, new_id=new_id)


def sink_kind(asked: Asked) -> str:
    """Return one of SINKS, another format's name, or nothing where nobody tells."""
    sink = asked.version.sink if asked.version else None
    word = str(asked.options.get("sink") or (sink.format if sink else None) or "")
    return _KINDS.get(word.lower(), word.lower())


def sink_place(asked: Asked) -> str | None:
    """Return the folder, table or topic that the sink writes to; None where nobody tells."""
    sink = asked.version.sink if asked.version else None
    told = (sink.target or sink.options.get("topic")) if sink else None
    return asked.options.get("sink-path") or told


def unknown_sink(asked: Asked) -> str:
    """Return the refusal of a query whose sink nobody tells."""
    return (
        f"what {asked.pipeline.name} writes to is not known, and some sinks drop batches whose"
        " numbers they have: capture the query (`headgate capture --pipeline"
        f" {asked.pipeline.name}`), or say it with --sink"
    )


def without_log(where: str) -> str:
    """Return the refusal of a folder that a file sink keeps no log in."""
    return f"{where} has no _spark_metadata: it is not where a file sink writes to"


def _files(asked: Asked, batch: int, where: str | None, *, new_id: bool) -> SinkPlan:
    if where is None:
        return SinkPlan(refusals=(NO_FOLDER,))
    try:
        found = asked.world.sink_log(where, batch)
    except RefusedError:
        return SinkPlan(
            refusals=(
                f"the file sink writes to {where} on a remote file system, where its log can't be"
                " cut in one step: it would drop the output of the batches that come again",
            )
        )
    if found is None:
        return SinkPlan(refusals=(without_log(where),))
    if found.problem is not None:
        return SinkPlan(refusals=(found.problem,))
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


def _delta(where: str | None, again: str, *, new_id: bool) -> SinkPlan:
    table = f"the Delta table{f' {where}' if where else ''}"
    if not new_id:
        return SinkPlan(
            refusals=(
                f"{table} remembers the query's id with its last batch, and would drop {again}"
                " without a word: take a copy of the table as it was, or say --new-query-id, and"
                f" it gets the rows of {again} a second time",
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
        " `headgate plan skip` lets a group that has not read them step over them)"
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
