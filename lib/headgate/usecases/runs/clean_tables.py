"""Drop database tables of runs that no undo needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from headgate.gateway.postgres.connect import connected
from headgate.gateway.postgres.replace_rows import drop, sizes
from headgate.store import Store
from headgate.store.rows import RunFacts
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import CLEAN
from headgate.usecases.runs.clean_checkpoint_locations import Cleaned

_NAMES = ("staged", "before", "after")
_MORE = "touched"


def clean_tables(
    context: Context, store: Store, is_over: Callable[[RunFacts], bool], *, by: str, dry: bool
) -> Iterator[Cleaned]:
    """Yield the dropped tables: those that the run's journal names and that have the run's id.

    RefusedError if headgate.toml no longer has the database, UnreachableError if it doesn't
    respond.
    """
    for database, tables in sorted(_made(store, is_over).items()):
        with connected(database, context.registry.jdbc.get(database)) as connection:
            found = sizes(connection, tables)
            # Said first: an undo that is asked for from here on is refused with this reason.
            for run in sorted({tables[table] for table in found} if not dry else ()):
                row = store.runs.get(run)
                store.audit.add(by=by, action=CLEAN, pipeline=row.pipeline, run=run)
            for schema, name in found if not dry else ():
                drop(connection, schema, [name])
        for table in sorted(found):
            yield Cleaned(tables[table], f"jdbc:{database}.{'.'.join(table)}", found[table])


def _made(
    store: Store, is_over: Callable[[RunFacts], bool]
) -> dict[str, dict[tuple[str, str], str]]:
    """Return schema and name of the tables of each database, with the run that created them."""
    made: dict[str, dict[tuple[str, str], str]] = {}
    for row in store.runs.list():
        found = [t for e in store.journal.entries(row.id) for t in _of(row.id, e.data)]
        if found and is_over(row):
            for database, schema, name in found:
                made.setdefault(database, {})[schema, name] = row.id
    return made


def _of(run: str, data: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    was = data.get("was") or {}
    if not {"connection", "schema", *_NAMES} <= was.keys():
        return
    for word in (*_NAMES, _MORE):
        # Whatever a journal says: only what a run gives its own tables is dropped.
        if was.get(word) == f"headgate_{word}_{run.replace('-', '_')}":
            yield was["connection"], was["schema"], was[word]
