"""The landscape of many pipelines in boxes: by owner, otherwise by what data joins them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import networkx as nx

from headgate.landscape.landscape import Landscape
from headgate.text.numbers import plural
from headgate.views.scene.folded import MANY
from headgate.views.scene.scene import Look, Sketch, SketchBox

OWNER, TOGETHER, REST = "owner:", "together:", "together:*"


def grouped(sketch: Sketch, landscape: Landscape) -> Sketch:
    """Return a sketch of too many pipelines with each of them in the box of its owner.

    Pipelines without an owner share a box with those that topics join them with. A topic is in
    the box of its first writer, else of its first consumer; so is a consumer group.
    """
    if len(sketch.nodes) <= MANY:
        return sketch
    home = _homes(sketch, landscape)
    nodes = tuple(
        replace(n, box=home[n.id]) if n.box is None and n.id in home else n for n in sketch.nodes
    )
    own = _own(sketch, landscape)
    pipelines = Counter(n.box for n in nodes if n.look is Look.PIPELINE or n.id in own)
    names = dict.fromkeys(n.box for n in nodes if n.box and n.id in home)
    first = {n.box: n.label for n in reversed(nodes)}
    boxes = [SketchBox(box, _title(box, first[box]), _count(pipelines[box])) for box in names]
    return replace(sketch, nodes=nodes, boxes=(*sketch.boxes, *boxes))


def _count(pipelines: int) -> str:
    return plural(pipelines, "pipeline") if pipelines else ""


def _own(sketch: Sketch, landscape: Landscape) -> Mapping[str, str]:
    """Return the name of the pipeline that a node of the sketch is the whole of."""
    known = {f"pipeline:{p.name}": p.name for p in landscape.pipelines}
    known |= {f"{p.name}/pipeline": p.name for p in landscape.pipelines}
    return {n.id: known[n.id] for n in sketch.nodes if n.id in known}


def _homes(sketch: Sketch, landscape: Landscape) -> dict[str, str]:
    """Return the box of each node that is in none yet."""
    owners = {p.name: p.owner for p in landscape.pipelines}
    own = _own(sketch, landscape)
    together = _together(sketch)
    home = {
        node: f"{OWNER}{owners[name]}" if owners[name] else together[node]
        for node, name in own.items()
    }
    if len(set(home.values())) < 2:
        home = {node: together[node] for node in own}
    for follow in ("writers", "readers", "writers"):
        for edge in sketch.edges:
            near, far = (
                (edge.source, edge.target) if follow == "writers" else (edge.target, edge.source)
            )
            if far not in home and near in home:
                home[far] = home[near]
    left = [n.id for n in sketch.nodes if n.id not in home and n.box is None]
    return home | ({node: together[node] for node in left} if len(left) > MANY // 2 else {})


def _together(sketch: Sketch) -> dict[str, str]:
    """Return the box of each node's connected component; small ones share one if they are many."""
    graph = nx.Graph((e.source, e.target) for e in sketch.edges)
    graph.add_nodes_from(n.id for n in sketch.nodes)
    parts = sorted(nx.connected_components(graph), key=len, reverse=True)
    place = {n.id: number for number, n in enumerate(sketch.nodes)}
    boxes = [
        f"{TOGETHER}{min(part, key=place.__getitem__)}" if number < MANY // 2 else REST
        for number, part in enumerate(parts)
    ]
    return {node: box for box, part in zip(boxes, parts, strict=True) for node in part}


def _title(box: str, first: str) -> str:
    if box.startswith(OWNER):
        return box.removeprefix(OWNER)
    return "Others" if box == REST else f"{first} …"
