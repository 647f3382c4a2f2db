"""What a query's sink does where a batch comes again with fewer records, and after an undo."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.errors import RefusedError
from headgate.model.sinks import BatchIds
from headgate.reprocess.scenario import Asked
from headgate.reprocess.scenarios.shared.sink_replay import (
    NO_FOLDER,
    contradictions,
    sink_of,
    sink_place,
    unknown_sink,
    without_log,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipSink:
    """What is to be said of the sink; `target` is the folder of a file sink."""

    target: str | None = None
    risks: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()


def look_at_sink(asked: Asked, done: int, part: int | None) -> SkipSink:
    """Return it for a query whose last batch is `done`, and that does `part` up to the record."""
    where, sink = sink_place(asked), sink_of(asked)
    if reasons := contradictions(asked):
        return SkipSink(blockers=reasons)
    if sink.is_files:
        return _files(asked, done, where)
    match sink.batch_ids:
        case BatchIds.UNKNOWN:
            return SkipSink(blockers=(unknown_sink(asked, sink),))
        case BatchIds.DROPS | BatchIds.DROPS_OF_QUERY:
            return SkipSink(
                risks=(
                    f"the {sink.title} remembers the number of the last batch: after an undo it"
                    " drops those that it has without an error, so restore the table to its"
                    " version before the run first",
                )
            )
        case BatchIds.BY_FUNCTION:
            return SkipSink(risks=(_again(asked, part),) if part is not None else ())
    return SkipSink(risks=(_doubled(asked, part, where),) if part is not None else ())


def _files(asked: Asked, done: int, where: str | None) -> SkipSink:
    if where is None:
        return SkipSink(blockers=(NO_FOLDER,))
    try:
        found = asked.world.sink_log(where, done)
    except RefusedError:
        return SkipSink(
            blockers=(
                f"the file sink writes to {where} on a remote file system, where its log can't be"
                " cut in one step: after an undo it would drop the output of batches that it has",
            )
        )
    if found is None:
        return SkipSink(blockers=(without_log(where),))
    if found.later:
        return SkipSink(
            blockers=(
                f"{where} has batch {found.later[0]} already, which the checkpoint has not: its"
                " record is not what fails the query, and `headgate plan repair` gets over it",
            )
        )
    return SkipSink(
        target=found.target,
        risks=(
            f"an undo puts aside what {where} got since: whoever has read it by then gets it again",
        ),
        resources=(f"folder:{found.target}",),
    )


def _again(asked: Asked, part: int | None) -> str:
    return (
        f"the function of {asked.pipeline.name} gets batch {part} once more, up to the record: what"
        " it did in the tries that failed it does again, unless it overwrites by key; if it skips"
        " numbers that it has seen, rows are lost"
    )


def _doubled(asked: Asked, part: int | None, where: str | None) -> str:
    to = f" to {where}" if where else ""
    return (
        f"what the tries of batch {part} that failed wrote{to} stays there, and is written again,"
        " as with any batch that Spark does over"
    )
