"""Read one pipeline's consumer lag as the landscape has it."""

from __future__ import annotations

from dataclasses import replace

from headgate.landscape.landscape import LandscapePipeline
from headgate.model.cluster import Cluster
from headgate.usecases.context import Context
from headgate.usecases.landscape.show_landscape import show_landscape


def read_lag(context: Context, pipeline: str, cluster: Cluster) -> LandscapePipeline | None:
    """Return the pipeline's entry of the landscape, None if it isn't registered.

    Lag has one definition: the latest offsets that `cluster` holds minus the positions that the
    pipeline committed (a group's commits; of a Spark query the checkpoint or its newest progress,
    whichever is newer). What Spark itself reports counts from the begin of a batch.
    """
    registry = context.registry
    only = tuple(p for p in registry.pipelines if p.name == pipeline)
    alone = replace(context, registry=replace(registry, pipelines=only))
    return show_landscape(alone, cluster).pipeline(pipeline)
