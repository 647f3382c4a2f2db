"""The streaming queries in evidence, one row for each query."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from headgate.model.evidence_kinds import EvidenceKind
from headgate.parse.evidence.assemble import Gathered, logs_of
from headgate.parse.spark.event_log.version import LoggedQuery, queries
from headgate.parse.spark.session.query_progress import read_progress

# A waiting query says so at least every ten seconds; a log is written with some delay.
_SILENT = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRow:
    """One query; times are ISO 8601 in UTC, None if the evidence doesn't have them.

    `state` is `running` if the last run has no end and its newest event is less than ten minutes
    old, else `stopped`, `failed` or `unknown`: the log of a killed driver has no end either.
    `batches` is the number of reported batches, `runs` the number of starts.
    """

    id: str
    name: str | None = None
    runs: int = 1
    first_seen: str | None = None
    last_seen: str | None = None
    state: str = "unknown"
    batches: int | None = None


def queries_of(found: Gathered) -> tuple[QueryRow, ...]:
    """Return the queries in evidence that was already read."""
    rows = {row.id: row for row in _checkpoints(found)}
    rows |= {row.id: row for row in _reported(found)}
    rows |= {query.id: _logged(query, datetime.now(UTC)) for query in queries(logs_of(found))}
    return tuple(sorted(rows.values(), key=lambda r: r.first_seen or ""))


def _logged(query: LoggedQuery, now: datetime) -> QueryRow:
    runs = [r.run for r in query.runs]
    return QueryRow(
        id=query.id,
        name=query.name,
        runs=len(runs),
        first_seen=runs[0].started_at,
        last_seen=max((r.seen_at for r in runs if r.seen_at), default=None),
        state=_state(query, now),
        batches=sum(r.batches for r in runs),
    )


def _state(query: LoggedQuery, now: datetime) -> str:
    newest = query.runs[-1]
    if newest.run.ended:
        return "failed" if newest.run.exception or newest.run.error_class else "stopped"
    if newest.application.ended_at is not None:
        return "stopped"
    seen = newest.run.seen_at
    try:
        is_fresh = seen is not None and now - datetime.fromisoformat(seen) < _SILENT
    except (ValueError, TypeError):
        is_fresh = False
    return "running" if is_fresh else "unknown"


def _reported(found: Gathered) -> list[QueryRow]:
    """Return what progress reports say; they know no end."""
    rows: dict[str, QueryRow] = {}
    runs: dict[str, set[str]] = {}
    for report in (r for p in found.pieces if p.kind is EvidenceKind.PROGRESS for r in p.value):
        try:
            batch = read_progress(report)
        except ValueError:
            continue
        runs.setdefault(batch.query_id, set()).add(batch.run_id)
        known = rows.get(batch.query_id)
        rows[batch.query_id] = QueryRow(
            id=batch.query_id,
            name=batch.name or (known.name if known else None),
            runs=len(runs[batch.query_id]),
            first_seen=min(known.first_seen or batch.at, batch.at) if known else batch.at,
            last_seen=max(known.last_seen or batch.at, batch.at) if known else batch.at,
            batches=(known.batches or 0) + 1 if known else 1,
        )
    return list(rows.values())


def _checkpoints(found: Gathered) -> list[QueryRow]:
    ids = dict.fromkeys(c.query_id for _, c in found.checkpoints if c.query_id)
    return [QueryRow(id=i) for i in ids]
