"""The recorded upgrades of Kafka Streams 4.3.1, both versions of each, against the broker's list.

What was on the broker after the old version ran is a measurement of its own: the changelogs and
repartition topics that a description implies must be those.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headgate.model.topology import NodeKind
from headgate.parse.kafka_streams.version import unread
from headgate.usecases.evidence.read_version import read_version

CASES = sorted((Path(__file__).parents[2] / "cases" / "kafka_streams").iterdir())
SIDES = [case / side for case in CASES for side in ("before", "after")]

# Stores of these old versions have logging switched off, which no description shows.
WITHOUT_LOGGING = {
    "U17e_remove_first_subtopology_nolog": "counts",
    "U23c_logging_enabled_then_wiped": "counts",
    "U23f_logging_enabled_then_wiped_cold_key": "counts",
}


def said(folder):
    return json.loads((folder / "config.json").read_text())


@pytest.mark.parametrize("folder", SIDES, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_a_version_holds_everything_that_its_files_say(folder):
    version = read_version([str(folder)])
    app = version.streams
    text = (folder / "describe.txt").read_text()
    assert app.application_id == version.name == said(folder)["application.id"]
    assert app.config == said(folder)
    assert len(app.processors) == sum(
        line.lstrip().startswith(("Source: ", "Processor: ", "Sink: "))
        for line in text.splitlines()
    )
    assert {s.name for s in app.stores} == stores_in(text)
    assert app.said_inputs == json.loads((folder / "input_topics.json").read_text())
    read = {t for s in app.sources for t in s.topics}
    assert set(app.inputs) == read
    kinds = {e.kind for e in version.evidence}
    assert {"describe", "streams-config", "input-topics"} <= kinds
    assert not [
        w for w in version.warnings if not w.startswith("the topology has no store or repartition")
    ]


def stores_in(text):
    lists = [
        line.split("(stores: [")[1].split("]")[0] for line in text.splitlines() if "stores:" in line
    ]
    return {name for names in lists for name in names.split(", ") if name}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_topics_that_a_description_implies_are_those_on_the_broker(case):
    app = read_version([str(case / "before")]).streams
    on_broker = {
        t["name"]: t for t in json.loads((case / "before/internal_topics.json").read_text())
    }
    assert {t.name: t.partitions for t in app.internal} == {
        name: topic["partitions"] for name, topic in on_broker.items()
    }
    unlogged = WITHOUT_LOGGING.get(case.name)
    missing = {f"{app.application_id}-{unlogged}-changelog"} if unlogged else set()
    assert app.expected_topics().keys() - missing == on_broker.keys()
    assert missing.isdisjoint(on_broker)


@pytest.mark.slow
def test_share_of_generic_nodes(capsys):
    nodes, generic = 0, set()
    for folder in SIDES:
        topology = read_version([str(folder)]).topology
        nodes += sum(n.kind is NodeKind.TRANSFORM for n in topology.nodes)
        generic |= {(folder.parent.name[:4], folder.name, n.label) for n in unread(topology)}
    with capsys.disabled():
        print(f"\nKafka Streams cases: {len(generic)} of {nodes} transforms named by code alone")
    processors = {
        (c, side, "cnt") for c in ("U25c", "U25d", "U25g") for side in ("before", "after")
    }
    assert generic == {*processors, ("U02c", "after", "trim")}
