"""Exports, each read back by a parser of its own format; hostile names and plain ones."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

import networkx as nx
import pydot
import pytest
from PIL import Image

from headgate.landscape.landscape import Landscape
from headgate.views.exports.dot import dot
from headgate.views.exports.exports import graphml
from headgate.views.exports.mermaid import mermaid
from headgate.views.exports.plain_graph import ExportGraph, of_landscape, of_topology
from headgate.views.exports.png import png
from headgate.views.exports.svg import icon, svg
from headgate.views.scene.colours import DARK, LIGHT, Theme, mix
from headgate.views.scene.compose import compose
from headgate.views.scene.landscape import Level, sketch_landscape
from headgate.views.scene.scene import Look, Scene
from headgate.views.scene.topology import sketch_topology
from landscape.shop import shop
from support.console_seed import orders_v1
from views import hostile

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"
GRAPHS = {
    "plain topology": of_topology(orders_v1().topology),
    "plain landscape": of_landscape(shop(), Level.PIPELINES),
    "plain internals": of_landscape(shop(), Level.INTERNALS),
    "hostile topology": of_topology(hostile.topology()),
    "hostile landscape": of_landscape(hostile.landscape(), Level.PIPELINES),
    "hostile internals": of_landscape(hostile.landscape(), Level.INTERNALS),
}
EVERY = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)


def test_a_topology_has_its_own_nodes_and_the_landscape_one_a_pipeline():
    own = orders_v1().topology
    assert [n.id for n in GRAPHS["plain topology"].nodes] == [n.id for n in own.nodes]
    assert GRAPHS["plain topology"].edges == own.edges
    ids = {n.id for n in GRAPHS["plain landscape"].nodes}
    assert "pipeline:fraud" in ids
    assert "topic:alerts" in ids
    assert not any("/" in i for i in ids)
    joined = {(e.source, e.target) for e in GRAPHS["plain landscape"].edges}
    assert ("pipeline:enrich", "topic:enriched") in joined
    assert ("topic:enriched", "pipeline:fraud") in joined


@EVERY
def test_graphml_is_read_back_as_it_was(graph: ExportGraph):
    read = nx.read_graphml(io.BytesIO(graphml(graph).encode()))
    assert len(read.nodes) == len(graph.nodes)
    assert len(read.edges) == len(graph.edges)
    names = dict(zip((n.id for n in graph.nodes), read.nodes, strict=True))
    assert set(read.edges) == {(names[e.source], names[e.target]) for e in graph.edges}
    for node in graph.nodes:
        data = read.nodes[names[node.id]]
        assert data["kind"] == node.facts["kind"]
        assert len(data["label"]) == len(str(node.facts["label"]))


def test_graphml_keeps_what_xml_can_hold():
    read = nx.read_graphml(io.BytesIO(graphml(GRAPHS["hostile topology"]).encode()))
    for name in hostile.NAMES:
        if name.isprintable():
            assert read.nodes[name]["label"] == name


@EVERY
def test_dot_is_read_back_as_it_was(graph: ExportGraph):
    (read,) = pydot.graph_from_dot_data(dot(graph))
    nodes, edges = everything(read)
    assert len(nodes) == len(graph.nodes)
    assert len(edges) == len(graph.edges)
    assert {i for e in edges for i in (e.get_source(), e.get_destination())} <= nodes


def everything(graph):
    nodes = {n.get_name() for n in graph.get_nodes()} - {"node", "edge", "graph"}
    edges = list(graph.get_edges())
    for part in graph.get_subgraphs():
        inner, more = everything(part)
        nodes |= inner
        edges += more
    return nodes, edges


def test_dot_tells_apart_what_ends_in_a_backslash():
    text = dot(GRAPHS["hostile topology"])
    assert '"trailing\\\\"' in text
    assert "\n" * 2 not in text


@EVERY
def test_mermaid_is_one_line_a_statement_with_nothing_left_to_mean_something(graph: ExportGraph):
    lines = mermaid(graph).splitlines()
    if lines[0].startswith("%%"):
        lines.pop(0)
    assert lines[0] == "flowchart LR"
    word = r"[A-Za-z][A-Za-z0-9_-]*"
    label = r"\"(?:[A-Za-z0-9 _.,/:=+*()\[\]{}|!?$~^'-]|#[0-9]+;|[^\x00-\x7f])+\""
    pairs = (r"\(\[ \]\)", r"\{\{ \}\}", r"\[\( \)\]", r"> \]", r"\[\[ \]\]", r"\[ \]")
    shape = "(?:" + "|".join(pair.replace(" ", label) for pair in pairs) + ")"
    allowed = re.compile(
        rf"  (?:  )?{word}{shape}|  subgraph box\d+\[{label}\]|  end|  {word} (?:-->|-\.-) {word}"
        rf"|  classDef is_\w+ stroke:#\w{{6}},stroke-width:1\.5px|  class {word}(?:,{word})* is_\w+"
    )
    assert [line for line in lines[1:] if not allowed.fullmatch(line)] == []
    drawn = {m[1] for line in lines if (m := re.match(rf"\s+({word})[\[(>{{]", line))}
    ends = {m[i] for line in lines for i in (1, 2)
            if (m := re.fullmatch(rf"  ({word}) (?:-->|-\.-) ({word})", line))}  # fmt: skip
    assert len(drawn) == len(graph.nodes)
    assert ends <= drawn


def test_mermaid_says_which_limits_a_large_graph_exceeds():
    assert mermaid(GRAPHS["plain topology"]).startswith("flowchart LR\n")
    from headgate.model.topology import Edge

    wide = ExportGraph("g", GRAPHS["plain topology"].nodes, (Edge("sink", "sink"),) * 501)
    assert mermaid(wide).startswith("%% This diagram has 501 edges and ")


def scenes() -> dict[str, Scene]:
    def of(land: Landscape, level: Level) -> Scene:
        return compose(sketch_landscape(land, level, unused=True))

    return {
        "topology": compose(sketch_topology(orders_v1(), name="orders-by-city")),
        "landscape": of(shop(), Level.INTERNALS),
        "hostile topology": compose(sketch_topology(hostile.version(), name="<x>\0")),
        "hostile landscape": of(hostile.landscape(), Level.PIPELINES),
        "empty": Scene(),
    }


SCENES = scenes()


@pytest.mark.parametrize("theme", Theme)
@pytest.mark.parametrize("name", SCENES)
def test_svg_is_xml_with_every_node_edge_and_box(name, theme):
    scene = SCENES[name]
    notes = {n.id: "lag <5> & \0" for n in scene.nodes}
    root = ElementTree.fromstring(svg(scene, theme=theme, notes=notes))
    assert len(root.findall(f".//{SVG}rect[@class='face']")) == len(scene.nodes)
    assert len(root.findall(f".//{SVG}path[@class='edge']")) == len(scene.edges)
    assert len(root.findall(f".//{SVG}rect[@class='area']")) == len(scene.boxes)
    titles = [t.text or "" for t in root.iter(f"{SVG}title")]
    assert len(titles) == len(scene.nodes)
    assert not list(root.iter(f"{SVG}script"))
    assert not re.search(r"(?:href|src)=|url\((?!#head)|@import|@font-face", svg(scene))


def test_svg_holds_whole_names_and_fits_its_frame():
    text = svg(SCENES["hostile topology"])
    titles = [t.text for t in ElementTree.fromstring(text).iter(f"{SVG}title")]
    assert f"{'n' * 5000} (Projection)" in titles or any("n" * 5000 in (t or "") for t in titles)
    root = ElementTree.fromstring(svg(SCENES["topology"]))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert width >= SCENES["topology"].width
    assert height >= SCENES["topology"].height


def test_svg_follows_the_readers_theme_or_the_one_that_was_asked_for():
    scene = SCENES["topology"]
    assert "prefers-color-scheme:dark" in svg(scene)
    assert LIGHT["topic"] not in svg(scene, theme=Theme.DARK)
    assert DARK["store"] in svg(scene, theme=Theme.DARK)
    assert "prefers-color-scheme" not in svg(scene, theme=Theme.LIGHT)


def test_every_look_has_a_hue_in_both_themes_and_an_icon():
    assert {str(look) for look in Look} <= LIGHT.keys() & DARK.keys()
    assert len({icon(look) for look in Look}) >= len(Look) - 1
    assert mix("#000000", "#FFFFFF", 25) == "#BFBFBF"


@pytest.mark.parametrize("name", SCENES)
def test_png_is_a_picture_as_fine_as_it_says(name):
    scene = SCENES[name]
    picture = Image.open(io.BytesIO(png(scene)))
    picture.load()
    root = ElementTree.fromstring(svg(scene))
    assert picture.width == pytest.approx(2 * float(root.attrib["width"]), abs=2)


def test_png_shows_its_text():
    """A label's dark pixels are there: no font, no text."""
    scene = SCENES["topology"]
    picture = Image.open(io.BytesIO(png(scene, theme=Theme.LIGHT))).convert("L")
    node = max(scene.nodes, key=lambda n: n.width)
    left, top = (node.x - node.width / 2 + 40 + 28) * 2, (node.y - 8 + 28) * 2
    label = picture.crop((int(left), int(top), int(left) + 60, int(top) + 32))
    assert label.getextrema()[0] < 60
    assert Image.open(io.BytesIO(png(scene, theme=Theme.DARK))).convert("L").getpixel((2, 2)) < 60


def test_a_huge_picture_is_drawn_less_fine():
    scene = Scene(width=40_000.0, height=200.0)
    picture = Image.open(io.BytesIO(png(scene)))
    assert max(picture.size) <= 16_100
