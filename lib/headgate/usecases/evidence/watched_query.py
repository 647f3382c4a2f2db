"""Which of the queries in a watch belongs to a registered pipeline."""

from __future__ import annotations

from headgate.errors import EvidenceError
from headgate.model.registered_pipelines import Pipeline
from headgate.parse.spark.watch.read import Life, Watched
from headgate.usecases.context import Context
from headgate.usecases.evidence.own_query import own_query

_MOST_NAMES = 5


def life_of(pipeline: Pipeline, watched: Watched, context: Context) -> Life | None:
    """Return the newest run of the pipeline's query, None if the watch reports no query.

    The query is found by the checkpoint's query id, else by `query` in headgate.toml, else by the
    pipeline's name, else it is the only one. EvidenceError if none of these decides.
    """
    lives = sorted(watched.lives.values(), key=lambda life: life.told_at or "")
    own = own_query(pipeline, context)
    found = ([x for x in lives if word in (x.query_id, x.name)] for word in own.words)
    mine = next(filter(None, found), [])
    if not mine and not pipeline.query and len({x.query_id for x in lives}) == 1:
        mine = lives
    if lives and not mine:
        names = list(dict.fromkeys(x.name or x.query_id for x in lives))
        shown = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
        kind = "query" if len(names) == 1 else "queries"
        said = f"{pipeline.watch} reports the {kind} {shown}"
        raise EvidenceError(
            f"{said}, but not {pipeline.query}: correct `query` of {pipeline.name} in headgate.toml"
            if pipeline.query
            else f"{said}: set `query` of {pipeline.name} in headgate.toml to choose one"
        )
    return mine[-1] if mine else None
