"""List the stored versions of pipelines."""

from __future__ import annotations

from contextlib import closing

from headgate.store import open_store
from headgate.store.rows import VersionRow
from headgate.usecases.context import Context


def list_versions(context: Context, pipeline: str | None = None) -> tuple[VersionRow, ...]:
    """Return the versions of one pipeline, or of all, oldest first."""
    with closing(open_store(context.store_url)) as store:
        return tuple(store.versions.list(pipeline))
