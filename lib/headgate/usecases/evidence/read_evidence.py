"""Read a pipeline's registered evidence, before any version of the pipeline is stored."""

from __future__ import annotations

from headgate.errors import EvidenceError
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.parse.kafka_streams.from_cluster import with_application_id
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_registered import read_registered
from headgate.usecases.evidence.read_version import read_version


def read_evidence(context: Context, name: str) -> Version | None:
    """Return the version in `evidence` or in a Spark query's watch; Kafka isn't read.

    `name` is a pipeline's name or an application id. None if the pipeline has neither `evidence`
    nor a watch, or if no batch of the query has completed. EvidenceError if the evidence can't be
    read, or is of another engine than the registered one.
    """
    pipeline = context.registry.pipeline(name) or _application(context, name)
    if pipeline is None or not (pipeline.evidence or _is_watched(pipeline)):
        return None
    if pipeline.engine is Engine.SPARK:
        version = read_registered(context, pipeline)
    else:
        version = read_version(list(pipeline.evidence), context=context)
    if version is None or version.engine is pipeline.engine:
        return (
            with_application_id(version, pipeline.group) if version and pipeline.group else version
        )
    raise EvidenceError(
        f"The evidence of {name} is from {version.engine.value}, but headgate.toml says "
        f"{pipeline.engine.value}. Correct `evidence` or `engine`"
    )


def _application(context: Context, group: str) -> Pipeline | None:
    streams = (p for p in context.registry.pipelines if p.engine is Engine.KAFKA_STREAMS)
    return next((p for p in streams if p.group == group), None)


def _is_watched(pipeline: Pipeline) -> bool:
    return pipeline.engine is Engine.SPARK and pipeline.watch is not None
