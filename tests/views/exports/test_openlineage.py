"""OpenLineage events: read back into the package's own classes, and checked field by field."""

from __future__ import annotations

import json
import sys
import uuid
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlsplit

import pytest
from openlineage.client.event_v2 import InputDataset, Job, JobEvent, OutputDataset, Run, RunEvent

from headgate.errors import SetupError
from headgate.model.state_schema import Field, Schema
from headgate.model.version import Sink
from headgate.views.exports.openlineage import Sighting, lineage
from support.console_seed import orders_v1
from views import hostile


def events(*sightings, **more):
    return [json.loads(line) for line in lineage(sightings, **more).splitlines()]


def as_own_class(event):
    """Build the package's class from the JSON: it validates times, ids and the producer."""
    job = Job(namespace=event["job"]["namespace"], name=event["job"]["name"])
    inputs = [InputDataset(namespace=d["namespace"], name=d["name"]) for d in event["inputs"]]
    outputs = [OutputDataset(namespace=d["namespace"], name=d["name"]) for d in event["outputs"]]
    about = {"eventTime": event["eventTime"], "producer": event["producer"], "job": job}
    if "run" in event:
        run = Run(runId=event["run"]["runId"])
        return RunEvent(
            eventType=event["eventType"], run=run, inputs=inputs, outputs=outputs, **about
        )
    return JobEvent(inputs=inputs, outputs=outputs, **about)


def test_an_observed_version_is_a_run_and_a_captured_one_a_job():
    ran, captured = events(
        Sighting("orders", orders_v1(), "sales", "Sums.", 3, observed=True),
        Sighting("orders", orders_v1(), "sales", number=4),
        bootstrap="broker-1:9092,broker-2:9092",
    )
    assert isinstance(as_own_class(ran), RunEvent)
    assert isinstance(as_own_class(captured), JobEvent)
    assert ran["eventType"] == "RUNNING"
    assert "run" not in captured
    uuid.UUID(ran["run"]["runId"])
    assert ran["run"]["facets"]["processing_engine"]["version"] == "4.2.0"
    assert ran["job"]["name"] == "orders"
    facets = ran["job"]["facets"]
    assert facets["jobType"]["processingType"] == "STREAMING"
    assert facets["jobType"]["integration"] == "SPARK"
    assert facets["ownership"]["owners"] == [{"name": "team:sales", "type": "OWNER"}]
    assert facets["documentation"]["description"] == "Sums."
    assert ran["eventTime"] == "2026-11-20T09:12:44+00:00"


def test_datasets_are_topics_of_the_cluster_and_files():
    (event,) = events(Sighting("orders", orders_v1()), bootstrap="broker-1:9092,broker-2:9092")
    assert [(d["namespace"], d["name"]) for d in event["inputs"]] == [
        ("kafka://broker-1:9092", "orders"),
        ("kafka://broker-1:9092", "payments"),
        ("file", "/data/customers"),
    ]
    assert [(d["namespace"], d["name"]) for d in event["outputs"]] == [
        ("kafka://broker-1:9092", "city-revenue")
    ]
    assert not any(d["facets"] for d in (*event["inputs"], *event["outputs"]))


def test_the_versions_own_servers_come_first_and_no_server_is_said():
    v1 = orders_v1()
    own = replace(v1, sources=(replace(v1.sources[0], options={"kafka.bootstrap.servers": "k:1"}),))
    assert events(Sighting("o", own), bootstrap="b:1")[0]["inputs"][0]["namespace"] == "kafka://k:1"
    (nothing,) = events(Sighting("o", v1))
    assert nothing["inputs"][0]["namespace"] == "kafka://unknown"


def test_columns_are_told_only_where_they_are_known():
    columns = Schema((Field("city", "string"), Field("sum", {"type": "array",
                                                             "elementType": "long"})))  # fmt: skip
    nodes = tuple(
        replace(n, details={"format": "parquet", "target": "s3://lake/out/rows"})
        if n.id == "sink" else n
        for n in orders_v1().topology.nodes
    )  # fmt: skip
    v = replace(
        orders_v1(),
        topology=replace(orders_v1().topology, nodes=nodes),
        sink=Sink(format="parquet", target="s3://lake/out/rows", schema=columns, node="sink"),
    )
    (event,) = events(Sighting("o", v))
    (out,) = event["outputs"]
    assert (out["namespace"], out["name"]) == ("s3://lake", "out/rows")
    assert [(f["name"], f["type"]) for f in out["facets"]["schema"]["fields"]] == [
        ("city", "string"), ("sum", "array<long>"),
    ]  # fmt: skip
    assert "columnLineage" not in out["facets"]


def test_hostile_names_stay_one_event_a_line():
    (event,) = events(Sighting('<b>"\n\0😀' + "n" * 5000, hostile.version(), "o\n", "d\0"))
    assert event["job"]["name"] == '<b>"\n\0😀' + "n" * 5000
    as_own_class(event)
    datetime.fromisoformat(event["eventTime"])
    assert urlsplit(event["producer"]).scheme == "urn"


def test_without_the_package_one_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "openlineage.client.serde", None)
    with pytest.raises(SetupError, match=r"pip install 'headgate\[openlineage\]'"):
        lineage([Sighting("o", orders_v1())])
