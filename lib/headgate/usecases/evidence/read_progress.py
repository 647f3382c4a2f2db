"""Read the progress reports of a query's batches, as a time series."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec

from headgate.errors import QueryChoiceError
from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.progress import BatchProgress
from headgate.parse.evidence.assemble import Gathered, logs_of
from headgate.parse.spark.event_log.version import queries
from headgate.parse.spark.session import query_progress
from headgate.usecases.context import Context
from headgate.usecases.evidence.choose_query import SHORTEST, full_id, listing
from headgate.usecases.evidence.own_query import OwnQuery
from headgate.usecases.evidence.query_rows import queries_of
from headgate.usecases.evidence.read_version import gather

MOST = 20_000


def read_progress(
    evidence: Sequence[str],
    *,
    context: Context | None = None,
    query: str | OwnQuery | None = None,
    most: int = MOST,
) -> tuple[BatchProgress, ...]:
    """Return the newest `most` batches of one query, oldest first; empty without a report.

    Progress JSON, event logs and watches have reports. `query` is a name or an id. Of several
    queries with the same name, the newest is used. EvidenceError if there are several queries and
    `query` doesn't choose one, or if no query has it. Otherwise raises the errors of
    `read_version`.
    """
    chooser = _Chooser(query)
    found = gather(evidence, context=context, keep=chooser.keep)
    batches = [b for r in _reports(found) if (b := _read(r)) is not None]
    ids = _meant(found, batches, query)
    once = {(b.run_id, b.batch, b.at): b for b in batches if b.query_id in ids}
    return tuple(sorted(once.values(), key=lambda b: b.at)[-most:])


class _Chooser:
    """Says whose reports a log keeps: those of the requested query, else of the first one."""

    def __init__(self, query: str | OwnQuery | None) -> None:
        self._wanted = _words(query)
        self._only = query is None or (isinstance(query, OwnQuery) and query.name is None)
        self._first: str | None = None

    def keep(self, query_id: str, name: str | None) -> bool:
        """Whether the reports of this query are wanted."""
        if any(_is_word_of(word, query_id, name) for word in self._wanted):
            return True
        self._first = self._first or query_id
        return self._only and query_id == self._first


def _words(query: str | OwnQuery | None) -> tuple[str, ...]:
    if isinstance(query, OwnQuery):
        return query.words
    return () if query is None else (query,)


def _is_word_of(word: str, query_id: str, name: str | None) -> bool:
    begins = len(word) >= SHORTEST and query_id.startswith(word.lower())
    return begins or word in (query_id, name)


def _reports(found: Gathered) -> Iterator[Any]:
    for piece in found.pieces:
        if piece.kind is EvidenceKind.PROGRESS:
            yield from piece.value
    for log in logs_of(found):
        for run in log.runs:
            yield from map(_decoded, run.reports)


def _decoded(report: bytes) -> Any:
    try:
        return msgspec.json.decode(report)
    except (ValueError, RecursionError):
        return None


def _read(report: Any) -> BatchProgress | None:
    """Return a report's batch; None for one of another shape, which a warning names."""
    try:
        return query_progress.read_progress(report)
    except (ValueError, AttributeError, TypeError):
        return None


def _meant(
    found: Gathered, batches: Sequence[BatchProgress], query: str | OwnQuery | None
) -> set[str]:
    """Return the id of the query that is meant; none if the evidence holds no query."""
    known: dict[str, str | None] = {c.query_id: None for _, c in found.checkpoints if c.query_id}
    checkpoints = set(known)
    for batch in batches:
        known[batch.query_id] = batch.name or known.get(batch.query_id)
    known |= {q.id: q.name for q in queries(logs_of(found))}
    for word in _words(query):
        full = full_id(found, word)
        meant = {i for i, name in known.items() if full in (i, name)}
        if meant:
            return _newest(found, meant)
    if isinstance(query, OwnQuery):
        return _only(found, query, known)
    if query is not None and known:
        sentence = f"no query {query!r} in the evidence. Queries in the evidence"
        raise QueryChoiceError(sentence, listing(queries_of(found)))
    if len(known) > 1 and len(checkpoints) == 1:
        return checkpoints
    if len(known) > 1:
        sentence = f"the evidence has {len(known)} queries. Choose one with --query"
        raise QueryChoiceError(sentence, listing(queries_of(found)))
    return set(known)


def _newest(found: Gathered, meant: set[str]) -> set[str]:
    """Return the query that was seen last: a reset gives a query another id under its old name."""
    if len(meant) == 1:
        return meant
    seen = {row.id: row.last_seen or "" for row in queries_of(found)}
    return {max(meant, key=lambda i: seen.get(i, ""))}


def _only(found: Gathered, query: OwnQuery, known: Collection[str]) -> set[str]:
    """Return the only query for a pipeline whose query nothing names."""
    if len(known) > 1 or (known and query.name is not None):
        raise QueryChoiceError(query.not_found(len(known)), listing(queries_of(found)))
    return set(known)
