"""Scenes: what is drawn of a version, and what becomes of it when boxes close."""

import pytest

from headgate.model.topology import Edge, NodeKind, Topology
from headgate.model.version import Engine, Version
from headgate.rules.core.report import (
    Change,
    ChangeKind,
    Finding,
    Location,
    Outcome,
    Report,
    StateEffect,
)
from headgate.views.layout.label_size import shorten, text_width
from headgate.views.scene.comparison import Side, one_side, sketch_comparison, union_id
from headgate.views.scene.compose import compose
from headgate.views.scene.scene import (
    Lens,
    Look,
    Mark,
    Sketch,
    SketchBox,
    SketchEdge,
    SketchNode,
    Status,
    worst,
)
from headgate.views.scene.topology import sketch_topology
from support.console_seed import alerts, node, orders_v1, orders_v2


def test_topics_and_repartitions_are_joints_outside_the_boxes():
    scene = compose(sketch_topology(orders_v1(), name="orders-by-city"))
    looks = {n.id: n.look for n in scene.nodes}
    assert looks["topic:orders"] is Look.TOPIC
    assert looks["exchange-city"] is Look.REPARTITION
    assert looks["stream_join-paid"] is Look.JOIN
    assert looks["aggregate-city"] is Look.AGGREGATION
    assert looks["store-city"] is Look.STORE
    joints = {n.look for n in scene.nodes if n.box is None}
    assert joints == {Look.TOPIC, Look.REPARTITION}
    assert [b.detail for b in scene.boxes] == ["0", "1", "2", "3"]
    assert ("topic:orders", "source-orders") in {(e.source, e.target) for e in scene.edges}


def test_equal_versions_give_equal_scenes():
    one, other = (compose(sketch_topology(alerts(), name="a")) for _ in range(2))
    assert one == other


def small(*statuses):
    nodes = tuple(
        SketchNode(id=f"n{i}", look=Look.PROJECTION, label=f"n{i}", box="p/0", status=s)
        for i, s in enumerate(statuses)
    )
    out = SketchNode(id="t", look=Look.TOPIC, label="t")
    edges = tuple(SketchEdge(n.id, "t", n.status) for n in nodes)
    return Sketch((*nodes, out), edges, (SketchBox("p/0", "p", "0"),), is_diff=True)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((Status.SAME, Status.ADDED), Status.ADDED),
        ((Status.ADDED, Status.CHANGED, Status.REMOVED), Status.CHANGED),
        ((Status.CHANGED, Status.UNKNOWN), Status.UNKNOWN),
        ((Status.UNKNOWN, Status.SILENTLY_WRONG), Status.SILENTLY_WRONG),
        ((Status.SILENTLY_WRONG, Status.REFUSES), Status.REFUSES),
        ((Status.SAME,), Status.SAME),
    ],
)
def test_a_closed_box_has_the_worst_status(statuses, expected):
    scene = compose(small(*statuses), Lens(collapsed=frozenset({"p/0"})))
    group = scene.node("p/0")
    assert group.look is Look.GROUP
    assert group.status is expected is worst(statuses)
    assert group.count == len(statuses)
    assert not scene.boxes
    assert [(e.source, e.target) for e in scene.edges] == [("p/0", "t")]


def test_focus_and_only_changes_leave_out_the_rest():
    sketch = sketch_topology(orders_v1(), name="orders")
    near = {n.id for n in compose(sketch, Lens(focus="sink", hops=1)).nodes}
    assert near == {"sink", "aggregate-city", "topic:city-revenue"}
    changed = compose(small(Status.SAME, Status.ADDED, Status.SAME), Lens(only_changes=True))
    assert {n.id for n in changed.nodes} == {"n1", "t"}


