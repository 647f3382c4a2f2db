"""The landscape as a sketch: every pipeline, the topics between them, and other consumers."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from headgate.landscape.landscape import Landscape, LandscapeKind, LandscapeNode, LandscapePipeline
from headgate.model.version import Engine
from headgate.text.numbers import as_records, count
from headgate.views.scene.folded import MANY as MANY_DRAWN
from headgate.views.scene.operator_icons import look_of
from headgate.views.scene.scene import Look, Sketch, SketchBox, SketchEdge, SketchNode

MANY = 40
"""Maximum number of nodes for all internals. A larger landscape opens with pipelines only."""
PIPELINE = "pipeline:"


class Level(StrEnum):
    """How much of each pipeline is drawn."""

    PIPELINES = "pipelines"
    INTERNALS = "internals"


def usual_level(landscape: Landscape) -> Level:
    """Return the level that keeps the first picture readable."""
    return Level.PIPELINES if len(landscape.nodes) > MANY else Level.INTERNALS


def closes_itself(landscape: Landscape, level: Level) -> bool:
    """Whether there are too many sub-topologies even if all of them are closed.

    Internals are drawn only of pipelines that were opened then.
    """
    drawn = {(n.pipeline, n.subtopology) if n.pipeline else n.id for n in landscape.nodes}
    return level is Level.INTERNALS and len(drawn) > MANY_DRAWN


def sketch_landscape(
    landscape: Landscape,
    level: Level,
    *,
    unused: bool = False,
    opened: Collection[str] = (),
) -> Sketch:
    """Return the sketch; `unused` also draws internal topics and those that nobody touches.

    At the level of pipelines each one is a node `pipeline:NAME`, at that of internals each of
    its sub-topologies a box `NAME/NUMBER`. Pipelines that are `opened` show their internals at
    either level, and where there are too many internals only those do.
    """
    hidden = set() if unused else _beside_the_point(landscape)
    usual = Level.PIPELINES if closes_itself(landscape, level) else level
    shown_as = {
        n.id: stand_in(n, Level.INTERNALS if n.pipeline in opened else usual)
        for n in landscape.nodes
        if n.id not in hidden
    }
    nodes: dict[str, SketchNode] = {}
    for node in landscape.nodes:
        if node.id in shown_as:
            nodes.setdefault(shown_as[node.id], _node(node, shown_as[node.id]))
    pairs = [(shown_as.get(e.source), shown_as.get(e.target)) for e in landscape.edges]
    edges = dict.fromkeys((a, b) for a, b in pairs if a and b and a != b)
    numbers = dict.fromkeys(
        (n.pipeline, n.subtopology)
        for n in landscape.nodes
        if n.id in shown_as and nodes[shown_as[n.id]].box
    )
    boxes = [SketchBox(f"{p}/{s}", p or "", str(s)) for p, s in numbers]
    return Sketch(tuple(nodes.values()), tuple(SketchEdge(*e) for e in edges), tuple(boxes))


def _beside_the_point(landscape: Landscape) -> set[str]:
    """Topics and groups that no declared pipeline has to do with."""
    declared = {p.name for p in landscape.pipelines}
    shown = {
        t.id for t in landscape.topics if not t.internal and (declared & {*t.writers, *t.readers})
    }
    topics = {t.id for t in landscape.topics} - shown
    linked = {e.target for e in landscape.edges if e.source in shown}
    groups = {n.id for n in landscape.nodes if n.kind is LandscapeKind.GROUP} - linked
    return topics | groups


def stand_in(node: LandscapeNode, level: Level) -> str:
    """Return the id under which a node is drawn at a level."""
    if level is Level.PIPELINES and node.pipeline is not None:
        return PIPELINE + node.pipeline
    return node.id


def look_of_node(node: LandscapeNode, shown_as: str) -> Look:
    """Return how a node is drawn under that id."""
    if shown_as.startswith(PIPELINE) or node.kind is LandscapeKind.PIPELINE:
        plain = node.kind is LandscapeKind.PIPELINE and node.operator == Engine.CONSUMER_GROUP
        return Look.READER if plain else Look.PIPELINE
    if node.kind is LandscapeKind.TOPIC:
        return Look.TOPIC
    if node.kind is LandscapeKind.GROUP:
        return Look.READER
    return look_of(node.kind.value, node.operator)


def _node(node: LandscapeNode, shown_as: str) -> SketchNode:
    whole = shown_as.startswith(PIPELINE) or node.kind is LandscapeKind.PIPELINE
    joint = whole or node.subtopology is None or node.kind is LandscapeKind.REPARTITION
    return SketchNode(
        id=shown_as,
        look=look_of_node(node, shown_as),
        label=(node.pipeline or node.label) if whole else node.label,
        box=None if joint else f"{node.pipeline}/{node.subtopology}",
    )


def live_notes(landscape: Landscape) -> dict[str, str]:
    """Return the numbers that move, as short texts by node or box id."""
    notes = {
        t.id: as_records(t.records, count(t.records))
        for t in landscape.topics
        if t.records is not None
    }
    notes |= {t.id: "not in Kafka" for t in landscape.topics if t.exists is False}
    for group in landscape.groups:
        if group.node and group.lag is not None and not group.is_declared:
            notes[group.node] = f"lag {count(group.lag)}"
    first_boxes = _first_boxes(landscape)
    for pipeline in landscape.pipelines:
        if text := _pipeline_note(pipeline):
            places = (PIPELINE + pipeline.name, f"{pipeline.name}/pipeline")
            notes |= dict.fromkeys((*places, *first_boxes.get(pipeline.name, ())), text)
    return notes


def _pipeline_note(pipeline: LandscapePipeline) -> str:
    lag = f"lag {count(pipeline.lag)}" if pipeline.lag is not None else pipeline.note
    shown = pipeline.status if pipeline.status in ("stopped", "failed") else None
    return " · ".join(filter(None, (shown, lag)))


def _first_boxes(landscape: Landscape) -> dict[str, tuple[str]]:
    """A pipeline's note is on its first box, whatever the level."""
    least: dict[str, int] = {}
    for n in landscape.nodes:
        if n.pipeline is not None and n.subtopology is not None:
            least[n.pipeline] = min(n.subtopology, least.get(n.pipeline, n.subtopology))
    return {name: (f"{name}/{number}",) for name, number in least.items()}
