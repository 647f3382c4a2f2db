"""Read what a query reported of its batches, as a time series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from headgate.errors import QueryChoiceError
from headgate.model.progress import BatchProgress
from headgate.parse.assemble import Gathered, logs_of
from headgate.parse.recognise import PieceKind
from headgate.parse.spark import progress
from headgate.parse.spark.event_log_version import queries
from headgate.usecases.choose_query import SHORTEST, full_id, listing
from headgate.usecases.context import Context
from headgate.usecases.query_rows import queries_of
from headgate.usecases.read_version import gather

MOST = 20_000


def read_progress(
    evidence: Sequence[str],
    *,
    context: Context | None = None,
    query: str | None = None,
    most: int = MOST,
) -> tuple[BatchProgress, ...]:
    """Return the newest `most` batches of one query, oldest first; none where nothing reports any.

    Progress JSON, event logs and watches have them. EvidenceError where there are several queries
    and `query` (a name or an id) is not given, or none has it; else raises as `read_version` does.
    """
    chooser = _Chooser(query)
    found = gather(evidence, context=context, keep=chooser.keep)
    batches = [b for r in _reports(found) if (b := _read(r)) is not None]
    ids = _meant(found, batches, full_id(found, query))
    once = {(b.run_id, b.batch, b.at): b for b in batches if b.query_id in ids}
    return tuple(sorted(once.values(), key=lambda b: b.at)[-most:])


class _Chooser:
    """Says whose reports a log keeps: those asked for, else those of the first query."""

    def __init__(self, query: str | None) -> None:
        self._query = query
        self._first: str | None = None

    def keep(self, query_id: str, name: str | None) -> bool:
        """Whether the reports of this query are asked for."""
        if self._query is not None:
            begins = len(self._query) >= SHORTEST and query_id.startswith(self._query.lower())
            return begins or self._query in (query_id, name)
        self._first = self._first or query_id
        return query_id == self._first


def _reports(found: Gathered) -> Iterator[Any]:
    for piece in found.pieces:
        if piece.kind is PieceKind.PROGRESS:
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
    """Return a report's batch; None for one of another shape, of which a warning tells."""
    try:
        return progress.read_progress(report)
    except (ValueError, AttributeError, TypeError):
        return None


def _meant(found: Gathered, batches: Sequence[BatchProgress], query: str | None) -> set[str]:
    """Return the ids of the query that is meant."""
    known: dict[str, str | None] = {c.query_id: None for _, c in found.checkpoints if c.query_id}
    checkpoints = set(known)
    for batch in batches:
        known[batch.query_id] = batch.name or known.get(batch.query_id)
    known |= {q.id: q.name for q in queries(logs_of(found))}
    if query is not None:
        meant = {i for i, name in known.items() if query in (i, name)}
        if known and not meant:
            sentence = f"no query {query!r} in the evidence; it has"
            raise QueryChoiceError(sentence, listing(queries_of(found)))
        return meant
    if len(known) > 1 and len(checkpoints) == 1:
        return checkpoints
    if len(known) > 1:
        sentence = f"the evidence holds {len(known)} queries, say which with --query"
        raise QueryChoiceError(sentence, listing(queries_of(found)))
    return set(known)
