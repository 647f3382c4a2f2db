"""Folding, limits at nodes, the history's line and the words for evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headgate.model.topology import Edge, NodeKind, Topology
from headgate.model.version import Engine, Evidence, Source, Version
from headgate.parse.evidence.recognise import recognise
from headgate.rules.compare.compare_versions import compare
from headgate.views.scene.fold import folded, null_checks
from headgate.views.scene.limit_nodes import limits_at
from headgate.views.scene.operator_icons import look_of
from headgate.views.scene.scene import Look, Sketch, SketchEdge, SketchNode
from headgate.views.words.evidence import piece_words, version_words
from headgate.views.words.version_history import change_line
from support.console_seed import node, orders_v1, orders_v2


def a_filter(name, *conditions, **more):
    return node(name, NodeKind.TRANSFORM, "filter", name, conditions=list(conditions), **more)


@pytest.mark.parametrize(
    ("found", "folds"),
    [
        (a_filter("a", "isnotnull(s0.k)"), True),
        (a_filter("b", "isnotnull(s0.k)", "isnotnull(window(s0.ts, 1 hour))"), True),
        (a_filter("c", "isnotnull(s0.k)", "(s0.k > 0)"), False),
        (a_filter("d", "isnotnull(s0.k) OR isnotnull(s0.v)"), False),
        (a_filter("e"), False),
        (a_filter("f", inferred=True), True),
        (node("g", NodeKind.TRANSFORM, "project", "g", conditions=["isnotnull(s0.k)"]), False),
    ],
    ids=lambda v: getattr(v, "id", v),
)
def test_only_filters_that_drop_nulls_and_nothing_else_fold(found, folds):
    assert (found.id in null_checks(Topology((found,)))) is folds


def test_edges_lead_through_what_is_folded():
    nodes = tuple(SketchNode(id=i, look=Look.PROJECTION, label=i) for i in "abcde")
    edges = tuple(SketchEdge(*pair) for pair in ("ab", "bc", "cd", "ce", "ad"))
    shown = folded(Sketch(nodes, edges), {"b", "c"})
    assert [n.id for n in shown.nodes] == ["a", "d", "e"]
    assert {(e.source, e.target) for e in shown.edges} == {("a", "d"), ("a", "e")}


def test_a_circle_that_is_folded_ends():
    nodes = tuple(SketchNode(id=i, look=Look.PROJECTION, label=i) for i in "abc")
    edges = tuple(SketchEdge(*pair) for pair in ("ab", "bc", "cb"))
    assert folded(Sketch(nodes, edges), {"b", "c"}).edges == ()


def test_an_operator_that_nobody_read_is_marked():
    assert look_of("transform", "unknown") is Look.UNREAD
    assert look_of("transform", "project") is Look.PROJECTION


def explained(**more):
    source = node("s", NodeKind.SOURCE, "kafka", "kafka")
    sink = node("sink", NodeKind.SINK, "kafka", "kafka")
    return Version(
        engine=Engine.SPARK, topology=Topology((source, sink), (Edge("s", "sink"),)),
        sources=(Source(position=0, format="kafka", node="s", **more),), stateful=(),
        evidence=(Evidence(kind="explain", path="e"),),
    )  # fmt: skip


def test_a_source_without_topics_says_so_and_what_would_tell():
    version = explained()
    said = limits_at(version, version.topology.nodes[0])
    assert any("the topics of" in s and "progress" in s for s in said)
    assert not any("the topics of" in s for s in limits_at(version, version.topology.nodes[1]))


def test_a_source_with_topics_does_not():
    version = explained(topics=("orders",))
    said = limits_at(version, version.topology.nodes[0])
    assert not any("the topics of" in s for s in said)


def test_the_history_says_what_changed_in_one_line():
    line = change_line(compare(orders_v1(), orders_v2()))
    assert "sum by city and hour → sum by region and hour" in line
    assert "\n" not in line and "removed" in line


def test_the_history_says_when_only_facts_differ():
    other = replace(orders_v1(), query_id="another")
    assert change_line(compare(orders_v1(), other))


EXPLAIN = "== Physical Plan ==\n*(1) Project [k#1]\n+- *(1) Scan ExistingRDD[k#1]\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (EXPLAIN, "simple explain, 1 query plan"),
        ("== Parsed Logical Plan ==\nProject [k#1]\n+- LogicalRDD [k#1], false\n\n" + EXPLAIN,
         "extended explain, 2 query plans"),
        ('{"spark.sql.shuffle.partitions": "2"}', "session settings"),
    ],
)  # fmt: skip
def test_evidence_is_called_what_its_maker_calls_it(text, words):
    piece = recognise(text.encode(), path="x")
    assert piece is not None
    assert piece_words(piece, text) == words


def test_a_version_is_called_by_engine_and_release():
    assert version_words(orders_v1(), "extended explain, 4 query plans").startswith(
        "extended explain, 4 query plans of Spark 4.2: 17 nodes, 2 state stores"
    )
    assert version_words(replace(explained(), engine_version=None)) == "Spark: 2 nodes"
