"""Find the outputs of a registered Spark query in its watch and its registered evidence."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.errors import HeadgateError
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.reprocess.ports.evidence import Output, Trace
from headgate.usecases.compare.judge_running import seen_runs
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_registered import read_registered


def known_outputs(
    context: Context, pipeline: str, query_id: str | None = None
) -> tuple[Output, ...]:
    """Return each output that is reported, once.

    With `query_id`, only logs of runs of this query count, because registered files may be older
    than the query. Evidence that can't be read is skipped.
    """
    registered = context.registry.pipeline(pipeline)
    if registered is None or registered.engine is not Engine.SPARK:
        return ()
    if query_id is None:
        versions = list(_registered(context, registered))
    else:
        versions = list(seen_runs(context, registered, Trace(query_id=query_id)))
    sinks = ((told_by, version.sink) for told_by, version in versions)
    found = [Output(place=s.place, told_by=by) for by, s in sinks if s and s.place]
    return tuple({output.place: output for output in found}.values())


def _registered(context: Context, pipeline: Pipeline) -> Iterator[tuple[str, Version]]:
    try:
        version = read_registered(context, pipeline)
    except HeadgateError:
        return
    if version is not None:
        yield "registered evidence", version
