"""Ways between things and what a change reaches, on the shop and on drawn graphs."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from headgate.landscape.landscape import Landscape, LandscapeKind, LandscapeNode
from headgate.landscape.paths import downstream, path_between, upstream
from headgate.model.topology import Edge
from landscape.shop import of, shop

LAND = shop()


def test_a_way_leads_through_pipelines_and_topics():
    way = path_between(LAND, "topic:orders", "topic:alerts")
    assert way.exists
    assert way.nodes == (
        "topic:orders", "enrich/source", "enrich/join", "enrich/sink", "topic:enriched",
        "fraud/orders", "fraud/match", "fraud/sink", "topic:alerts",
    )  # fmt: skip
    assert way.stops == (
        "topic:orders", "pipeline:enrich", "topic:enriched", "pipeline:fraud", "topic:alerts",
    )  # fmt: skip
    assert not way.has_more
    assert way.between == set(way.nodes) | {"fraud/left"}
    assert way.back == ()


def test_a_way_between_pipelines_begins_and_ends_inside_them():
    way = path_between(LAND, "pipeline:enrich", "pipeline:fraud")
    assert way.nodes == ("enrich/sink", "topic:enriched", "fraud/orders")
    assert way.stops == ("pipeline:enrich", "topic:enriched", "pipeline:fraud")
    assert not way.has_more


def test_no_way_says_whether_there_is_one_back():
    way = path_between(LAND, "topic:alerts", "topic:orders")
    assert not way.exists
    assert way.back_stops[0] == "topic:orders"
    assert way.back_stops[-1] == "topic:alerts"
    none = path_between(LAND, "topic:spare", "topic:orders")
    assert not none.exists
    assert none.back == ()


def test_a_way_to_itself_or_to_nothing():
    assert path_between(LAND, "topic:orders", "topic:orders").nodes == ("topic:orders",)
    assert not path_between(LAND, "topic:orders", "nowhere").exists
    assert not path_between(LAND, "pipeline:nowhere", "topic:orders").exists


def add(land: Landscape, *edges: tuple[str, str]) -> Landscape:
    known = {n.id for n in land.nodes}
    new = dict.fromkeys(i for e in edges for i in e if i not in known)
    nodes = tuple(LandscapeNode(i, LandscapeKind.TOPIC, "topic", i) for i in new)
    return Landscape(
        nodes=(*land.nodes, *nodes),
        edges=(*land.edges, *(Edge(*e) for e in edges)),
        pipelines=land.pipelines,
    )


def test_a_second_topic_between_two_pipelines_is_another_way():
    land = add(LAND, ("enrich/sink", "topic:second"), ("topic:second", "fraud/payments"))
    assert path_between(land, "pipeline:enrich", "pipeline:fraud").has_more
    assert path_between(land, "topic:orders", "topic:alerts").has_more
    assert not path_between(land, "topic:orders", "topic:totals").has_more


def test_the_fewest_steps_win_over_the_fewest_nodes():
    """One long pipeline is nearer than two short ones."""
    land = Landscape(
        nodes=(
            *(LandscapeNode(t, LandscapeKind.TOPIC, "topic", t) for t in ("a", "b", "m")),
            *(LandscapeNode(f"p/{i}", LandscapeKind.TRANSFORM, "x", "", "p") for i in range(9)),
            LandscapeNode("q/0", LandscapeKind.TRANSFORM, "x", "", "q"),
            LandscapeNode("r/0", LandscapeKind.TRANSFORM, "x", "", "r"),
        ),
        edges=(
            Edge("a", "p/0"), *(Edge(f"p/{i}", f"p/{i + 1}") for i in range(8)), Edge("p/8", "b"),
            Edge("a", "q/0"), Edge("q/0", "m"), Edge("m", "r/0"), Edge("r/0", "b"),
        ),
    )  # fmt: skip
    way = path_between(land, "a", "b")
    assert way.stops == ("a", "pipeline:p", "b")
    assert way.has_more


def test_downstream_of_a_topic_names_everything_and_everybody():
    reach = downstream(LAND, "topic:orders")
    assert reach.pipelines == ("enrich", "totals", "fraud", "archive")
    assert reach.topics == ("alerts", "enriched", "totals")
    assert reach.groups == ("pager",)
    assert reach.stores == ("totals/counts", "fraud/left")
    assert reach.sinks == ("enrich/sink", "totals/sink", "fraud/sink", "archive/files")
    assert reach.owners == (("sales", ("enrich", "totals")), ("payments", ("fraud",)))
    assert reach.unowned == ("archive", "pager")
    assert reach.nodes["enrich/sink"] == 1
    assert reach.nodes["topic:alerts"] == 4
    assert "topic:orders" not in reach.nodes


def test_downstream_of_a_pipeline_leaves_itself_out():
    reach = downstream(LAND, "pipeline:totals")
    assert reach.pipelines == ()
    assert reach.topics == ("totals",)
    inside = downstream(LAND, "totals/count")
    assert inside.pipelines == ()
    assert inside.stores == ("totals/counts",)
    assert of("totals").isdisjoint(reach.nodes)


def test_a_store_feeds_its_operator():
    assert "topic:totals" in downstream(LAND, "totals/counts").nodes


def test_upstream_and_what_is_not_there():
    assert upstream(LAND, "topic:alerts").topics == ("enriched", "orders", "payments")
    assert upstream(LAND, "topic:alerts").pipelines == ("enrich", "fraud")
    assert downstream(LAND, "nowhere").nodes == {}


# Drawn graphs, against networkx's own answers. ------------------------------------------------

PAIRS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=16)


def drawn(pairs) -> Landscape:
    """Even numbers are topics, odd ones nodes of pipelines 1, 3, ..."""
    nodes = tuple(
        LandscapeNode(str(i), LandscapeKind.TRANSFORM, "x", str(i), pipeline=str(i))
        if i % 2
        else LandscapeNode(str(i), LandscapeKind.TOPIC, "topic", str(i))
        for i in range(8)
    )
    edges = dict.fromkeys((str(a), str(b)) for a, b in pairs if a != b)
    return Landscape(nodes=nodes, edges=tuple(Edge(*e) for e in edges))


@given(PAIRS, st.integers(0, 7), st.integers(0, 7))
def test_a_way_is_one_of_the_shortest_and_more_means_more(pairs, a, b):
    land, start, end = drawn(pairs), str(a), str(b)
    graph = land.graph()
    way = path_between(land, start, end)
    ways = list(nx.all_simple_paths(graph, start, end)) if a != b else [[start]]
    assert way.exists == bool(ways)
    if ways:
        assert list(way.nodes) in ways
        assert len(way.nodes) == min(map(len, ways))
        assert way.has_more == (len(ways) > 1)
        assert way.between >= {n for w in ways for n in w}
    elif way.back:
        assert nx.has_path(graph, end, start)
    else:
        assert not nx.has_path(graph, end, start)


@given(PAIRS, st.integers(0, 7))
def test_downstream_and_upstream_mirror_each_other(pairs, a):
    land, start = drawn(pairs), str(a)
    assert downstream(land, start).nodes.keys() == nx.descendants(land.graph(), start)
    for node in downstream(land, start).nodes:
        assert start in upstream(land, node).nodes
