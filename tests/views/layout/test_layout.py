"""The layout: nothing overlaps, the flow points one way, the same input gives the same picture."""

import random
import sys
from itertools import combinations

import pytest

from headgate.views.layout.arrange import Flow, arrange
from headgate.views.layout.graph import Join
from headgate.views.layout.two_level import WORTH, Item, best_layout, lay_out


def random_graph(nodes, seed):
    """Pipelines of four to twelve nodes in boxes, joined by loose topics."""
    dice = random.Random(seed)
    items, edges, boxes = [], [], 0
    while len(items) < nodes:
        ids = [f"n{len(items) + n}" for n in range(dice.randint(4, 12))]
        items += [Item(i, dice.randint(92, 190), 34, f"box{boxes}") for i in ids]
        edges += [(ids[dice.randint(max(0, n - 3), n - 1)], ids[n]) for n in range(1, len(ids))]
        items.append(Item(f"t{boxes}", 120, 34))
        edges.append((ids[-1], f"t{boxes}"))
        for _ in range(dice.randint(0, 2) if boxes else 0):
            edges.append((f"t{dice.randint(max(0, boxes - 8), boxes - 1)}", ids[0]))
        boxes += 1
    return items, edges


def rectangles(items, layout):
    for item in items:
        x, y = layout.centres[item.id]
        yield item, (x - item.width / 2, y - item.height / 2, item.width, item.height)


def overlap(one, other):
    return (
        one[0] < other[0] + other[2] - 0.1
        and other[0] < one[0] + one[2] - 0.1
        and one[1] < other[1] + other[3] - 0.1
        and other[1] < one[1] + one[3] - 0.1
    )


def inside(inner, outer):
    return (
        inner[0] >= outer[0]
        and inner[1] >= outer[1]
        and inner[0] + inner[2] <= outer[0] + outer[2]
        and inner[1] + inner[3] <= outer[1] + outer[3]
    )


@pytest.mark.parametrize("flows", WORTH, ids=lambda flows: "-".join(flows))
@pytest.mark.parametrize("seed", range(4))
def test_nothing_overlaps_and_members_stay_in_their_box(seed, flows):
    items, edges = random_graph(60, seed)
    layout = lay_out(items, edges, inner=flows[0], outer=flows[1])
    placed = list(rectangles(items, layout))
    for (_, one), (_, other) in combinations(placed, 2):
        assert not overlap(one, other)
    boxes = {n: (r.x, r.y, r.width, r.height) for n, r in layout.boxes.items()}
    for one, other in combinations(boxes.values(), 2):
        assert not overlap(one, other)
    for item, rectangle in placed:
        for name, box in boxes.items():
            assert inside(rectangle, box) if name == item.cluster else not overlap(rectangle, box)
        assert inside(rectangle, (-0.1, -0.1, layout.width + 0.2, layout.height + 0.2))


def test_the_same_graph_gives_the_same_picture():
    items, edges = random_graph(80, 7)
    assert best_layout(items, edges) == best_layout(items, list(edges))


def test_data_flows_one_way():
    items, edges = random_graph(60, 3)
    layout = lay_out(items, edges, inner=Flow.RIGHT, outer=Flow.RIGHT)
    assert edges and all(layout.centres[a][0] < layout.centres[b][0] for a, b in edges)


def test_edges_begin_and_end_at_their_nodes():
    items, edges = random_graph(60, 5)
    layout = lay_out(items, edges, inner=Flow.DOWN, outer=Flow.RIGHT)
    of = {i.id: i for i in items}
    for source, target in edges:
        points = layout.routes[source, target]
        down = of[source].cluster == of[target].cluster is not None
        axis = 1 if down else 0
        size = of[source].height if down else of[source].width
        assert points[0][axis] == pytest.approx(layout.centres[source][axis] + size / 2)
        assert points[0][1 - axis] == pytest.approx(layout.centres[source][1 - axis])
        assert points[-1][1 - axis] == pytest.approx(layout.centres[target][1 - axis])


def test_cycles_and_loops_are_drawn():
    items = [Item(i, 100, 34) for i in "abc"]
    layout = lay_out(items, [("a", "b"), ("b", "c"), ("c", "a"), ("a", "a")])
    assert set(layout.routes) == {("a", "b"), ("b", "c"), ("c", "a"), ("a", "a")}


def test_a_long_chain_needs_no_deep_stack():
    sizes = [(100.0, 34.0)] * 3000
    joins = [Join(n, n + 1) for n in range(2999)]
    arrangement = arrange(sizes, joins, flow=Flow.RIGHT, layer_gap=20, gap=10)
    assert arrangement.width == pytest.approx(3000 * 120 - 20)


def test_nothing_to_lay_out():
    layout = best_layout([], [])
    assert (layout.width, layout.height, layout.centres) == (0.0, 0.0, {})


def test_nodes_without_edges_stand_in_rows_below():
    items = [Item("a", 100, 34), Item("b", 100, 34), *(Item(f"x{n}", 200, 34) for n in range(12))]
    layout = lay_out(items, [("a", "b")])
    rows = {layout.centres[f"x{n}"][1] for n in range(12)}
    assert 1 < len(rows) < 12
    assert min(rows) > layout.centres["a"][1] + 34


def calls_of_a_layout(nodes):
    items, edges = random_graph(nodes, 1)
    count = 0

    def called(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(called)
    try:
        lay_out(items, edges)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
def test_the_work_of_a_layout_grows_little_faster_than_its_nodes():
    # Calls are counted, because seconds depend on the machine. A layout makes 450 for each node.
    found = calls_of_a_layout(1000)
    assert found < 1000 * 1000
    assert found < 7 * calls_of_a_layout(250)
