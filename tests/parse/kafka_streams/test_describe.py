"""Descriptions as they are found in the wild: releases, logs, terminals, mail, cut and mixed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from headgate.errors import EvidenceError
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise
from headgate.parse.kafka_streams.describe import read_description

FOLDER = Path(__file__).parents[2] / "golden" / "streams" / "4.3.1"
PLAIN = (FOLDER / "aggregate_grouped_as.txt").read_text()
FOREIGN = (FOLDER / "foreign_key_join.txt").read_text()
# A node a line, topics without brackets, global stores at the end: text of before 1.0, never run.
OLD = """\
Sub-topologies: 
  Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000(topics: orders, returns) --> KSTREAM-KEY-SELECT-0000000001
    Processor: KSTREAM-KEY-SELECT-0000000001(stores: []) --> KSTREAM-FILTER-0000000005 <-- KSTREAM-SOURCE-0000000000
    Processor: KSTREAM-FILTER-0000000005(stores: []) --> KSTREAM-SINK-0000000004 <-- KSTREAM-KEY-SELECT-0000000001
    Sink: KSTREAM-SINK-0000000004(topic: counts-repartition) <-- KSTREAM-FILTER-0000000005
  Sub-topology: 1
    Source: KSTREAM-SOURCE-0000000006(topics: counts-repartition) --> KSTREAM-AGGREGATE-0000000003
    Processor: KSTREAM-AGGREGATE-0000000003(stores: [counts]) -->  <-- KSTREAM-SOURCE-0000000006
Global Stores:
  GlobalStore: KSTREAM-SOURCE-0000000007(topic: cities) -> KTABLE-SOURCE-0000000008(store: cities)
"""  # noqa: E501, W291
NAMED = """\
Topology: orders:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders])
      --> KSTREAM-AGGREGATE-0000000002
    Processor: KSTREAM-AGGREGATE-0000000002 (stores: [counts])
      --> none
      <-- KSTREAM-SOURCE-0000000000

Topology: returns:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [returns])
      --> KSTREAM-AGGREGATE-0000000002
    Processor: KSTREAM-AGGREGATE-0000000002 (stores: [counts])
      --> none
      <-- KSTREAM-SOURCE-0000000000
