"""The view model of every graph: what is drawn, how it looks, and where it is.

    Sketch      what could be drawn: nodes, edges and boxes without positions
    Lens        how it is viewed: collapsed boxes, focus, only changes
    Scene       what is drawn, resolved and placed; frozen and comparable

Pages, notebooks and exports are writings of a scene; none of them decides anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from headgate.rules.core.report import Outcome
from headgate.views.layout.arrange import Flow
from headgate.views.layout.graph import Point
from headgate.views.scene.outcome_words import GLYPHS, MIXED_GLYPH, WORDS


class Look(StrEnum):
    """How a node is drawn: shape, icon and hue."""

    TOPIC = "topic"
    REPARTITION = "repartition"
    PROJECTION = "projection"
    JOIN = "join"
    AGGREGATION = "aggregation"
    STORE = "store"
    SOURCE = "source"
    SINK = "sink"
    GROUP = "group"
    PIPELINE = "pipeline"
    READER = "reader"
    UNREAD = "unread"


LOOK_WORDS: dict[Look, str] = {
    Look.TOPIC: "Topic",
    Look.SOURCE: "Source",
    Look.PROJECTION: "Projection",
    Look.JOIN: "Join",
    Look.AGGREGATION: "Aggregation",
    Look.REPARTITION: "Repartition",
    Look.STORE: "State store",
    Look.SINK: "Sink",
    Look.GROUP: "Collapsed group",
    Look.PIPELINE: "Pipeline",
    Look.READER: "Consumer group",
    Look.UNREAD: "Operator not recognized",
}
"""Word for each kind of node, in the order of the legend."""


class Status(StrEnum):
    """What became of a node or an edge between two versions."""

    REFUSES = "refuses"
    SILENTLY_WRONG = "silently_wrong"
    UNKNOWN = "unknown"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    SAME = "same"


STATUS_WORDS: dict[Status, tuple[str, str]] = {
    Status.REFUSES: (GLYPHS[Outcome.REFUSES], WORDS[Outcome.REFUSES]),
    Status.SILENTLY_WRONG: (GLYPHS[Outcome.SILENTLY_WRONG], WORDS[Outcome.SILENTLY_WRONG]),
    Status.UNKNOWN: (GLYPHS[Outcome.UNKNOWN], WORDS[Outcome.UNKNOWN]),
    Status.CHANGED: ("~", "Changed"),
    Status.ADDED: ("+", "Added"),
    Status.REMOVED: ("−", "Removed"),
    Status.SAME: ("", "Unchanged"),
}
"""Glyph and word of each status, worst first."""


class Mark(StrEnum):
    """A small note on a node, whatever its status."""

    MOVED = "moved"
    MIXED = "mixed"


MARK_WORDS: dict[Mark, tuple[str, str]] = {
    Mark.MOVED: ("↕", "Moved"),
    Mark.MIXED: (MIXED_GLYPH, "With mixed results"),
}


def worst(statuses: Iterable[Status]) -> Status:
    """Return the worst status, `SAME` for none."""
    found = set(statuses)
    return next((s for s in STATUS_WORDS if s in found), Status.SAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class SketchNode:
    """A node without a position.

    `box` is the id of the box around it, None for joints (topics, repartitions). `before` and
    `after` are its ids in the two versions of a comparison, None where it is in only one.
    """

    id: str
    look: Look
    label: str
    box: str | None = None
    status: Status = Status.SAME
    marks: tuple[Mark, ...] = ()
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class SketchEdge:
    """An edge between node ids."""

    source: str
    target: str
    status: Status = Status.SAME


@dataclass(frozen=True, slots=True)
class SketchBox:
    """A sub-topology: `title` is the pipeline's name, `detail` its number."""

    id: str
    title: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Sketch:
    """A graph that could be drawn; ids are unique among nodes and among boxes."""

    nodes: tuple[SketchNode, ...] = ()
    edges: tuple[SketchEdge, ...] = ()
    boxes: tuple[SketchBox, ...] = ()
    is_diff: bool = False

    def node(self, node_id: str | None) -> SketchNode | None:
        """Return the node of that id, or None."""
        return next((n for n in self.nodes if n.id == node_id), None)

    def sources_of(self, node_id: str) -> tuple[SketchNode, ...]:
        """Return the nodes that feed a node."""
        wanted = {e.source for e in self.edges if e.target == node_id}
        return tuple(n for n in self.nodes if n.id in wanted)

    def targets_of(self, node_id: str) -> tuple[SketchNode, ...]:
        """Return the nodes that a node feeds."""
        wanted = {e.target for e in self.edges if e.source == node_id}
        return tuple(n for n in self.nodes if n.id in wanted)

    def matching(self, words: str) -> tuple[str, ...]:
        """Return the ids of nodes whose label or look contains all of `words`."""
        wanted = words.casefold().split()
        if not wanted:
            return ()
        return tuple(
            n.id
            for n in self.nodes
            if all(w in f"{n.label} {LOOK_WORDS[n.look]}".casefold() for w in wanted)
        )


@dataclass(frozen=True, slots=True)
class Lens:
    """How a sketch is viewed.

    `collapsed` are box ids; `focus` shows only nodes within `hops` edges of a node;
    `only_changes` only what changed and one hop around; `view` is the canvas size in pixels.
    """

    collapsed: frozenset[str] = frozenset()
    focus: str | None = None
    hops: int = 2
    only_changes: bool = False
    view: tuple[float, float] = (1230.0, 670.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneNode:
    """A node at its position: `x`, `y` are its centre; `text` is the label as it fits.

    A collapsed box is a node of look `GROUP` with the box's id and the `count` of its nodes.
    """

    id: str
    look: Look
    label: str
    text: str
    x: float
    y: float
    width: float
    height: float
    box: str | None = None
    status: Status = Status.SAME
    marks: tuple[Mark, ...] = ()
    count: int | None = None


@dataclass(frozen=True, slots=True)
class SceneEdge:
    """An edge as points from border to border; the curve is tangent to `flow` at each."""

    source: str
    target: str
    points: tuple[Point, ...]
    flow: Flow
    status: Status = Status.SAME


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneBox:
    """A box by its top left corner."""

    id: str
    title: str
    detail: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything to draw, in pixels; statuses count only where `is_diff`."""

    nodes: tuple[SceneNode, ...] = ()
    edges: tuple[SceneEdge, ...] = ()
    boxes: tuple[SceneBox, ...] = ()
    width: float = 0.0
    height: float = 0.0
    is_diff: bool = False
    counts: dict[Status, int] = field(default_factory=dict)

    def node(self, node_id: str) -> SceneNode | None:
        """Return the node of that id, or None."""
        return next((n for n in self.nodes if n.id == node_id), None)


def first_to_see(scene: Scene, sketch: Sketch) -> str | None:
    """Return the drawn node to begin with if not all of them fit the window.

    In a comparison, on whichever side of it, it is the node with the worst status, otherwise the
    first state store: what decides about a restart. A closed box stands for its nodes.
    """
    drawn = {n.id for n in scene.nodes}
    shown = [(n, i) for n in sketch.nodes for i in (n.id, n.box) if i in drawn]
    status = worst(n.status for n, _ in shown)
    if sketch.is_diff and status is not Status.SAME:
        return next(i for n, i in shown if n.status is status)
    return next((i for n, i in shown if n.look is Look.STORE), None)
