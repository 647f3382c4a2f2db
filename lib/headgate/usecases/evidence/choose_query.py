"""Choose a query of the evidence by its name, its id, or the first characters of its id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from headgate.errors import EvidenceError, QueryChoiceError
from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.version import Version
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.spark.explain.query_identity import identity_of
from headgate.parse.spark.query.choose_plans import printed
from headgate.text.numbers import plural
from headgate.text.tables import terminal_safe, width

if TYPE_CHECKING:
    from headgate.usecases.evidence.query_rows import QueryRow

SHORTEST = 4
"""Minimum length of a prefix that selects a query id, if only one id starts with the prefix."""
_MOST_LISTED = 20
_SEVERAL = "choose one with --query NAME, ID or the first characters of an ID"


def chosen_version(found: Gathered, query: str | None) -> Version:
    """Return the version of the chosen query; QueryChoiceError if the choice isn't clear."""
    meant = full_id(found, query)
    try:
        version = assemble(found, query=meant)
    except QueryChoiceError as error:
        if error.of_plans:
            raise
        raise QueryChoiceError(error.sentence, listing(_rows(found))) from error
    if query is not None and version.streams is not None:
        raise EvidenceError(
            f"--query {query}: the evidence is of a Kafka Streams application, which has no "
            "queries. Leave out --query"
        )
    return version


def _rows(found: Gathered) -> Sequence[QueryRow]:
    # What reads event logs is imported where somebody has to choose.
    from headgate.usecases.evidence.query_rows import queries_of

    return queries_of(found)


def full_id(found: Gathered, query: str | None) -> str | None:
    """Return the id that starts with `query`, else `query`: a name, an id, `plan-2`, or unknown.

    QueryChoiceError if several ids start with it.
    """
    if query is None or len(query) < SHORTEST:
        return query
    rows = _rows(found)
    known = {row.id: row.name for row in rows} | dict(_planned(found))
    if query in known or query in known.values():
        return query
    begun = [i for i in known if i.startswith(query.lower())]
    if len(begun) > 1:
        sentence = f"{len(begun)} queries have an id that starts with {query!r}; {_SEVERAL}"
        raise QueryChoiceError(sentence, listing([r for r in rows if r.id in begun]))
    return begun[0] if begun else query


def _planned(found: Gathered) -> Iterator[tuple[str, str | None]]:
    """Yield ids and names that plans of running queries carry."""
    for piece in found.pieces:
        if piece.kind is EvidenceKind.EXPLAIN:
            for one in printed(piece.value, piece.path):
                identity = identity_of(one.plans)
                if identity.query_id:
                    yield identity.query_id, identity.name


def listing(rows: Sequence[QueryRow]) -> tuple[str, ...]:
    """Return one line for each query, newest first, and the number of queries beyond 20."""
    newest = sorted(rows, key=lambda r: r.last_seen or "", reverse=True)
    cells = [_cells(r) for r in newest[:_MOST_LISTED]]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(c + " " * (w - width(c)) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    more = len(rows) - len(cells)
    return (*lines, *([f"and {more} more"] if more else []))


def _cells(row: QueryRow) -> tuple[str, ...]:
    return (
        terminal_safe(row.name or "(no name)"),
        terminal_safe(row.id),
        row.state,
        "batches unknown" if row.batches is None else plural(row.batches, "batch"),
        f"last seen {row.last_seen}" if row.last_seen else "",
    )
