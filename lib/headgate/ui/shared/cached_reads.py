"""What pages read, kept for as long as it stays true."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from headgate.errors import EvidenceError, HeadgateError, UnreachableError
from headgate.landscape.landscape import Landscape, LandscapePipeline
from headgate.model.cluster import Cluster
from headgate.model.progress import BatchProgress
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.reprocess.conditions import Facts
from headgate.rules.core.report import Report
from headgate.store.rows import VersionRow
from headgate.ui.shared.cluster_poll import FRESH, PATIENCE, ClusterSnapshot, ClusterWatch, Latest
from headgate.ui.shared.given_evidence import Given
from headgate.ui.shared.read_in_background import LONGEST, read_apart
from headgate.ui.shared.schema_panel import FRESH_SCHEMA
from headgate.ui.shared.upload import session_folder
from headgate.usecases.compare.apply_acceptances import with_acceptances
from headgate.usecases.compare.compare_versions import compare_read, identified, judge_downstream
from headgate.usecases.context import Context
from headgate.usecases.evidence.list_versions import list_versions
from headgate.usecases.evidence.own_query import OwnQuery, own_query
from headgate.usecases.evidence.read_cluster import read_cluster
from headgate.usecases.evidence.read_cluster_for_version import reread_cluster, with_offsets_now
from headgate.usecases.evidence.read_progress import read_progress
from headgate.usecases.evidence.read_registered import read_registered
from headgate.usecases.evidence.read_version import read_version
from headgate.usecases.evidence.survey_evidence import Survey, survey_evidence
from headgate.usecases.landscape.read_lag import read_lag
from headgate.usecases.landscape.show_landscape import show_landscape
from headgate.usecases.reprocess.scenario_conditions import pipeline_facts
from headgate.views.reports.lag_words import pipeline_lag

VERSIONS_KEPT = 64
FRESH_EVIDENCE = 15.0
"""Seconds for which files outside this session's folder are cached."""
_NUMBERED = re.compile(r"@\d{1,18}$")


def cluster(context: Context, patience: float = PATIENCE) -> ClusterSnapshot:
    """Return Kafka as seen within the last seconds, or why not; the first look may wait."""
    return _eyes(context)(patience)


def _eyes(context: Context) -> Callable[[float], ClusterSnapshot]:
    """Return the function that reads Kafka; any thread may call it."""
    if not context.registry.bootstrap_servers:
        return lambda _: ClusterSnapshot(
            None, "Kafka isn't configured. Set bootstrap_servers under [kafka] in headgate.toml."
        )
    return _watch(_settings(context), context).latest


@st.cache_resource(show_spinner=False)
def _watch(settings: tuple[object, ...], _context: Context) -> ClusterWatch:
    return ClusterWatch(lambda: read_cluster(_context))


def _settings(context: Context) -> tuple[object, ...]:
    registry = context.registry
    return registry.bootstrap_servers, tuple(sorted(registry.kafka.items()))


@dataclass(frozen=True, slots=True)
class Joined:
    """The landscape and what was seen of Kafka when it was made."""

    landscape: Landscape
    seen: ClusterSnapshot


def landscape(context: Context) -> Joined:
    """Return the landscape as it was within the last seconds; never waits for Kafka.

    It is made beside the pages. Until Kafka has answered it holds what the versions say.
    """
    watch = _landscape(context)
    found = watch.latest(LONGEST)
    if found is not None and found.seen.is_awaited and not cluster(context, 0).is_awaited:
        found = watch.latest(LONGEST, newer=True)
    if found is None:
        raise UnreachableError(
            f"reading the landscape took longer than {LONGEST} s: reload the page"
        )
    return found


def _landscape(context: Context) -> Latest[Joined]:
    """Return what makes the landscape of this configuration, the same for all visitors."""
    kept = _landscapes()
    for known, watch in kept:
        if known == context:
            return watch

    look = _eyes(context)

    def read() -> Joined:
        seen = look(0)
        return Joined(show_landscape(context, seen.cluster), seen)

    kept.append((context, Latest(read, "landscape")))
    return kept[-1][1]


