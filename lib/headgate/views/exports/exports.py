"""Every export by its name: of one version, and of the landscape."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import networkx as nx

from headgate.landscape.landscape import Landscape
from headgate.model.version import Version
from headgate.text.xml_escape import distinct, printable
from headgate.views.exports.plain_graph import ExportGraph, of_landscape, of_topology
from headgate.views.scene.colours import Theme
from headgate.views.scene.compose import compose
from headgate.views.scene.landscape import Level, live_notes, sketch_landscape
from headgate.views.scene.scene import Lens, Scene, Sketch
from headgate.views.scene.topology import sketch_topology


def graphml(graph: ExportGraph) -> str:
    """Return GraphML as networkx, yEd and Gephi read it; `details` is JSON in one attribute.

    Characters that XML does not have are replaced; ids stay different from each other.
    """
    ids = distinct(n.id for n in graph.nodes)
    out: nx.DiGraph[str] = nx.DiGraph()
    for node in graph.nodes:
        facts = {k: printable(v) if isinstance(v, str) else v for k, v in node.facts.items()}
        out.add_node(ids[node.id], **facts)
    out.add_edges_from((ids[e.source], ids[e.target]) for e in graph.edges)
    written = io.BytesIO()
    nx.write_graphml_xml(out, written)
    return written.getvalue().decode() + "\n"


Content = str | bytes
ROOM = (1600.0, 1000.0)
"""Width and height in pixels for the layout of a picture, about a page on a screen."""


@dataclass(frozen=True, slots=True)
class Form:
    """A format as a download: what it is for, the file's ending and its media type."""

    title: str
    ending: str
    media_type: str


FORMS: Mapping[str, Form] = {
    "svg": Form("SVG", "svg", "image/svg+xml"),
    "png": Form("PNG", "png", "image/png"),
    "mermaid": Form("Mermaid", "mmd", "text/vnd.mermaid"),
    "dot": Form("Graphviz DOT", "dot", "text/vnd.graphviz"),
    "graphml": Form("GraphML", "graphml", "application/graphml+xml"),
    "json": Form("JSON", "json", "application/json"),
    "openlineage": Form("OpenLineage events", "ndjson", "application/x-ndjson"),
}


def export_version(
    version: Version,
    form: str,
    *,
    theme: str = Theme.AUTO,
    bootstrap: str | None = None,
    name: str | None = None,
) -> Content:
    """Return one version in a format of `FORMS` other than JSON; bytes for a PNG.

    `bootstrap` names the cluster of its topics for OpenLineage where the version does not.
    SetupError where the optional package for OpenLineage is missing.
    """
    called = name or version.name or version.engine.value
    if form in _GRAPHS:
        return _GRAPHS[form](of_topology(version.topology))
    if form == "openlineage":
        from headgate.views.exports.openlineage import Sighting, lineage

        return lineage([Sighting(called, version)], bootstrap=bootstrap)
    return picture(sketch_topology(version, name=called), form, theme=theme)


def export_landscape(
    landscape: Landscape, form: str, *, level: Level, theme: str = Theme.AUTO
) -> Content:
    """Return the landscape at a level as Mermaid, DOT, GraphML, SVG or PNG."""
    if form in _GRAPHS:
        return _GRAPHS[form](of_landscape(landscape, level))
    sketch = sketch_landscape(landscape, level, unused=True)
    return picture(sketch, form, theme=theme, notes=live_notes(landscape))


def picture(
    sketch: Sketch, form: str, *, theme: str = Theme.AUTO, notes: Mapping[str, str] | None = None
) -> Content:
    """Return a sketch as SVG or PNG."""
    return draw(compose(sketch, Lens(view=ROOM)), form, theme=theme, notes=notes)


def draw(
    scene: Scene, form: str, *, theme: str = Theme.AUTO, notes: Mapping[str, str] | None = None
) -> Content:
    """Return a scene that is already laid out as SVG or PNG."""
    if form == "png":
        from headgate.views.exports.png import png

        return png(scene, theme=Theme(theme), notes=notes)
    from headgate.views.exports.svg import svg

    return svg(scene, theme=Theme(theme), notes=notes)


def _mermaid(graph: ExportGraph) -> str:
    from headgate.views.exports.mermaid import mermaid

    return mermaid(graph)


def _dot(graph: ExportGraph) -> str:
    from headgate.views.exports.dot import dot

    return dot(graph)


_GRAPHS: Mapping[str, Callable[[ExportGraph], str]] = {
    "mermaid": _mermaid,
    "dot": _dot,
    "graphml": graphml,
}
