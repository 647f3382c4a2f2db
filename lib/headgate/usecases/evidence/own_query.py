"""Which query in evidence with several queries belongs to a registered pipeline."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.errors import HeadgateError
from headgate.gateway.files.evidence_files import find, read
from headgate.model.registered_pipelines import Pipeline
from headgate.text.json_text import read_json
from headgate.usecases.context import Context

_METADATA = 64 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnQuery:
    """Identifies a pipeline's query: first by the checkpoint's query id, then by a name.

    After `from-scratch`, a query has a new checkpoint: its name stays the same, its id changes. So
    evidence can have several queries with one name, of which the newest is used.
    """

    pipeline: str
    query_id: str | None = None
    name: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """Ids and names to look for, in this order; the first one that the evidence has is used."""
        own = self.name if self.name is not None else self.pipeline
        return (self.query_id, own) if self.query_id else (own,)

    def not_found(self, count: int) -> str:
        """Return the message for evidence with `count` queries, none of which is the pipeline's."""
        if self.name is not None:
            return (
                f"the evidence has no query {self.name!r}. Set `query` of {self.pipeline} in "
                "headgate.toml to one of these"
            )
        return (
            f"the evidence has {count} queries. Set `query` of {self.pipeline} in headgate.toml to "
            "one of these"
        )


def own_query(pipeline: Pipeline, context: Context) -> OwnQuery:
    """Return what identifies the pipeline's query; of a checkpoint, only the query id is read."""
    known = query_id_of(pipeline.checkpoint, context) if pipeline.checkpoint else None
    return OwnQuery(pipeline=pipeline.name, query_id=known, name=pipeline.query)


def query_id_of(checkpoint: str, context: Context) -> str | None:
    """Return the query id in a checkpoint, None if it can't be read."""
    try:
        place = find(f"{checkpoint.rstrip('/')}/metadata", context.registry.file_systems)
        found = read_json(read(place, _METADATA)) if place else None
    except (HeadgateError, ValueError):
        return None
    return str(found["id"]) if isinstance(found, dict) and "id" in found else None
