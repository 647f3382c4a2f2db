"""Whatever is done to a description: a version or one of our errors, soon, and never a trace."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.errors import EvidenceError
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "golden" / "streams" / "4.3.1"
TEXTS = [f.read_text() for f in sorted(FOLDER.glob("*.txt"))]
SLOWEST = 60.0
"""Processor seconds: nothing that ends is near it, what grows with the square is beyond it."""
texts = st.sampled_from(TEXTS)


def read(text):
    """Read the text, whatever it is; ids stay unique and edges stay between nodes."""
    piece = recognise(text.encode("utf-8", "replace"), path="x")
    if piece is None:
        return None
    try:
        version = assemble(Gathered(pieces=[piece]))
    except EvidenceError:
        return None
    ids = {n.id for n in version.topology.nodes}
    assert len(ids) == len(version.topology.nodes)
    assert all(e.source in ids and e.target in ids for e in version.topology.edges)
    return version


@settings(max_examples=150, deadline=None)
@given(texts, st.integers(0, 6000), st.integers(0, 6000))
def test_any_cut(text, start, size):
    read(text[start % len(text) :][:size])


@settings(max_examples=150, deadline=None)
@given(texts, st.randoms(use_true_random=False))
def test_any_shuffle_of_lines(text, chance):
    lines = text.splitlines()
    chance.shuffle(lines)
    read("\n".join(lines))


@settings(max_examples=100, deadline=None)
@given(texts, texts, st.randoms(use_true_random=False))
def test_any_two_descriptions_mixed(one, other, chance):
    lines = [*one.splitlines(), *other.splitlines()]
    kept = [line for line in lines if chance.random() < 0.7]
    read("\n".join(kept))


@settings(max_examples=150, deadline=None)
@given(texts, st.integers(0, 10_000), st.text(max_size=40))
def test_anything_put_in_the_middle(text, at, more):
    at %= len(text)
    read(text[:at] + more + text[at:])


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="Source: Processr(topics[]),->\n<stor\t0123Sub-lgy", max_size=400))
def test_text_that_only_looks_like_one(text):
    read("Topologies:\n Sub-topology: 0\n" + text)


def test_a_cycle_through_topics_is_drawn():
    text = (
        "Topologies:\n Sub-topology: 0\n"
        "  Source: a-repartition-source (topics: [a-repartition])\n   --> b\n"
        "  Processor: b (stores: [])\n   --> a-repartition-sink\n   <-- a-repartition-source\n"
        "  Sink: a-repartition-sink (topic: a-repartition)\n   <-- b\n"
    )
    version = read(text)
    assert len(version.topology.nodes) == 2
    assert len(version.topology.edges) == 2


@pytest.mark.parametrize(
    "text",
    [
        "Topologies:\n Sub-topology: 0\n" + "Source: " * 100_000,
        "Topologies:\n Sub-topology: 0\n Processor: " + "(stores: " * 50_000,
        "Topologies:\n Sub-topology: 0\n Processor: a (stores: [" + ", ".join("s" * 9) * 20_000,
        "Topologies:\n Sub-topology: 0\n Source: a (topics: [x])\n --> " + "b, " * 100_000,
        "Topologies:\n Sub-topology: 0\n" + " Processor: a\n" * 50_000,
        "Sub-topology: 0\\n" * 50_000,
        "StreamsConfig values:\n" * 20_000,
    ],
    ids=["sources", "marks", "stores", "names", "open nodes", "written ends", "configurations"],
)
def test_hostile_text_takes_no_long_time(text):
    start = time.process_time()
    read(text)
    assert time.process_time() - start < SLOWEST


@pytest.mark.parametrize("count", [4_000])
def test_time_grows_with_the_size(count):
    def seconds(nodes):
        text = chain(nodes)
        start = time.process_time()
        assert len(read(text).streams.processors) == nodes + 2
        return time.process_time() - start

    seconds(count // 8)
    small, large = (min(seconds(n) for _ in range(3)) for n in (count // 4, count))
    assert large < 8 * small + 0.1


def chain(count):
    names = ["in", *(f"KSTREAM-FILTER-{i:010d}" for i in range(count)), "out"]
    lines = [
        "Topologies:",
        "   Sub-topology: 0",
        "    Source: in (topics: [t])",
        f"      --> {names[1]}",
    ]
    for i in range(1, count + 1):
        lines += [
            f"    Processor: {names[i]} (stores: [])",
            f"      --> {names[i + 1]}",
            f"      <-- {names[i - 1]}",
        ]
    return "\n".join([*lines, "    Sink: out (topic: o)", f"      <-- {names[-2]}", ""])
