"""A graph in Graphviz's DOT, with the hues and shapes of the pages."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.text.xml_escape import distinct, printable
from headgate.views.exports.plain_graph import ExportGraph, ExportNode
from headgate.views.layout.label_size import one_line, shorten
from headgate.views.scene.colours import LIGHT
from headgate.views.scene.scene import Look

SHAPES: dict[Look, str] = {
    Look.TOPIC: "oval",
    Look.SOURCE: "oval",
    Look.SINK: "oval",
    Look.REPARTITION: "hexagon",
    Look.STORE: "cylinder",
    Look.PIPELINE: "component",
    Look.READER: "house",
}
LONGEST = 80
LONGEST_TIP = 2000


def dot(graph: ExportGraph) -> str:
    """Return the digraph: a cluster for each box, whole names in the tooltips."""
    return "\n".join(_lines(graph)) + "\n"


def _lines(graph: ExportGraph) -> Iterator[str]:
    yield f"digraph {graph.name} {{"
    yield "  rankdir=LR;"
    yield '  node [fontname="Helvetica", fontsize=11, color="#98A1B0"];'
    yield '  edge [color="#98A1B0", arrowsize=0.7];'
    ids = {name: _id(shown) for name, shown in distinct(n.id for n in graph.nodes).items()}
    for number, (box, nodes) in enumerate(graph.by_box().items()):
        if box is None:
            yield from (f"  {_node(n, ids[n.id])}" for n in nodes)
        elif nodes:
            yield f"  subgraph cluster_{number} {{"
            yield f"    label={_label(graph.boxes.get(box, box))};"
            yield '    color="#D5DAE2";'
            yield from (f"    {_node(n, ids[n.id])}" for n in nodes)
            yield "  }"
    yield from (f"  {ids[e.source]} -> {ids[e.target]};" for e in graph.edges)
    yield "}"


def _node(node: ExportNode, shown_id: str) -> str:
    shape = SHAPES.get(node.look, "box")
    style = ', style="dashed"' if node.look is Look.REPARTITION else ""
    return (
        f"{shown_id} [shape={shape}, color={_quoted(LIGHT[node.look])}{style},"
        f" label={_label(node.title)}, tooltip={_text(one_line(node.title)[:LONGEST_TIP])}];"
    )


def _label(text: str) -> str:
    return _text(shorten(text, LONGEST))


def _text(text: str) -> str:
    """Escapes such as `\\n` and `\\N` mean something in labels: every backslash is doubled.

    Entities are read in labels, too, so an ampersand is one.
    """
    return _quoted(text.replace("&", "&amp;").replace("\\", "\\\\"))


def _id(name: str) -> str:
    """In an id only the quote is escaped; a backslash before it (or at the end) is doubled."""
    return _quoted(name.replace("\\", "\\\\"))


def _quoted(text: str) -> str:
    cleaned = printable(text).replace('"', '\\"')
    return f'"{cleaned}"'
