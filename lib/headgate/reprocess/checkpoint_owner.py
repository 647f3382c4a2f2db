"""Whether the checkpoint that is registered for a query belongs to that query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.processes import ReportedRun

_CORRECT = "Correct `checkpoint` in headgate.toml"


def other_query(
    pipeline: Pipeline, found: Checkpoint, version: Version | None, runs: Sequence[ReportedRun]
) -> tuple[str, ...]:
    """Return why the checkpoint is another query's, one sentence each; empty if nothing says so.

    `version` is the stored one, `runs` are those that the pipeline's watch reports. A reset changes
    a query's id, so an old id isn't evidence by itself: the watch and the version must agree.
    """
    if pipeline.engine is not Engine.SPARK:
        return ()
    return (*_by_topics(found, version), *_by_watch(pipeline, found, version, runs))


def _by_topics(found: Checkpoint, version: Version | None) -> Iterator[str]:
    read = [s for s in version.sources or () if s.format == "kafka"] if version else []
    known = {t for s in read for t in (*s.topics, *(s.offsets or {}))}
    if found.offsets and known and known.isdisjoint(found.offsets) and not _has_pattern(version):
        yield (
            f"checkpoint {found.location} has offsets of {_named(found.offsets)}, but the stored "
            f"version reads {_named(known)}: the checkpoint belongs to another query. {_CORRECT}"
        )


def _has_pattern(version: Version | None) -> bool:
    return any(s.pattern for s in (version.sources or () if version else ()))


def _by_watch(
    pipeline: Pipeline, found: Checkpoint, version: Version | None, runs: Sequence[ReportedRun]
) -> Iterator[str]:
    own = {pipeline.query or pipeline.name}
    names = {r.name for r in runs if r.query_id == found.query_id and r.name}
    mine = [r for r in runs if own & {r.name, r.query_id}]
    newest = max(mine, key=lambda r: r.at or "", default=None)
    if names and newest is not None and names.isdisjoint({newest.name}):
        yield (
            f"checkpoint {found.location} has the query id {found.query_id}. headgate.watch "
            f"reports this id for query {_named(names)}, but this pipeline's query is "
            f"{newest.name or newest.query_id}. {_CORRECT}"
        )
        return
    ids = {newest.query_id} if newest is not None else {r.query_id for r in runs}
    if len(ids) == 1 and found.query_id not in ids and version and version.query_id in ids:
        yield (
            f"checkpoint {found.location} belongs to query {found.query_id}, but headgate.watch "
            f"and the stored version report query {_named(ids)}. {_CORRECT}. If the path is "
            "correct, start the query once, so that headgate.watch reports its new id"
        )


def _named(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
