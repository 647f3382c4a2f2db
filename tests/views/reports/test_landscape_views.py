"""The landscape's text, JSON, charts, trails, and how many internals are drawn."""

from __future__ import annotations

import json
from dataclasses import replace

from rich.console import Console

from headgate.landscape.consumers import consumers
from headgate.landscape.landscape import (
    LandscapeGroup,
    LandscapeKind,
    LandscapeNode,
    LandscapeTopic,
    PartitionLag,
    PositionState,
)
from headgate.landscape.paths import path_between
from headgate.landscape.search import part
from headgate.landscape.unused_resources import (
    undeclared_groups,
    unowned_topics,
    unread,
    unused,
    unwritten,
)
from headgate.model.cluster import GroupType
from headgate.views.charts.consumer_lag import lags_figure, partitions_figure
from headgate.views.reports.landscape_json import landscape_json
from headgate.views.reports.landscape_terminal import landscape_text, note, path_text
from headgate.views.scene.highlight import along, among
from headgate.views.scene.landscape import Level, live_notes, sketch_landscape
from landscape.shop import of, shop
from views import hostile

LAND = shop()
LOST = PartitionLag("orders", 0, 5, 100, 40, PositionState.DATA_LOST)
FINE = PartitionLag("orders", 1, 90, 100, 40, PositionState.OK)
ANEW = PartitionLag("enriched", 0, 900, 100, 0, PositionState.BEYOND_END)


def behind():
    """The shop with positions: a Spark query that lost records, a group on a topic made anew."""
    pipelines = tuple(
        replace(p, positions=(LOST, FINE), reads=("orders", "rates"), lag_from="checkpoint")
        if p.name == "enrich"
        else p
        for p in LAND.pipelines
    )
    group = LandscapeGroup(id="pager", type=GroupType.CONSUMER, state="stable",
                           node="group:pager", positions=(ANEW,))  # fmt: skip
    return replace(LAND, pipelines=pipelines, groups=(group, *LAND.groups[1:]))


def text(shown):
    console = Console(width=300, color_system=None)
    with console.capture() as captured:
        console.print(shown)
    return captured.get()


def test_consumers_are_pipelines_and_undeclared_groups_by_topic():
    found = {(c.name, c.topic): c for c in consumers(behind())}
    spark = found["enrich", "orders"]
    assert (spark.kind, spark.lag, spark.lost, spark.source) == ("spark", 105, 35, "checkpoint")
    assert spark.wrong == (LOST,)
    unread_yet = found["enrich", "rates"]
    assert (unread_yet.lag, unread_yet.source, unread_yet.positions) == (None, None, ())
    group = found["pager", "enriched"]
    assert (group.kind, group.declared, group.lag) == ("consumer", False, None)
    assert note(spark) == "Kafka deleted unread records"
    assert note(group).startswith("position is after the latest offset")
    assert note(unread_yet) == "position unknown"


def test_a_topic_that_is_read_as_a_table_has_no_position_to_be_known():
    node = LandscapeNode(
        id="enrich/rates", kind=LandscapeKind.SOURCE, operator="kafka", label="kafka rates",
        pipeline="enrich", details={"topics": ["rates"], "static": True},
    )  # fmt: skip
    land = behind()
    table = replace(land, nodes=(*land.nodes, node))
    found = {(c.name, c.topic): c for c in consumers(table)}
    assert note(found["enrich", "rates"]) == "read as a static DataFrame (no offsets)"
    stream = replace(node, id="enrich/rates-2", details={"topics": ["rates"]})
    both = replace(land, nodes=(*table.nodes, stream))
    assert not any(c.is_static for c in consumers(both))


def test_loose_ends():
    assert [t.name for t in unused(LAND)] == ["spare"]
    assert [t.name for t in unread(LAND)] == ["totals"]
    assert [t.name for t in unwritten(LAND)] == ["orders", "payments"]
    assert [t.name for t in unowned_topics(LAND)] == ["app-7-counts-changelog"]
    assert [g.id for g in undeclared_groups(LAND)] == ["pager"]
    owned = LandscapeTopic(id="topic:x-changelog", name="x-changelog", owner="x")
    assert unowned_topics(replace(LAND, topics=(owned,))) == ()
    assert unused(replace(LAND, topics=(owned,))) == ()


