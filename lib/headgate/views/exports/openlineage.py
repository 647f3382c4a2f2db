"""OpenLineage events: one job for each pipeline, a dataset for each topic, file and table.

A version that was seen running is a run event of type RUNNING; one that was only captured is a
job event, which claims no run. Nothing says when a run ended, so no event does. Datasets have
columns only where the evidence has them. The package `openlineage-python` is optional.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from headgate import __version__
from headgate.errors import SetupError
from headgate.landscape.pipeline_topics import matcher, reads, writes
from headgate.model.sinks import sink_format
from headgate.model.state_schema import Field, type_text
from headgate.model.topology import Node, NodeKind
from headgate.model.version import Engine, Version

if TYPE_CHECKING:
    from openlineage.client.event_v2 import Dataset, Job, JobEvent, RunEvent

NAMESPACE = "headgate"
PRODUCER = f"urn:headgate:{__version__}"
UNKNOWN_CLUSTER = "unknown"
MISSING = (
    "OpenLineage events need the optional package openlineage-python, which is not installed:"
    " pip install 'headgate[openlineage]'"
)
_RUNS = uuid.UUID("9c7a3c62-5a2c-5f0e-9d1e-6f1f3f0a7b11")
INTEGRATION = {
    Engine.SPARK: "SPARK",
    Engine.KAFKA_STREAMS: "KAFKA_STREAMS",
    Engine.CONSUMER_GROUP: "KAFKA",
}


@dataclass(frozen=True, slots=True)
class Sighting:
    """A version of a pipeline, and whether it was seen running; `number` in the store."""

    pipeline: str
    version: Version
    owner: str | None = None
    description: str | None = None
    number: int | None = None
    observed: bool = False


def lineage(sightings: Iterable[Sighting], *, bootstrap: str | None = None) -> str:
    """Return the events, one JSON object a line, in the order given.

    SetupError where openlineage-python is not installed. Where neither a version nor `bootstrap`
    (`host:port`, several by commas) names the cluster, its host is `unknown`.
    """
    try:
        from openlineage.client.serde import Serde
    except ImportError as error:
        raise SetupError(MISSING) from error
    made = (_event(s, bootstrap) for s in sightings)
    return "".join(f"{Serde.to_json(event)}\n" for event in made)


def _event(seen: Sighting, bootstrap: str | None) -> JobEvent | RunEvent:
    from openlineage.client.event_v2 import JobEvent, Run, RunEvent, RunState

    inputs, outputs = _datasets(seen.version, bootstrap)
    about: dict[str, Any] = {
        "eventTime": seen.version.captured_at or datetime.now(UTC).isoformat(),
        "producer": PRODUCER,
        "job": _job(seen),
        "inputs": inputs,
        "outputs": outputs,
    }
    if not seen.observed:
        return JobEvent(**about)
    run = Run(runId=str(uuid.uuid5(_RUNS, f"{seen.pipeline}@{seen.number}")), facets=_run(seen))
    return RunEvent(eventType=RunState.RUNNING, run=run, **about)


def _job(seen: Sighting) -> Job:
    from openlineage.client.event_v2 import Job
    from openlineage.client.facet_v2 import documentation_job, job_type_job, ownership_job

    facets: dict[str, Any] = {
        "jobType": job_type_job.JobTypeJobFacet(
            processingType="STREAMING",
            integration=INTEGRATION[seen.version.engine],
            jobType="QUERY" if seen.version.engine is Engine.SPARK else "APPLICATION",
            producer=PRODUCER,
        )
    }
    if seen.owner:
        owners = [ownership_job.Owner(name=f"team:{seen.owner}", type="OWNER")]
        facets["ownership"] = ownership_job.OwnershipJobFacet(owners=owners, producer=PRODUCER)
    if seen.description:
        facets["documentation"] = documentation_job.DocumentationJobFacet(
            description=seen.description, producer=PRODUCER
        )
    return Job(namespace=NAMESPACE, name=seen.pipeline, facets=facets)


def _run(seen: Sighting) -> dict[str, Any]:
    from openlineage.client.facet_v2 import processing_engine_run

    if not seen.version.engine_version:
        return {}
    return {
        "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
            version=seen.version.engine_version,
            name=seen.version.engine.value,
            openlineageAdapterVersion=__version__,
            producer=PRODUCER,
        )
    }


@dataclass(frozen=True, slots=True)
class _DatasetName:
    """Namespace and name of a dataset, as OpenLineage's naming rules have them."""

    namespace: str
    name: str


def _datasets(version: Version, bootstrap: str | None) -> tuple[list[Any], list[Any]]:
    from openlineage.client.event_v2 import InputDataset, OutputDataset

    cluster = _cluster(version, bootstrap)
    topics = [_DatasetName(cluster, j.topic) for j in reads(version, matcher(()))]
    targets = [_DatasetName(cluster, j.topic) for j in writes(version)]
    read = dict.fromkeys([*topics, *_files(version, NodeKind.SOURCE)])
    written = dict.fromkeys([*targets, *_files(version, NodeKind.SINK)])
    columns = _sink_columns(version)
    return (
        [_dataset(InputDataset, place, ()) for place in read],
        [_dataset(OutputDataset, place, columns) for place in written],
    )


def _dataset(kind: Any, place: _DatasetName, columns: tuple[Field, ...]) -> Dataset:
    from openlineage.client.facet_v2 import schema_dataset

    facets: dict[str, Any] = {}
    if columns:
        fields = [
            schema_dataset.SchemaDatasetFacetFields(name=c.name, type=type_text(c.type))
            for c in columns
        ]
        facets["schema"] = schema_dataset.SchemaDatasetFacet(fields=fields, producer=PRODUCER)
    made: Dataset = kind(namespace=place.namespace, name=place.name, facets=facets)
    return made


def _cluster(version: Version, bootstrap: str | None) -> str:
    """The first server that the version's own options name, else the registry's."""
    options = [s.options for s in version.sources or ()]
    options += [version.sink.options] if version.sink else []
    own = next((v for o in options for k, v in o.items() if k.endswith("bootstrap.servers")), None)
    host = (own or bootstrap or UNKNOWN_CLUSTER).split(",")[0].strip()
    return f"kafka://{host or UNKNOWN_CLUSTER}"


def _sink_columns(version: Version) -> tuple[Field, ...]:
    """A file's or a table's columns; a topic has keys and values, and no evidence shows them."""
    sink = version.sink
    if sink is None or sink.schema is None or sink.format == "kafka":
        return ()
    return sink.schema.fields


def _files(version: Version, kind: NodeKind) -> Iterator[_DatasetName]:
    for node in version.topology.nodes:
        if node.kind is kind and (place := _dataset_name(node)):
            yield place


def _dataset_name(node: Node) -> _DatasetName | None:
    """The location of a source or sink that isn't a topic; None if it has no lasting one."""
    details = node.details
    path = details.get("path") or (
        details.get("target") if sink_format(details.get("format")).has_path else None
    )
    if not isinstance(path, str) or not path:
        return None
    parts = urlsplit(path)
    if parts.scheme and parts.netloc:
        return _DatasetName(f"{parts.scheme}://{parts.netloc}", parts.path.lstrip("/") or "/")
    return _DatasetName("file", parts.path if parts.scheme == "file" else path)
