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
    evidence += _told(context, pipeline)
    if not evidence:
        return None
    version = _of_query(context, pipeline, evidence)
    return None if pipeline.checkpoint and _is_young(version) else version


def _of_query(context: Context, pipeline: Pipeline, evidence: list[str]) -> Version:
    """Read the query that `query` names, else the only one, else the one of the same name."""
    found = gather(evidence, context=context)
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


def _told(context: Context, pipeline: Pipeline) -> list[str]:
    """Return the newest part of the query's watch, which says what no checkpoint does.

    Registered evidence is somebody's choice and stays alone. A topic is not read for this.
    """
    if not pipeline.watch or pipeline.evidence or pipeline.watch.startswith(TOPIC):
        return []
    query = _watched(context, pipeline)
    folder = find(pipeline.watch, context.registry.file_systems) if query else None
    if not query or folder is None or not folder.is_folder:
        return []
    parts = newest_parts(folder, query)
    return [folder.below(name).name for name in (*parts[:1], *_same_with_plan(folder, parts))]


def _same_with_plan(folder: FileLocation, parts: Sequence[str]) -> tuple[str, ...]:
    """Return the part of an earlier run of the same query that has a plan, if the newest has none.

    A run that has had no records yet has no batch and so no physical plan. Its logical plan shows
    whether it runs the same query as a run before it.
    """
    known = None
    for part in parts[:_MOST_PARTS]:
        watched = read_watch_files(folder, [part])
        has_plan = any(run.plans for run in watched.log.runs)
        if known is None and has_plan:
            return ()
        told = _of_logical_plan(watched)
        if known is None:
            known = told
        elif told != known:
            return ()
        elif has_plan:
            return (part,)
    return ()


def _of_logical_plan(watched: Watched) -> str:
    """Return the fingerprint of the version that the logical plan alone shows."""
    runs = tuple(replace(run, plans=(), newest=None, reports=()) for run in watched.log.runs)
    only = replace(watched, log=replace(watched.log, runs=runs))
    return fingerprint(assemble(Gathered(pieces=[Piece(EvidenceKind.WATCH, "", only)])))


def _watched(context: Context, pipeline: Pipeline) -> str | None:
    """Return the id of the query; without a checkpoint the watch itself tells it."""
    if pipeline.checkpoint:
        return query_id_of(pipeline.checkpoint, context)
    assert pipeline.watch is not None
    life = life_of(pipeline, read_newest(pipeline.watch, context), context)
    return life.query_id if life else None


def _is_young(version: Version) -> bool:
    """Return whether no batch is done: sources and state are not all there yet."""
    return version.progress is None or version.progress.last_commit_batch is None
