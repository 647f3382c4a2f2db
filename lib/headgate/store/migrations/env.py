"""Alembic's entry: migrations run on the connection that `store/migrate.py` hands over."""

from __future__ import annotations

from typing import Any

from alembic import context

from headgate.store.tables import METADATA


def ours(name: str | None, kind: str, _parents: Any) -> bool:
    """Return whether autogenerate may read a table: DBOS keeps its own in the same database."""
    return kind != "table" or name in METADATA.tables


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    include_name=ours,
    # The caller holds one write transaction around everything.
    transactional_ddl=False,
)
context.run_migrations()
