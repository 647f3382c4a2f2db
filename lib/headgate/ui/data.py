"""What pages read, kept for as long as it stays true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from headgate.compat.report import Report
from headgate.landscape.landscape import Landscape
from headgate.model.version import Version
from headgate.store.versions import VersionRow
from headgate.ui.watch import FRESH, ClusterWatch, Seen
from headgate.usecases.compare_versions import compare_versions
from headgate.usecases.context import Context
from headgate.usecases.list_versions import list_versions
from headgate.usecases.read_cluster import read_cluster
from headgate.usecases.read_version import read_version
from headgate.usecases.show_landscape import show_landscape

VERSIONS_KEPT = 64


def cluster(context: Context) -> Seen:
    """Return Kafka as seen within the last seconds, or why not."""
    if not context.registry.bootstrap_servers:
        return Seen(None, "No Kafka is configured: set bootstrap_servers under [kafka].")
    return _watch(_settings(context), context).latest()


@st.cache_resource(show_spinner=False)
def _watch(settings: tuple[object, ...], _context: Context) -> ClusterWatch:
    return ClusterWatch(lambda: read_cluster(_context))


def _settings(context: Context) -> tuple[object, ...]:
    registry = context.registry
    return registry.bootstrap_servers, tuple(sorted(registry.kafka.items()))


def landscape(context: Context, seen: Seen) -> Landscape:
    """Return the landscape as it was within the last seconds."""
    at = seen.cluster.at if seen.cluster else None
    return _landscape((context.registry.path, context.store_url, at), context, seen)


@st.cache_data(show_spinner=False, ttl=FRESH, max_entries=4)
def _landscape(key: tuple[str | None, ...], _context: Context, _seen: Seen) -> Landscape:
    return show_landscape(_context, _seen.cluster)


def versions(context: Context, pipeline: str) -> tuple[VersionRow, ...]:
    """Return a pipeline's stored versions, newest first."""
    return tuple(reversed(list(list_versions(context, pipeline))))


def stored_version(context: Context, pipeline: str, number: int) -> Version:
    """Return a stored version; it never changes, so it is kept."""
    return _version(context.store_url, (f"{pipeline}@{number}",), context)


def version(context: Context, evidence: Sequence[str]) -> Version:
    """Return the version that stored names or uploaded files tell of."""
    return _version(context.store_url, tuple(evidence), context)


@st.cache_data(show_spinner=False, max_entries=VERSIONS_KEPT)
def _version(store: str, evidence: tuple[str, ...], _context: Context) -> Version:
    return read_version(list(evidence), context=_context)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two versions and what a restart of the second on the first's state would do."""

    before: Version
    after: Version
    report: Report


@st.cache_data(show_spinner=False, max_entries=VERSIONS_KEPT)
def _comparison(
    store: str, before: tuple[str, ...], after: tuple[str, ...], _context: Context
) -> Comparison:
    report = compare_versions(list(before), list(after), context=_context)
    return Comparison(_version(store, before, _context), _version(store, after, _context), report)


def comparison(context: Context, before: Sequence[str], after: Sequence[str]) -> Comparison:
    """Return both versions and the report; evidence is named as on the command line."""
    return _comparison(context.store_url, tuple(before), tuple(after), context)
