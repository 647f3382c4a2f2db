"""Read the current version of a registered Spark query or consumer group."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from headgate.errors import QueryChoiceError
from headgate.gateway.files.evidence_files import FileLocation, find
from headgate.gateway.spark.watch_folder import newest_parts, read_watch_files
from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Version
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import Piece
from headgate.parse.evidence.version_file import fingerprint
from headgate.parse.spark.watch.read import Watched
from headgate.usecases.context import Context
from headgate.usecases.evidence.choose_query import chosen_version
from headgate.usecases.evidence.own_query import query_id_of
from headgate.usecases.evidence.read_version import gather
from headgate.usecases.evidence.read_watch import TOPIC, read_newest
from headgate.usecases.evidence.watched_query import life_of

# Runs without records may follow each other; that many are looked at for one with a plan.
_MOST_PARTS = 20
_OF_AN_OPTION = re.compile(r"[:;] choose one|, only\b")


def read_registered(context: Context, pipeline: Pipeline) -> Version | None:
    """Return the version from checkpoint, registered evidence and watch together.

    None if there is no evidence, or if the query's first batch hasn't completed, because an
    incomplete checkpoint would look like a change. QueryChoiceError if several queries match;
    raises the errors of `read_version`, too.
    """
    evidence = [*([pipeline.checkpoint] if pipeline.checkpoint else []), *pipeline.evidence]
    folder, parts = _watch_parts(context, pipeline)
    evidence += [folder.below(name).name for name in parts[:1] if folder]
    if not evidence:
        return None
    found = gather(evidence, context=context)
    if folder is not None:
        _add_plan(found, folder, parts[1:_MOST_PARTS])
    version = _of_query(pipeline, found)
    return None if pipeline.checkpoint and _is_young(version) else version


def _of_query(pipeline: Pipeline, found: Gathered) -> Version:
    """Read the query that `query` names, else the only one, else the one of the same name."""
    try:
        return chosen_version(found, None)
    except QueryChoiceError as error:
        open_ = error
    try:
        return chosen_version(found, pipeline.query or pipeline.name)
    except QueryChoiceError as error:
        how = f"Set `query` of {pipeline.name} in headgate.toml to one of these"
        last = error if pipeline.query else open_
        # What the sentence ends with is for whoever passes --query.
        first = _OF_AN_OPTION.split(last.sentence)[0]
        raise QueryChoiceError(f"{first}. {how}", last.listed) from error


def _watch_parts(context: Context, pipeline: Pipeline) -> tuple[FileLocation | None, list[str]]:
    """Return the watch's folder, and the query's parts in it: the newest first, as it says most.

    Registered evidence is somebody's choice: nothing is added to it. A topic is not read for this.
    """
    if not pipeline.watch or pipeline.evidence or pipeline.watch.startswith(TOPIC):
        return None, []
    query = _watched(context, pipeline)
    folder = find(pipeline.watch, context.registry.file_systems) if query else None
    if not query or folder is None or not folder.is_folder:
        return None, []
    return folder, newest_parts(folder, query)


def _add_plan(found: Gathered, folder: FileLocation, earlier: Sequence[str]) -> None:
    """Add the part of an earlier run of the same query that has a plan, if the newest has none.

    A run that has had no records yet has no batch and so no physical plan. Its logical plan shows
    whether it runs the same query as a run before it.
    """
    newest = next((p.value for p in found.pieces if p.kind is EvidenceKind.WATCH), None)
    if not earlier or newest is None or _has_plan(newest):
        return
    known = _of_logical_plan(newest)
    for part in earlier:
        watched = read_watch_files(folder, [part])
        if _of_logical_plan(watched) != known:
            return
        if _has_plan(watched):
            path, log = folder.below(part).name, watched.log
            watched = replace(watched, log=replace(log, path=path))
            found.pieces.append(Piece(EvidenceKind.WATCH, path, watched, log.warnings))
            return


def _has_plan(watched: Watched) -> bool:
    return any(run.plans for run in watched.log.runs)


def _of_logical_plan(watched: Watched) -> str:
    """Return the fingerprint of the version that only the logical plan shows."""
    runs = tuple(replace(run, plans=(), newest=None, reports=()) for run in watched.log.runs)
    only = replace(watched, log=replace(watched.log, runs=runs))
    return fingerprint(assemble(Gathered(pieces=[Piece(EvidenceKind.WATCH, "", only)])))


def _watched(context: Context, pipeline: Pipeline) -> str | None:
    """Return the id of the query; without a checkpoint the watch itself reports it."""
    if pipeline.checkpoint:
        return query_id_of(pipeline.checkpoint, context)
    assert pipeline.watch is not None
    life = life_of(pipeline, read_newest(pipeline.watch, context), context)
    return life.query_id if life else None


def _is_young(version: Version) -> bool:
    """Return whether no batch is done: sources and state are not all there yet."""
    return version.progress is None or version.progress.last_commit_batch is None
