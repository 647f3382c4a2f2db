import pytest

from headgate.landscape.landscape import Landscape, LandscapeKind, LandscapeNode
from headgate.landscape.search import neighbours, only, search
from headgate.model.topology import Edge

IDS = ("topic:a", "p/source", "p/count", "p/store", "p/sink", "topic:b", "group:g", "topic:spare")
PAIRS = (
    ("topic:a", "p/source"),
    ("p/source", "p/count"),
    ("p/count", "p/store"),
    ("p/count", "p/sink"),
    ("p/sink", "topic:b"),
    ("topic:b", "group:g"),
)
LAND = Landscape(
    nodes=tuple(
        LandscapeNode(i, LandscapeKind.TRANSFORM, "operator", i, details={"keys": ["City"]})
        if i == "p/count"
        else LandscapeNode(i, LandscapeKind.TOPIC, "topic", i)
        for i in IDS
    ),
    edges=tuple(Edge(a, b) for a, b in PAIRS),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SPARE", ("topic:spare",)),
        ("city", ("p/count",)),
        ("operator city", ("p/count",)),
        ("city spare", ()),
        ("  ", ()),
    ],
)
def test_search(text, found):
    assert search(LAND, text) == found


@pytest.mark.parametrize(
    ("hops", "found"),
    [
        (0, {"p/count"}),
        (1, {"p/count", "p/source", "p/store", "p/sink"}),
        (2, {"p/count", "p/source", "p/store", "p/sink", "topic:a", "topic:b"}),
        (9, set(IDS) - {"topic:spare"}),
    ],
)
def test_neighbours(hops, found):
    assert neighbours(LAND, ["p/count", "nowhere"], hops) == found


def test_only_keeps_edges_between_what_is_kept():
    kept = only(LAND, ["topic:a", "p/source", "p/sink"])
    assert [n.id for n in kept.nodes] == ["topic:a", "p/source", "p/sink"]
    assert kept.edges == (Edge("topic:a", "p/source"),)