@st.cache_resource(show_spinner=False)
def _landscapes() -> deque[tuple[Context, Latest[Joined]]]:
    return deque(maxlen=4)


def lag(context: Context, pipeline: str) -> str | None:
    """Return a pipeline's lag with its age, None if it is unknown; Kafka isn't waited for."""
    seen = cluster(context, 0).cluster if context.registry.bootstrap_servers else None
    if seen is None:
        return None
    found = _lag((context.registry.path, context.store_url, seen.at), pipeline, context, seen)
    return pipeline_lag(found, seen.at) if found is not None else None


@st.cache_data(show_spinner=False, ttl=FRESH, max_entries=VERSIONS_KEPT)
def _lag(
    key: tuple[str | None, ...], pipeline: str, _context: Context, _seen: Cluster
) -> LandscapePipeline | None:
    return read_lag(_context, pipeline, _seen)


def versions(context: Context, pipeline: str) -> tuple[VersionRow, ...]:
    """Return a pipeline's stored versions, newest first."""
    return tuple(reversed(list(list_versions(context, pipeline))))


@st.cache_data(show_spinner=False, ttl=FRESH_EVIDENCE, max_entries=VERSIONS_KEPT)
def why_not_stored(registry: str | None, pipeline: str, _context: Context) -> str | None:
    """Return why nothing of a registered pipeline could be read, None where nothing is wrong."""
    found = _context.registry.pipeline(pipeline)
    if found is None or found.engine is Engine.KAFKA_STREAMS:
        return None
    try:
        read_registered(_context, found)
    except HeadgateError as error:
        return str(error)
    return None


def stored_version(context: Context, pipeline: str, number: int) -> Version:
    """Return a stored version; it never changes, so it is kept."""
    return version(context, (f"{pipeline}@{number}",))


def version(context: Context, evidence: Sequence[str], query: str | None = None) -> Version:
    """Return the version that a stored name, uploads or locations describe.

    Raises EvidenceError if they describe none.
    """
    if len(evidence) == 1 and _NUMBERED.search(evidence[0]):
        return _version(context.store_url, tuple(evidence), context)
    found = survey(context, tuple(evidence), query)
    if found.version is None:
        names = ", ".join(q.name or q.id for q in found.queries)
        several = f"the evidence has several queries. Choose one of {names}"
        raise EvidenceError(found.problem or several)
    return found.version


@st.cache_data(show_spinner=False, max_entries=VERSIONS_KEPT)
def _version(store: str, evidence: tuple[str, ...], _context: Context) -> Version:
    return read_version(list(evidence), context=_context)


def survey(context: Context, evidence: tuple[str, ...], query: str | None = None) -> Survey:
    """Return what evidence is and contains; large evidence is read in a process of its own."""
    return _survey(evidence, query, _moment(evidence), context)


# Shared and not copied, as everything frozen can be.
@st.cache_resource(show_spinner=False, max_entries=VERSIONS_KEPT)
def _survey(evidence: tuple[str, ...], query: str | None, at: int, _context: Context) -> Survey:
    return read_apart(
        survey_evidence, list(evidence), evidence=evidence, context=_context, query=query
    )


