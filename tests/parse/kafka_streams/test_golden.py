"""Descriptions as Kafka Streams 4.3.1 prints them, against what the code that made them says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headgate.model.topology import NodeKind
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise
from headgate.parse.kafka_streams.version import unread
from support.streams_expected import EXPECTED, UNREAD

FOLDER = Path(__file__).parents[2] / "golden" / "streams" / "4.3.1"
_COUNTER = re.compile(r"-\d{10}")


def version_of(text, *, config=b'{"application.id": "app"}'):
    pieces = [recognise(d, path=p) for d, p in ((text, "describe.txt"), (config, "config.json"))]
    return assemble(Gathered(pieces=pieces))


def marked(name, number):
    return ("!" if number is None else "~") + _COUNTER.sub("", name)


def test_every_golden_description_has_an_expectation():
    assert {f.stem for f in FOLDER.glob("*.txt")} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_everything_is_read_as_the_code_has_it(name):
    version = version_of((FOLDER / f"{name}.txt").read_bytes())
    operators, stores, repartitions, subtopologies = EXPECTED[name]
    app, topology = version.streams, version.topology
    transforms = [n.operator for n in topology.nodes if n.kind is NodeKind.TRANSFORM]
    assert sorted(transforms) == sorted(operators)
    assert sorted(marked(s.name, s.number) for s in app.stores) == sorted(stores)
    assert sorted(marked(r.name, r.number) for r in app.repartitions) == sorted(repartitions)
    assert len({p.subtopology for p in app.processors}) == subtopologies
    assert version.warnings == ()
    assert len(unread(topology)) == UNREAD.get(name, 0)


@pytest.mark.parametrize("name", EXPECTED)
def test_what_outside_is_read_and_written(name):
    app = version_of((FOLDER / f"{name}.txt").read_bytes()).streams
    assert {t for s in app.sources for t in s.topics} <= {"in", "in2"}
    assert {s.topic for s in app.sinks} <= {"out", "out2", None}
    assert [s.pattern for s in app.sources if s.pattern] == (
        ["in.*"] if name == "pattern_source" else []
    )
    extractors = [s.extractor for s in app.sinks if s.extractor]
    assert extractors == (["TestApplication$$Lambda"] if name == "dynamic_sink" else [])
    assert any(s.is_global for s in app.stores) == ("global" in name)


@pytest.mark.parametrize("name", EXPECTED)
def test_every_node_has_one_id_and_every_edge_two_ends(name):
    topology = version_of((FOLDER / f"{name}.txt").read_bytes()).topology
    ids = [n.id for n in topology.nodes]
    assert len(set(ids)) == len(ids)
    assert {i for e in topology.edges for i in (e.source, e.target)} <= set(ids)
    joined = {i for e in topology.edges for i in (e.source, e.target)}
    assert joined == set(ids)


def test_a_changelog_is_expected_under_its_exact_name():
    app = version_of((FOLDER / "aggregate_named.txt").read_bytes()).streams
    assert [(s.name, s.changelog) for s in app.stores] == [("counts", "app-counts-changelog")]
    assert [r.topic for r in app.repartitions] == ["app-by-value-repartition"]
    assert (app.repartitions[0].writes_from, app.repartitions[0].reads_into) == ((0,), (1,))


def test_an_optimised_table_restores_from_its_input_and_a_global_one_from_its_topic():
    text = (FOLDER / "optimised_table.txt").read_bytes()
    config = b'{"application.id": "app", "topology.optimization": "all"}'
    (store,) = version_of(text, config=config).streams.stores
    assert (store.changelog, store.restored_from) == (None, "in")
    (plain,) = version_of(text).streams.stores
    assert (plain.changelog, plain.restored_from) == ("app-rows-changelog", None)
    (everywhere,) = version_of((FOLDER / "global_table.txt").read_bytes()).streams.stores
    assert (everywhere.changelog, everywhere.restored_from) == (None, "in")


def test_hostile_names_are_kept_to_the_letter():
    app = version_of((FOLDER / "processor_api.txt").read_bytes()).streams
    names = {p.name for p in app.processors}
    assert names == {
        "orders.source",
        'say "hi" [now] (stores: [x])',
        "two\nlines",
        "<script>alert(1)</script>",
        "a, b",
        "🚀",
        "done --> none",
    }
    assert app.processor("🚀").stores == ("other", "rocket.store")
    assert app.processor("a, b").predecessors == ("<script>alert(1)</script>",)
    assert app.processor("🚀").successors == ("done --> none",)


@pytest.mark.parametrize("name", EXPECTED)
def test_ids_know_neither_counters_nor_the_order_of_reading(name):
    text = (FOLDER / f"{name}.txt").read_text()
    shifted = _COUNTER.sub(lambda m: f"-{int(m[0][1:]) + 7:010d}", text)
    ids = {n.id for n in version_of(text.encode()).topology.nodes}
    assert {n.id for n in version_of(shifted.encode()).topology.nodes} == ids
    assert {n.id for n in version_of(turned(text).encode()).topology.nodes} == ids


def turned(text):
    """The same description with the nodes of each sub-topology in the opposite order."""
    head, *blocks = re.split(r"(?m)^(?=\s*Sub-topology: )", text)
    out = [head]
    for block in blocks:
        first, *nodes = re.split(r"(?m)^    (?=(?:Source|Processor|Sink): )", block)
        out += [first, *(f"    {n.rstrip(chr(10))}\n" for n in nodes[::-1]), "\n"]
    return "".join(out)


def test_share_of_generic_nodes(capsys):
    all_nodes = generic = 0
    for file in sorted(FOLDER.glob("*.txt")):
        topology = version_of(file.read_bytes()).topology
        transforms = [n for n in topology.nodes if n.kind is NodeKind.TRANSFORM]
        all_nodes, generic = all_nodes + len(transforms), generic + len(unread(topology))
        assert all(n.details["read"] is False for n in unread(topology))
    with capsys.disabled():
        print(f"\nKafka Streams golden: {generic} of {all_nodes} transforms named by code alone")
    assert generic == sum(UNREAD.values())
