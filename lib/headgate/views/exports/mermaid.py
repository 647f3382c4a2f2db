"""A graph as a Mermaid flowchart, with the hues and shapes of the pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headgate.views.exports.plain_graph import ExportGraph, ExportNode
from headgate.views.layout.label_size import shorten
from headgate.views.scene.colours import LIGHT
from headgate.views.scene.scene import Look

SHAPES: dict[Look, tuple[str, str]] = {
    Look.TOPIC: ("([", "])"),
    Look.SOURCE: ("([", "])"),
    Look.SINK: ("([", "])"),
    Look.REPARTITION: ("{{", "}}"),
    Look.STORE: ("[(", ")]"),
    Look.READER: (">", "]"),
    Look.PIPELINE: ("[[", "]]"),
}
BOX = ("[", "]")
LONGEST = 80
MOST_TEXT, MOST_EDGES = 50_000, 500
"""Mermaid's default limits (`maxTextSize`, `maxEdges`). A diagram can't raise these limits."""
_SAFE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*")
_WORDS = re.compile(
    "end|graph|flowchart|subgraph|style|class|click|default|classdef|linkstyle|direction"
    "|interpolate|href|call|n[0-9]+|box[0-9]+|is_.*",
    re.IGNORECASE,
)
"""Words that an id can't be: Mermaid's keywords, and ids and classes of this export."""
_ENTITY = re.compile(r"[^A-Za-z0-9 _.,/:=+*()\[\]{}|!?$~^'-]")


def mermaid(graph: ExportGraph) -> str:
    """Return the flowchart: a subgraph for each box, ids as they are where Mermaid takes them.

    Long labels are cut in the middle. A comment names the limits that a large graph exceeds.
    """
    body = "\n".join(_lines(graph)) + "\n"
    if len(body) <= MOST_TEXT and len(graph.edges) <= MOST_EDGES:
        return body
    return (
        f"%% This diagram has {len(graph.edges)} edges and {len(body)} characters. Mermaid's "
        f"defaults allow {MOST_EDGES} edges and {MOST_TEXT} characters. Raise maxEdges and "
        f"maxTextSize in Mermaid's configuration.\n{body}"
    )


def _lines(graph: ExportGraph) -> Iterator[str]:
    ids = _ids(graph)
    yield "flowchart LR"
    for number, (box, nodes) in enumerate(graph.by_box().items()):
        if box is not None and nodes:
            yield f'  subgraph box{number}["{_text(graph.boxes.get(box, box))}"]'
        indent = "  " if box is None else "    "
        yield from (indent + _node(n, ids[n.id]) for n in nodes)
        if box is not None and nodes:
            yield "  end"
    stores = {n.id for n in graph.nodes if n.look is Look.STORE}
    for edge in graph.edges:
        arrow = "-.-" if edge.target in stores else "-->"
        yield f"  {ids[edge.source]} {arrow} {ids[edge.target]}"
    for look in Look:
        members = [ids[n.id] for n in graph.nodes if n.look is look]
        if members:
            yield f"  classDef {_class(look)} stroke:{LIGHT[look]},stroke-width:1.5px"
            yield f"  class {','.join(members)} {_class(look)}"


def _node(node: ExportNode, shown_id: str) -> str:
    left, right = SHAPES.get(node.look, BOX)
    return f'{shown_id}{left}"{_text(node.title)}"{right}'


def _class(look: Look) -> str:
    return f"is_{look}"


def _ids(graph: ExportGraph) -> dict[str, str]:
    """Plain words stay; everything else gets a number (`n7`), which no plain word may be."""
    own = {n.id for n in graph.nodes if _is_safe(n.id)}
    return {
        n.id: n.id if n.id in own else f"n{number}" for number, n in enumerate(graph.nodes, start=1)
    }


def _is_safe(name: str) -> bool:
    return bool(len(name) <= LONGEST and _SAFE.fullmatch(name) and not _WORDS.fullmatch(name))


def _text(text: str) -> str:
    """Every character that could mean something becomes Mermaid's entity `#NUMBER;`."""
    cut = shorten(text, LONGEST) or " "
    return _ENTITY.sub(lambda m: _entity(m[0]), cut)


def _entity(character: str) -> str:
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF or code < 0x20:
        return "\N{REPLACEMENT CHARACTER}"
    return character if code > 0x7F else f"#{code};"