def test_the_text_says_all_of_it():
    said = text(landscape_text(behind()))
    assert "5 pipelines, 8 topics, 2 groups; Kafka cluster state not read" in said
    assert "Internal topics without a known owner (1)" in said
    assert "Undeclared groups (1)" in said
    lines = [line for line in said.splitlines() if line.startswith("enrich  ") and "orders" in line]
    assert any("spark" in line and "105" in line and "35" in line for line in lines)
    assert "There are other ways" not in text(
        path_text(path_between(LAND, "topic:orders", "topic:alerts"), "orders", "alerts")
    )


def test_hostile_names_stay_in_their_lines():
    said = text(landscape_text(hostile.landscape()))
    assert "\x07" not in said
    assert "<script>alert(1)</script>" in said
    json.dumps(landscape_json(hostile.landscape()))


def test_json_has_lags_beside_positions():
    found = landscape_json(behind())
    enrich = next(p for p in found["pipelines"] if p["name"] == "enrich")
    assert [(p["lag"], p["lost"], p["state"]) for p in enrich["positions"]] == [
        (95, 35, "data_lost"), (10, 0, "ok"),
    ]  # fmt: skip
    assert found["loose_ends"]["undeclared"] == ["pager"]


def test_a_part_keeps_facts_of_what_is_left():
    kept = part(LAND, of("fraud") | {"topic:alerts", "group:pager"})
    assert [p.name for p in kept.pipelines] == ["fraud"]
    assert [t.name for t in kept.topics] == ["alerts"]
    assert [g.id for g in kept.groups] == ["pager"]


def test_a_trail_follows_the_drawn_edges_at_either_level():
    way = path_between(LAND, "topic:orders", "topic:alerts")
    coarse = sketch_landscape(LAND, Level.PIPELINES)
    assert along(coarse, LAND, way.nodes) == (
        ("topic:orders", "pipeline:enrich"), ("pipeline:enrich", "topic:enriched"),
        ("topic:enriched", "pipeline:fraud"), ("pipeline:fraud", "topic:alerts"),
    )  # fmt: skip
    fine = sketch_landscape(LAND, Level.INTERNALS)
    assert len(along(fine, LAND, way.nodes)) == len(way.nodes) - 1
    near = among(coarse, LAND, of("fraud") | {"topic:alerts"})
    assert near == (("pipeline:fraud", "topic:alerts"),)


def test_opened_pipelines_show_their_internals_among_closed_ones():
    ids = {n.id for n in sketch_landscape(LAND, Level.PIPELINES, opened=["fraud"]).nodes}
    assert of("fraud") <= ids
    assert "pipeline:enrich" in ids
    assert "pipeline:fraud" not in ids


def test_too_many_internals_are_drawn_closed():
    many = replace(
        LAND,
        nodes=tuple(replace(n, id=f"{n.id}~{i}") for i in range(80) for n in LAND.nodes),
        edges=(),
    )
    assert not any("/" in n.id for n in sketch_landscape(many, Level.INTERNALS, unused=True).nodes)


def test_notes_name_a_stop_before_the_lag():
    stopped = replace(LAND.pipelines[0], status="stopped", lag=1200)
    notes = live_notes(replace(LAND, pipelines=(stopped, *LAND.pipelines[1:])))
    assert notes["pipeline:enrich"] == "stopped · lag 1.2 k"
    assert notes["enrich/0"] == "stopped · lag 1.2 k"


def test_charts_hold_what_they_show():
    found = consumers(behind())
    bars = lags_figure([c for c in found if c.lag]).data[0]
    assert list(bars.x) == [105]
    parts = {d.name: list(d.x) for d in partitions_figure((LOST, FINE)).data}
    assert parts == {"read": [0, 50], "not read yet": [60, 10], "lost": [35, 0]}
