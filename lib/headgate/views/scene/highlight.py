"""What is highlighted in the landscape: a path, or all that is down- or upstream."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from itertools import pairwise

from headgate.landscape.landscape import Landscape
from headgate.views.scene.landscape import PIPELINE
from headgate.views.scene.scene import Sketch

Pairs = tuple[tuple[str, str], ...]


class Trace(StrEnum):
    """What of a node's surroundings is highlighted."""

    NONE = "none"
    DOWNSTREAM = "downstream"
    UPSTREAM = "upstream"
    PATH = "path"


def along(sketch: Sketch, landscape: Landscape, nodes: Iterable[str]) -> Pairs:
    """Return the drawn edges of a way that is given by landscape node ids."""
    shown = drawn_as(sketch, landscape)
    stops = [shown[n] for n in nodes if n in shown]
    drawn = {(e.source, e.target) for e in sketch.edges}
    return tuple(pair for pair in pairwise(stops) if pair in drawn)


def among(sketch: Sketch, landscape: Landscape, nodes: Collection[str]) -> Pairs:
    """Return the drawn edges that join these landscape nodes with each other."""
    shown = drawn_as(sketch, landscape)
    kept = {shown[n] for n in nodes if n in shown}
    return tuple(
        (e.source, e.target) for e in sketch.edges if e.source in kept and e.target in kept
    )


def drawn_as(sketch: Sketch, landscape: Landscape) -> Mapping[str, str]:
    """Return under which id each landscape node is drawn; those that are not are left out."""
    drawn = {n.id for n in sketch.nodes}
    return {
        n.id: shown
        for n in landscape.nodes
        if (shown := n.id if n.id in drawn else f"{PIPELINE}{n.pipeline}") in drawn
    }
