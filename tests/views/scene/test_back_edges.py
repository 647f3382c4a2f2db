"""Edges against the flow, as foreign-key joins have them, go around everything."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from headgate.usecases.evidence.read_version import read_version
from headgate.views.scene.compose import compose
from headgate.views.scene.scene import Lens
from headgate.views.scene.topology import sketch_topology

FOLDER = Path(__file__).parents[2] / "golden" / "streams" / "4.3.1"
NAMES = ["foreign_key_join", "foreign_key_left_join_named"]


@pytest.mark.parametrize("view", [(600.0, 1200.0), (1600.0, 500.0)], ids=["upright", "wide"])
@pytest.mark.parametrize("name", NAMES)
def test_the_way_back_crosses_no_box_and_stays_in_the_picture(name, view):
    version = read_version([str(FOLDER / f"{name}.txt")])
    scene = compose(sketch_topology(version, name="app"), Lens(view=view))
    resolve = next(n.id for n in version.topology.nodes if n.operator == "foreign_key_resolve")
    (edge,) = (e for e in scene.edges if e.target == resolve)
    home = next(n.box for n in scene.nodes if n.id == resolve)
    for x, y in edge.points:
        assert 0 <= x <= scene.width and 0 <= y <= scene.height
    others = [b for b in scene.boxes if b.id != home]
    for one, two in pairwise(edge.points):
        assert not any(_crosses(one, two, box) for box in others)


def _crosses(one, two, box):
    """Whether a straight line between two points, here along an axis, enters a box."""
    low_x, high_x = sorted((one[0], two[0]))
    low_y, high_y = sorted((one[1], two[1]))
    return (
        low_x < box.x + box.width
        and high_x > box.x
        and low_y < box.y + box.height
        and high_y > box.y
    )