def report(**matches):
    same = {n.id: n.id for n in orders_v2().topology.nodes if n.id != "filter-valid"}
    findings = (
        Finding(rule="AGG001", outcome=Outcome.SILENTLY_WRONG, why="Rows are lost.", source="x",
                location=Location("aggregate-city", "aggregate-city")),
        Finding(rule="TRA001", outcome=Outcome.RESUMES, why="A filter.", source="x",
                state_effect=StateEffect.MIXED, location=Location(None, "filter-valid")),
    )  # fmt: skip
    changes = (
        Change(ChangeKind.CHANGED, "sink", "sink", "target"),
        Change(ChangeKind.MOVED, "project-city", "project-city", "moved"),
    )
    return Report(findings=findings, changes=changes, matches=same | matches)


def test_a_comparison_draws_the_union_once():
    before, after, said = orders_v1(), orders_v2(), report()
    sketch = sketch_comparison(before, after, said, name="orders")
    status = {n.id: n.status for n in sketch.nodes}
    assert status["aggregate-city"] is Status.SILENTLY_WRONG
    assert status["sink"] is Status.CHANGED
    assert status["before:source-customers"] is Status.REMOVED
    assert status["filter-valid"] is Status.ADDED
    assert status["topic:city-revenue"] is Status.REMOVED
    assert status["topic:city-revenue-v2"] is Status.ADDED
    assert status["topic:orders"] is Status.SAME
    assert sketch.node("filter-valid").marks == (Mark.MIXED,)
    assert sketch.node("project-city").marks == (Mark.MOVED,)
    assert sketch.node("before:source-customers").box == "orders/0"
    assert union_id(said, before="source-customers", after=None) == "before:source-customers"


def test_both_sides_of_a_comparison_share_their_places():
    before, after = orders_v1(), orders_v2()
    sketch = sketch_comparison(before, after, report(), name="orders")
    union = compose(sketch)
    old = one_side(union, sketch, Side.BEFORE, before.topology)
    new = one_side(union, sketch, Side.AFTER, before.topology)
    places = {n.id: (n.x, n.y) for n in union.nodes}
    for side in (old, new):
        assert all((n.x, n.y) == places[n.id] for n in side.nodes)
        assert {n.status for n in side.nodes} == {Status.SAME}
        assert (side.width, side.height) == (union.width, union.height)
    assert len(old.nodes) == len(before.topology.nodes) + 3
    assert old.node("filter-valid") is None
    assert new.node("before:source-customers") is None
    assert old.node("aggregate-city").label == "sum by city and hour"


@pytest.mark.parametrize("view", [(1230.0, 670.0), (700.0, 1500.0), (2400.0, 300.0)])
def test_a_comparison_stands_as_its_new_version_does_alone(view):
    before, after = orders_v1(), orders_v2()
    alone = sketch_topology(after, name="orders")
    both = sketch_comparison(before, after, report(), name="orders")
    lens = Lens(view=view)
    one, union = compose(alone, lens), compose(both, lens, like=alone)
    assert {e.flow for e in one.edges} == {e.flow for e in union.edges}
    assert {n.id for n in one.nodes} <= {n.id for n in union.nodes}
    # What a node feeds stays on the side of it where it was.
    for edge in one.edges:
        ends = [(scene.node(edge.source), scene.node(edge.target)) for scene in (one, union)]
        (dx, dy), (du, dv) = [(n.x - m.x, n.y - m.y) for n, m in ends]
        assert abs(dx) < 60 or dx * du > 0
        assert abs(dy) < 60 or dy * dv > 0


@pytest.mark.parametrize(
    "label", ['a "b" <script>', "emoji 🎉 and 漢字", "two\nlines\tand\x00more"]
)
def test_any_label_becomes_one_line(label):
    topology = Topology(
        (node("a", NodeKind.SOURCE, "kafka", label), node("b", NodeKind.SINK, "kafka", label)),
        (Edge("a", "b"),),
    )
    version = Version(engine=Engine.SPARK, topology=topology)
    scene = compose(sketch_topology(version, name="p"))
    shown = scene.node("a")
    assert shown.text.isprintable()
    assert shown.label == label


def test_long_labels_are_cut_in_the_middle():
    text = shorten("a" * 40 + "z" * 40)
    assert len(text) == 30
    assert text.startswith("aaa") and text.endswith("zzz") and "…" in text
    assert text_width("漢") == 2 * text_width("a")
