"""Read all versions of a query, from event logs or from the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.version import Version
from headgate.parse.evidence.assemble import Gathered, assemble, logs_of
from headgate.parse.evidence.recognise import Piece
from headgate.parse.evidence.version_file import fingerprint
from headgate.parse.spark.event_log.version import (
    LoggedQuery,
    LoggedRun,
    alone,
    known_runs,
    queries,
)
from headgate.parse.spark.watch.read import Watched
from headgate.usecases.context import Context
from headgate.usecases.evidence.choose_query import chosen_version, full_id
from headgate.usecases.evidence.read_version import gather


def read_history(
    evidence: Sequence[str], *, context: Context | None = None, query: str | None = None
) -> tuple[Version, ...]:
    """Return each distinct version in the evidence, oldest first.

    Raises the errors of `read_version`. In an event log or a watch, each run that differs from the
    run before is a version; `captured_at` is the start of the run. A run that failed before its
    first batch doesn't count, because its input is unknown. Evidence of other kinds completes the
    newest version. If the evidence is only a pipeline's name, the result is all its stored
    versions.
    """
    if stored := _stored(evidence, context):
        return stored
    found = gather(evidence, context=context)
    query = full_id(found, query)
    newest = chosen_version(found, query)
    runs = list(_runs(found, query, newest))
    if not runs:
        return (newest,)
    watched = [p.value for p in found.pieces if p.kind is EvidenceKind.WATCH]
    versions = [_version(q, r, watched) for q, r in runs[:-1]]
    versions.append(replace(newest, captured_at=_start(runs[-1][1])))
    return tuple(_distinct(versions))


def _stored(evidence: Sequence[str], context: Context | None) -> tuple[Version, ...]:
    """Return all versions of a pipeline, none where the evidence is not just a pipeline's name."""
    if context is None or len(evidence) != 1 or context.registry.pipeline(evidence[0]) is None:
        return ()
    from headgate.gateway.files.evidence_files import find
    from headgate.store.store import open_store

    if find(evidence[0]) is not None:
        return ()
    with closing(open_store(context.store_url)) as store:
        rows = store.versions.list(evidence[0])
        return tuple(store.versions.get(r.pipeline, r.number) for r in rows)


def _runs(
    found: Gathered, query: str | None, newest: Version
) -> Iterator[tuple[LoggedQuery, LoggedRun]]:
    """Yield the runs of which most is known, of the query that is meant or of all of its name."""
    wanted = {newest.query_id} if query is None else {newest.query_id, query}
    pairs = [
        (q, r) for q in queries(logs_of(found)) if {q.id, q.name} & wanted for r in known_runs(q)
    ]
    yield from sorted(pairs, key=lambda pair: pair[1].run.started_at or "")


def _version(query: LoggedQuery, found: LoggedRun, watched: Sequence[Watched]) -> Version:
    log = alone(query, found)
    piece = Piece(EvidenceKind.EVENT_LOG, log.path, log)
    for each in watched:
        if each.log.path == found.path:
            # What the session told of this run belongs to it, and to no other.
            piece = Piece(EvidenceKind.WATCH, log.path, each.of_run(found.run.run_id, log))
    only = Gathered(pieces=[piece])
    return replace(assemble(only, query=query.id), captured_at=_start(found))


def _start(found: LoggedRun) -> str | None:
    """Return when a run began, written as everywhere in the store."""
    at = found.run.started_at
    return at.removesuffix("Z") + "+00:00" if at and at.endswith("Z") else at


def _distinct(versions: Sequence[Version]) -> Iterator[Version]:
    """Yield versions that differ from the one before; the last as it is now, seen when it began."""
    kept: list[tuple[str, Version]] = []
    for version in versions:
        mark = fingerprint(version)
        if kept and kept[-1][0] == mark:
            since = kept[-1][1].captured_at
            kept[-1] = (mark, replace(version, captured_at=since))
        else:
            kept.append((mark, version))
    yield from (version for _, version in kept)
