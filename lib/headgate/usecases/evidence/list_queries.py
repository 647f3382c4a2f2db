"""List the streaming queries that evidence holds: what `--query` chooses from."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.usecases.context import Context
from headgate.usecases.evidence.query_rows import QueryRow as QueryRow
from headgate.usecases.evidence.query_rows import queries_of as queries_of
from headgate.usecases.evidence.read_version import gather


def list_queries(
    evidence: Sequence[str], *, context: Context | None = None
) -> tuple[QueryRow, ...]:
    """Return the queries in the evidence by their first sign; raises as `read_version` does."""
    return queries_of(gather(evidence, context=context))