"""


def topology(text):
    return read(text).topology


def read(data, path="x"):
    found = recognise(data if isinstance(data, bytes) else data.encode(), path=path)
    return assemble(Gathered(pieces=[found] if found else []))


def test_the_one_line_form_of_the_first_releases():
    description = read_description(OLD)
    app = read(OLD).streams
    assert description.warnings == ()
    assert [s.topics for s in app.sources] == [("orders", "returns"), ("cities",)]
    assert [(r.name, r.sinks, r.sources) for r in app.repartitions] == [
        ("counts-repartition", ("KSTREAM-SINK-0000000004",), ("KSTREAM-SOURCE-0000000006",))
    ]
    assert [(s.name, s.is_global) for s in app.stores] == [("cities", True), ("counts", False)]
    assert app.processor("KSTREAM-FILTER-0000000005").successors == ("KSTREAM-SINK-0000000004",)
    assert [p.subtopology for p in app.processors] == [0, 0, 0, 0, 1, 1, 2, 2]


def test_named_topologies_are_one_application_with_names_of_their_own():
    version = read(NAMED)
    app = version.streams
    assert app.topologies == ("orders", "returns")
    assert [(s.topology, s.name, s.changelog) for s in app.stores] == [
        ("orders", "counts", "orders-counts-changelog"),
        ("returns", "counts", "returns-counts-changelog"),
    ]
    assert len(version.topology.nodes) == 6
    assert len({n.id for n in version.topology.nodes}) == 6


NOISE = {
    "CRLF": lambda t: t.replace("\n", "\r\n"),
    "colours": lambda t: "".join(f"\x1b[32m{line}\x1b[0m\n" for line in t.splitlines()),
    "a log's prefix on each line": lambda t: "".join(
        f"2026-01-02 03:04:05,678 INFO  [main] c.e.App - {line}\n" for line in t.splitlines()
    ),
    "a container's prefix": lambda t: "".join(f"app-1  | {x}\n" for x in t.splitlines()),
    "a log's prefix on the first line": lambda t: f"[main] INFO com.example.App - Topology: {t}",
    "a quoted mail": lambda t: "".join(f"> {line}\n" for line in t.splitlines()),
    "a comment in code": lambda t: "".join(f" * {line}\n" for line in t.splitlines()),
    "log lines between": lambda t: t.replace(
        "\n\n", "\n2026-01-02 INFO stream-client [x] State transition from CREATED to RUNNING\n\n"
    ),
    "tabs": lambda t: t.replace("    ", "\t"),
    "no indentation": lambda t: "".join(f"{line.strip()}\n" for line in t.splitlines()),
    "one JSON string": json.dumps,
    "written line ends": lambda t: t.replace("\n", "\\n"),
    "one line": lambda t: " ".join(t.split()),
    "a byte order mark": lambda t: "\ufeff" + t,
    "printed twice": lambda t: t + "\n" + t,
    "text around": lambda t: f"Hello,\n\nhere it is:\n{t}\nRegards, Ann --> see you\n",
}


@pytest.mark.parametrize("text", [PLAIN, FOREIGN], ids=["repartition", "foreign key"])
@pytest.mark.parametrize("noise", NOISE)
def test_noise_changes_nothing(noise, text):
    version = read(NOISE[noise](text))
    assert version.topology == topology(text)
    assert [w for w in version.warnings if "application id" not in w] == []


def test_utf_16_is_read():
    assert read(PLAIN.encode("utf-16")).topology == topology(PLAIN)


def test_a_cut_description_is_read_as_far_as_it_goes_and_says_so():
    cut = FOREIGN[: FOREIGN.index("Processor: KTABLE-SOURCE-0000000005") + 60]
    version = read(cut)
    names = {p.name for p in version.streams.processors}
    assert "KTABLE-FK-JOIN-SUBSCRIPTION-PROCESSOR-0000000011" in names
    assert any(f"line {len(cut.splitlines())} is incomplete: KTABLE-SOURCE-0000000005" in w
               for w in version.warnings)  # fmt: skip
    assert any("KTABLE-FK-JOIN-SUBSCRIPTION-PROCESSOR-0000000012, but the description has" in w
               for w in version.warnings)  # fmt: skip


def test_a_description_without_its_beginning_gets_the_sub_topology_that_must_have_stood_there():
    version = read(PLAIN[PLAIN.index("    Sink: by-value-repartition-sink") :])
    assert version.streams.processor("by-value-repartition-sink").subtopology == 0
    assert any("no sub-topology heading precedes" in w for w in version.warnings)


def test_the_newest_of_several_descriptions_counts():
    version = read(FOREIGN + "\nINFO restarted\n" + PLAIN)
    assert version.topology == topology(PLAIN)
    assert any(
        w.startswith("Headgate uses the last description, on line ")
        and w.endswith(", and ignores earlier ones on line 1")
        for w in version.warnings
    )
    many = read("\nINFO restarted\n".join((FOREIGN, PLAIN) * 4))
    assert any(re.search(r"on lines 1, \d+, \d+ and 1 more$", w) for w in many.warnings)


def test_a_node_that_is_described_twice_and_differently_is_said():
    text = PLAIN + "".join(
        line.replace("(topic: ", "(topic: other-") + "\n"
        for line in PLAIN.splitlines()
        if "Sink: " in line
    )
    warnings = read(text).warnings
    assert any(re.search(r"differs from its description on line (\d+)\. .* line \1$", w)
               for w in warnings), warnings  # fmt: skip


def test_a_topic_of_the_users_own_that_is_written_and_read_again_is_no_repartition():
    text = PLAIN.replace("by-value-repartition-filter", "last").replace(
        "by-value-repartition-sink", "write"
    ).replace("by-value-repartition-source", "read").replace("by-value", "mine")  # fmt: skip
    text = text.replace("Processor: mine", "Processor: key").replace("--> mine", "--> key")
    app = read(text.replace("<-- mine", "<-- key")).streams
    assert app.repartitions == ()
    assert "mine-repartition" in {s.topic for s in app.sinks}
    assert ("mine-repartition",) in {s.topics for s in app.sources}


@pytest.mark.parametrize(
    ("said", "topics", "pattern"),
    [
        ("[a, b.c]", ("a", "b.c"), None),
        ("in.*", (), "in.*"),
        ("[a-z]+", (), "[a-z]+"),
        ("(a|b)-(c|d)", (), "(a|b)-(c|d)"),
        ("orders", (), "orders"),
    ],
)
def test_topics_stand_in_brackets_and_a_pattern_does_not(said, topics, pattern):
    text = f"Topologies:\n Sub-topology: 0\n Source: s (topics: {said})\n --> none\n"
    (source,) = read(text).streams.sources
    assert (source.topics, source.pattern) == (topics, pattern)


def test_what_only_one_end_says_and_what_nobody_describes_is_said():
    text = PLAIN.replace("      <-- KSTREAM-AGGREGATE-0000000003\n", "      <-- elsewhere\n")
    warnings = read(text).warnings
    assert any("elsewhere, but the description has no such node" in w for w in warnings)
    assert any(w.startswith("the edge between KSTREAM-AGGREGATE-0000000003") for w in warnings)


def test_a_text_that_only_talks_of_topologies_is_no_evidence():
    assert recognise(b"Our Sub-topology: is nice. Source: me\n", path="x") is None
    with pytest.raises(EvidenceError):
        read("Topologies:\n")
