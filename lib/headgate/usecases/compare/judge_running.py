"""Compare the version that runs after an upgrade with the version that was checked before it."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.errors import HeadgateError
from headgate.gateway.files.addresses import is_web
from headgate.gateway.files.evidence_files import find
from headgate.gateway.spark.watch_folder import newest_parts
from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.parse.evidence.assemble import Gathered, assemble, logs_of
from headgate.parse.evidence.recognise import Piece
from headgate.parse.evidence.version_file import fingerprint
from headgate.parse.kafka_streams.from_cluster import with_application_id
from headgate.parse.spark.event_log.version import LoggedQuery, LoggedRun, alone, queries
from headgate.reprocess.ports.evidence import RunningVersion, Trace
from headgate.rules.compare.running_version import VersionMatch, match_versions
from headgate.usecases.compare.compare_versions import read_side
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_version import gather
from headgate.usecases.evidence.read_watch import TOPIC


def judge_running(
    context: Context, pipeline: str, after: str, version: str, trace: Trace
) -> RunningVersion:
    """Return what the registered evidence shows of the running version.

    Evidence that can't be read raises no error. `version` is the fingerprint of `after` at the time
    of the check. Raises NotFoundError if the pipeline isn't registered.
    """
    registered = context.registered(pipeline)
    if registered.engine is Engine.KAFKA_STREAMS:
        return _of_group(context, after, version, trace)
    problems: list[str] = []
    for place in _run_evidence(context, registered, trace, problems):
        running = _running(context, place, trace, problems)
        if running is not None:
            return _beside(context, place, running, after, version)
    return RunningVersion(untold=(*problems, _nothing(registered)))


def seen_runs(context: Context, pipeline: Pipeline, trace: Trace) -> Iterator[tuple[str, Version]]:
    """Yield the query's newest run in each watch and other evidence, with the location."""
    unread: list[str] = []
    for place in _run_evidence(context, pipeline, trace, unread):
        if running := _running(context, place, trace, unread):
            yield place, running


def _beside(
    context: Context, place: str, running: Version, after: str, version: str
) -> RunningVersion:
    judged = _judged(context, after, version)
    return (
        judged
        if isinstance(judged, RunningVersion)
        else _running_version(place, match_versions(judged, running))
    )


def _running_version(told_by: str, found: VersionMatch) -> RunningVersion:
    return RunningVersion(told_by=told_by, differs=found.differs, untold=found.untold)


def _judged(
    context: Context, after: str, version: str, application: str | None = None
) -> Version | RunningVersion:
    """Return the version as it was judged; without a result if it is another one now."""
    try:
        found = read_side((after,), context)
    except HeadgateError as error:
        return RunningVersion(untold=(f"{after} can no longer be read: {error}",))
    found = with_application_id(found, application) if application else found
    if fingerprint(found) != version:
        return RunningVersion(untold=(f"{after} has changed since Headgate made the plan",))
    return found


def _run_evidence(
    context: Context, pipeline: Pipeline, trace: Trace, problems: list[str]
) -> Iterator[str]:
    """Yield what may show a run: the watch first, which sees most of it."""
    if pipeline.watch and pipeline.watch.startswith(TOPIC):
        yield pipeline.watch
    elif pipeline.watch:
        try:
            folder = find(pipeline.watch, context.registry.file_systems)
            parts = newest_parts(folder, trace.query_id or "") if folder else []
        except HeadgateError as error:
            problems.append(str(error))
        else:
            yield from (folder.below(name).name for name in parts[:1] if folder)
    yield from pipeline.evidence


def _running(context: Context, place: str, trace: Trace, problems: list[str]) -> Version | None:
    try:
        if not (is_web(place) or place.startswith(TOPIC) or find(place)):
            return None
        found = gather((place,), context=context)
        for query in queries(logs_of(found)):
            runs = (
                [r for r in query.runs if _is_new(r, trace)] if query.id == trace.query_id else []
            )
            if runs:
                return assemble(_only_run(found, query, runs[-1]), query=query.id)
    except HeadgateError as error:
        problems.append(f"{place} could not be read: {error}")
    return None


def _is_new(found: LoggedRun, trace: Trace) -> bool:
    """Say whether a run with a plan did what no run of the old version can have done.

    It reported a batch after the last committed one, or started one after the last started one.
    """
    run = found.run
    reported = (run.newest or {}).get("batchId")
    goes_on = isinstance(reported, int) and _later(reported, trace.committed)
    return bool(run.plans) and (goes_on or _later(run.last_batch, trace.begun))


def _later(batch: int | None, than: int | None) -> bool:
    return batch is not None and (than is None or batch > than)


def _only_run(found: Gathered, query: LoggedQuery, run: LoggedRun) -> Gathered:
    """Return what was reported of one run, and nothing of the ones before it."""
    log = alone(query, run)
    for piece in found.pieces:
        if not piece.kind.is_log:
            continue
        if piece.kind is EvidenceKind.WATCH and piece.value.log.path == run.path:
            told = piece.value.of_run(run.run.run_id, log)
            return Gathered(pieces=[Piece(EvidenceKind.WATCH, log.path, told)])
    return Gathered(pieces=[Piece(EvidenceKind.EVENT_LOG, log.path, log)])


def _nothing(pipeline: Pipeline) -> str:
    if pipeline.watch or pipeline.evidence:
        return "no `watch` or `evidence` of the pipeline shows the query plan of the new run"
    return "the pipeline has no `watch` and no `evidence` in headgate.toml"


def _of_group(context: Context, after: str, version: str, trace: Trace) -> RunningVersion:
    from headgate.rules.compare.running_kafka_streams import liken_group

    assert trace.group is not None
    judged = _judged(context, after, version, trace.group.id)
    if isinstance(judged, RunningVersion):
        return judged
    return _running_version(f"the group {trace.group.id}", liken_group(judged, trace.group))
