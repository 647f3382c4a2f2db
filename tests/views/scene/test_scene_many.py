"""What opens closed: a graph or a landscape of too many nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from headgate.landscape.build import build
from headgate.landscape.landscape import Landscape
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.usecases.compare.compare_versions import compare_read
from headgate.views.scene.comparison import Side, one_side, sketch_comparison
from headgate.views.scene.compose import compose
from headgate.views.scene.fold import null_checks
from headgate.views.scene.folded import MANY, boxed, stand_ins, usually_closed
from headgate.views.scene.landscape import Level, closes_itself, sketch_landscape
from headgate.views.scene.landscape_groups import grouped
from headgate.views.scene.scene import Lens, Look, first_to_see
from headgate.views.scene.topology import sketch_topology
from support import many_nodes


def large(nodes: int = 1000):
    return boxed(sketch_topology(many_nodes.version(nodes, "large"), name="large"))


def test_a_small_graph_opens_whole():
    small = large(100)
    assert usually_closed(small) == frozenset()


def test_a_graph_of_a_thousand_nodes_opens_closed():
    sketch = large()
    closed = usually_closed(sketch)
    scene = compose(sketch, Lens(collapsed=closed))
    assert len(sketch.nodes) > 1000
    assert len(scene.nodes) <= MANY
    assert sum(n.count or 1 for n in scene.nodes) == len(sketch.nodes)


def test_the_box_of_what_is_selected_is_open():
    sketch = large()
    assert "large/7" not in usually_closed(sketch, selected="total-7")
    assert "large/7" not in usually_closed(sketch, opened=["large/7"])


def test_hits_of_a_search_open_their_boxes_as_long_as_few_nodes_are_visible():
    sketch = large()
    closed = usually_closed(sketch, hits=["total-7"])
    assert {b.id for b in sketch.boxes} - closed == {"large/7"}
    closed = usually_closed(sketch, hits=[f"total-{n}" for n in range(120)])
    scene = compose(sketch, Lens(collapsed=closed))
    assert len(scene.nodes) <= MANY
    shown = stand_ins(sketch, scene)
    assert shown["total-0"] == "total-0"
    assert shown["total-119"] == "large/119"


def landscape(owners: list[str | None], *, joined: bool = True) -> Landscape:
    """Pipelines in a row, each reading what the one before it writes."""
    pipelines = tuple(
        Pipeline(
            name=f"p{n}", engine=Engine.CONSUMER_GROUP, group=f"p{n}", owner=owner,
            topics=(f"t{n // 2 if joined else n}",),
        )
        for n, owner in enumerate(owners)
    )  # fmt: skip
    return build(Registry(pipelines=pipelines), {}, None)


def boxes_of(shown: Landscape):
    sketch = grouped(sketch_landscape(shown, Level.PIPELINES), shown)
    closed = usually_closed(sketch)
    return sketch, compose(sketch, Lens(collapsed=closed))


def test_a_landscape_of_many_pipelines_opens_by_owner():
    sketch, scene = boxes_of(landscape([f"team-{n % 8}" for n in range(300)]))
    assert {b.title for b in sketch.boxes} == {f"team-{n}" for n in range(8)}
    groups = [n for n in scene.nodes if n.look is Look.GROUP]
    assert len(groups) == 8
    assert {b.detail for b in sketch.boxes} == {"38 pipelines", "37 pipelines"}


def test_pipelines_without_an_owner_are_together_if_topics_join_them():
    sketch, scene = boxes_of(landscape([None] * 300))
    assert len(scene.nodes) <= MANY
    assert sum(n.count or 1 for n in scene.nodes) == len(sketch.nodes)
    pairs = Counter(n.box for n in sketch.nodes if n.box != "together:*")
    assert set(pairs.values()) == {3}


def test_one_owner_of_everything_says_nothing():
    sketch, _ = boxes_of(landscape(["team"] * 300))
    assert len(sketch.boxes) > 1


def test_a_small_landscape_has_no_groups():
    shown = landscape(["team"] * 20)
    sketch = sketch_landscape(shown, Level.PIPELINES)
    assert grouped(sketch, shown) is sketch
    assert not closes_itself(shown, Level.INTERNALS)


def test_many_parts_of_a_box_fill_rows():
    sketch = boxes_of(landscape(["team-a", "team-b"] * 150))[0]
    scene = compose(sketch, Lens(collapsed=frozenset({"owner:team-b"})))
    (box,) = scene.boxes
    assert 0.4 < box.width / box.height < 5


@pytest.mark.parametrize(
    ("condition", "drops"),
    [
        ("isnotnull(s0.value)", True),
        ("isnotnull(from_json(cast(s0.value as string)).ordered_at)", True),
        ("isnotnull(s0.a) OR isnotnull(s0.b)", False),
        ("(isnotnull(s0.a))", False),
        ("isnotnull(s0.a", False),
        ("s0.a > 1", False),
    ],
)
def test_only_a_call_of_isnotnull_drops_nulls(condition, drops):
    version = many_nodes.version(8, "small")
    (node,) = [n for n in version.topology.nodes if n.id == "filter-0"]
    topology = replace(
        version.topology,
        nodes=(replace(node, operator="filter", details={"conditions": [condition]}),),
        edges=(),
    )
    assert bool(null_checks(topology)) is drops


def test_a_graph_begins_with_its_first_state_store():
    sketch = large(100)
    assert first_to_see(compose(sketch), sketch) == "counts-0"


def test_a_label_that_did_not_change_is_not_cut_on_the_old_side():
    before = many_nodes.version(8, "small")
    after = many_nodes.changed(before)
    report = compare_read(before, after)
    sketch = sketch_comparison(before, after, report, name="small")
    scene = compose(sketch)
    old = one_side(scene, sketch, Side.BEFORE, before.topology)
    texts = {n.id: n.text for n in scene.nodes}
    same = [n for n in old.nodes if n.id not in ("total-0", "late")]
    assert same
    assert all(n.text == texts[n.id] for n in same)
