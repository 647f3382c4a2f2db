"""Export the stored versions of pipelines as OpenLineage events."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing

from headgate.store import open_store
from headgate.store.rows import Origin
from headgate.usecases.context import Context
from headgate.views.exports.openlineage import Sighting, lineage


def export_lineage(context: Context, pipelines: Iterable[str] | None = None) -> str:
    """Return the events of all stored versions, oldest first, one JSON object per line.

    `pipelines` are the names to export, None for all registered pipelines. A pipeline without a
    stored version has no event. SetupError if openlineage-python isn't installed.
    """
    wanted = None if pipelines is None else frozenset(pipelines)
    found: list[Sighting] = []
    with closing(open_store(context.store_url)) as store:
        for pipeline in context.registry.pipelines:
            if wanted is not None and pipeline.name not in wanted:
                continue
            found += [
                Sighting(
                    pipeline=pipeline.name,
                    version=store.versions.get(pipeline.name, row.number),
                    owner=pipeline.owner,
                    description=pipeline.description,
                    number=row.number,
                    observed=row.origin is Origin.OBSERVED,
                )
                for row in store.versions.list(pipeline.name)
            ]
    found.sort(key=lambda s: s.version.captured_at or "")
    return lineage(found, bootstrap=context.registry.bootstrap_servers)