def _moment(evidence: Sequence[str]) -> int:
    """Return what changes with time where the evidence may: uploads and stored versions don't."""
    lasting = session_folder()
    fixed = all(e.startswith(lasting) or _NUMBERED.search(e) for e in evidence)
    return 0 if fixed else int(time.time() // FRESH_EVIDENCE)


@st.cache_data(show_spinner=False, ttl=FRESH_EVIDENCE, max_entries=VERSIONS_KEPT)
def _own_query(registry: str | None, pipeline: Pipeline, _context: Context) -> OwnQuery:
    return own_query(pipeline, _context)


def own_query_of(context: Context, pipeline: Pipeline) -> OwnQuery:
    """Return which query is a registered pipeline's, as it was within the last seconds."""
    return _own_query(context.registry.path, pipeline, context)


@st.cache_data(show_spinner=False, ttl=FRESH, max_entries=VERSIONS_KEPT)
def _pipeline_facts(registry: str | None, pipeline: Pipeline, _context: Context) -> Facts:
    return pipeline_facts(_context, pipeline)


def pipeline_facts_of(context: Context, pipeline: Pipeline) -> Facts:
    """Return what is known of a pipeline without a plan, as it was within the last seconds."""
    return _pipeline_facts(context.registry.path, pipeline, context)


def progress(
    context: Context, evidence: tuple[str, ...], query: str | OwnQuery | None = None
) -> tuple[BatchProgress, ...]:
    """Return the batches in the evidence, oldest first."""
    return _progress(evidence, query, _moment(evidence), context)


# Not copied for each look, as cached data would be: there may be a hundred thousand batches.
@st.cache_resource(show_spinner=False, max_entries=8)
def _progress(
    evidence: tuple[str, ...], query: str | OwnQuery | None, at: int, _context: Context
) -> tuple[BatchProgress, ...]:
    return read_apart(
        read_progress, list(evidence), evidence=evidence, context=_context, query=query
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two versions and what a restart of the second on the first's state would do.

    `not_asked` is why the report was judged without Kafka, None where it was asked.
    """

    before: Version
    after: Version
    report: Report
    not_asked: str | None = None


def comparison(
    context: Context, before: Given, after: Given, renames: tuple[str, ...] = ()
) -> Comparison:
    """Return both versions and the report, judged against Kafka as it was a moment ago.

    `renames` are `KIND:OLD=NEW`; RenameError where one of them is none.
    """
    seen = cluster(context)
    found = _comparison(
        context.store_url, before.evidence, before.query, after.evidence, after.query,
        _moment((*before.evidence, *after.evidence)), _minute(seen), renames, context, seen,
    )  # fmt: skip
    key = (context.registry.path, context.registry.schema_registry_url)
    around = _downstream(
        key, before.evidence, after.evidence, _moment((*before.evidence, *after.evidence)),
        _minute(seen), renames, found, context,
    )  # fmt: skip
    report = with_acceptances(
        around, found.before, found.after,
        context=context, evidence=(*before.evidence, *after.evidence),
    )  # fmt: skip
    found = replace(found, report=report)
    if seen.cluster or found.not_asked or not any(map(_reads_kafka, (found.before, found.after))):
        return found
    return replace(found, not_asked=seen.problem or "Kafka has not responded yet.")


@st.cache_data(show_spinner=False, ttl=FRESH_SCHEMA, max_entries=VERSIONS_KEPT)
def _downstream(
    key: tuple[str | None, ...],
    before: tuple[str, ...],
    after: tuple[str, ...],
    at: int,
    seen_at: str | None,
    renames: tuple[str, ...],
    _found: Comparison,
    _context: Context,
) -> Report:
    """Return the report with what pipelines downstream and the schema registry add to it."""
    return judge_downstream(_found.report, _found.before, _found.after, _context)


def _reads_kafka(version: Version) -> bool:
    kafka = (s.format == "kafka" or s.topics for s in version.sources or ())
    return version.engine is not Engine.SPARK or any(kafka)


def _minute(seen: ClusterSnapshot) -> str | None:
    """Return what a comparison is kept by: a snapshot is good for a minute."""
    return f"{seen.cluster.id} {seen.cluster.at[:16]}" if seen.cluster else None


@st.cache_data(show_spinner=False, max_entries=VERSIONS_KEPT)
def _comparison(
    store: str,
    before: tuple[str, ...],
    before_query: str | None,
    after: tuple[str, ...],
    after_query: str | None,
    at: int,
    seen_at: str | None,
    renames: tuple[str, ...],
    _context: Context,
    _seen: ClusterSnapshot,
) -> Comparison:
    read = version(_context, before, before_query), version(_context, after, after_query)
    old, new = identified(read, _context, (*before, *after))
    if _seen.cluster is None:
        return Comparison(old, new, compare_read(old, new, None, renames))
    judged = with_offsets_now(before, old, _context)
    # The snapshot that all pages share may be older than the checkpoint: a query that continued
    # since would look as if its offsets were beyond the end.
    try:
        now = reread_cluster(_context, _seen.cluster, judged, new)
    except HeadgateError as error:
        return Comparison(old, new, compare_read(judged, new, None, renames), str(error))
    return Comparison(old, new, compare_read(judged, new, now, renames))
