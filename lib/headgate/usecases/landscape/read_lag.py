"""Read the consumer lag of one pipeline, as the landscape shows it."""

from __future__ import annotations

from dataclasses import replace

from headgate.landscape.landscape import LandscapePipeline
from headgate.model.cluster import Cluster
from headgate.usecases.context import Context
from headgate.usecases.landscape.show_landscape import show_landscape


def read_lag(context: Context, pipeline: str, cluster: Cluster) -> LandscapePipeline | None:
    """Return the pipeline in the landscape, None if it isn't registered.

    The lag is the latest offsets in `cluster` minus the pipeline's committed offsets. For a Spark
    query, these are the offsets in the checkpoint or in its newest progress report, whichever is
    newer. Spark's own lag is older, because it refers to the start of a batch.
    """
    registry = context.registry
    only = tuple(p for p in registry.pipelines if p.name == pipeline)
    alone = replace(context, registry=replace(registry, pipelines=only))
    return show_landscape(alone, cluster).pipeline(pipeline)
