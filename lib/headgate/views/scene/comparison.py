"""Two versions of a pipeline as one sketch: what stayed is drawn once, with what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum

from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import Version
from headgate.rules.core.report import Change, ChangeKind, Finding, Outcome, Report, StateEffect
from headgate.views.layout.label_size import CHARACTER, shorten
from headgate.views.scene.operator_icons import look_of
from headgate.views.scene.scene import (
    Look,
    Mark,
    Scene,
    SceneNode,
    Sketch,
    SketchBox,
    SketchEdge,
    SketchNode,
    Status,
)
from headgate.views.scene.topology import is_topic, topic_links, topic_name

BY_OUTCOME = {
    Outcome.REFUSES: Status.REFUSES,
    Outcome.SILENTLY_WRONG: Status.SILENTLY_WRONG,
    Outcome.UNKNOWN: Status.UNKNOWN,
}
ONLY_BEFORE = "before:"
"""Prefix of the id of a node that only the old version has, so that ids don't clash."""


class Side(StrEnum):
    """Which version is shown."""

    BOTH = "both"
    BEFORE = "before"
    AFTER = "after"


def sketch_comparison(before: Version, after: Version, report: Report, *, name: str) -> Sketch:
    """Return the union of both versions; matched nodes carry the id of the new version."""
    return _Union(before, after, report, name).sketch()


def union_id(report: Report, *, before: str | None, after: str | None) -> str | None:
    """Return the id that a node has in the sketch of a comparison."""
    if after is not None:
        return after
    if before is None:
        return None
    return report.matches.get(before, ONLY_BEFORE + before)


class _Union:
    """The union in the making: `ids` maps each version's node ids to the sketch's."""

    def __init__(self, before: Version, after: Version, report: Report, name: str) -> None:
        self.before, self.after, self.report, self.name = before, after, report, name
        known = {n.id for n in after.topology.nodes}
        self.matches = {b: a for b, a in report.matches.items() if a in known}
        self.old_ids = {
            n.id: self.matches.get(n.id, ONLY_BEFORE + n.id) for n in before.topology.nodes
        } | _topic_ids(before)
        self.new_ids = {n.id: n.id for n in after.topology.nodes} | _topic_ids(after)
        self.numbers = _matching_numbers(before.topology, after.topology, self.matches)

    def sketch(self) -> Sketch:
        """Return the finished sketch."""
        nodes = [*self._topics(), *self._nodes()]
        boxes = dict.fromkeys(n.box for n in nodes if n.box is not None)
        return Sketch(
            tuple(nodes), tuple(self._edges()), tuple(map(self._box, sorted(boxes, key=_number))),
            is_diff=True,
        )  # fmt: skip

    def _box(self, box: str) -> SketchBox:
        return SketchBox(box, self.name, box.rsplit("/", 1)[1])

    def _nodes(self) -> Iterable[SketchNode]:
        was = {self.old_ids[n.id]: n for n in self.before.topology.nodes}
        for node in self.after.topology.nodes:
            yield self._node(node.id, was.get(node.id), node)
        for number, node in was.items():
            if number.startswith(ONLY_BEFORE):
                yield self._node(number, node, None)

    def _node(self, union: str, was: Node | None, now: Node | None) -> SketchNode:
        shown = now or was
        assert shown is not None
        findings = [f for f in self.report.findings if self._is_about(f, was, now)]
        changes = [c for c in self.report.changes if self._is_about(c, was, now)]
        return SketchNode(
            id=union,
            look=look_of(shown.kind, shown.operator),
            label=shown.label,
            box=self._box_of(shown, old=now is None),
            status=_status(was, now, findings, changes),
            marks=_marks(findings, changes),
            before=was.id if was else None,
            after=now.id if now else None,
        )

    def _is_about(self, what: Finding | Change, was: Node | None, now: Node | None) -> bool:
        location = what.location if isinstance(what, Finding) else what
        if location.after is not None:
            return now is not None and location.after == now.id
        return location.before is not None and was is not None and location.before == was.id

    def _box_of(self, node: Node, *, old: bool) -> str | None:
        if node.kind is NodeKind.REPARTITION:
            return None
        own = node.subtopology
        number = self.numbers.get(own, f"{own} (old version)") if old else own
        return f"{self.name}/{number}"

    def _topics(self) -> Iterable[SketchNode]:
        old, new = _topic_ids(self.before), _topic_ids(self.after)
        for topic in {**new, **old}:
            yield SketchNode(
                id=topic,
                look=Look.TOPIC,
                label=topic_name(topic),
                status=_presence(topic in old, topic in new),
                before=topic if topic in old else None,
                after=topic if topic in new else None,
            )

    def _edges(self) -> Iterable[SketchEdge]:
        old = self._pairs(self.before, self.old_ids)
        new = self._pairs(self.after, self.new_ids)
        for pair in {**new, **old}:
            yield SketchEdge(*pair, _presence(pair in old, pair in new))

    def _pairs(self, version: Version, ids: Mapping[str, str]) -> dict[tuple[str, str], None]:
        edges: list[Edge] = [*version.topology.edges, *topic_links(version)]
        known = [(e.source, e.target) for e in edges if e.source in ids and e.target in ids]
        return dict.fromkeys((ids[a], ids[b]) for a, b in known)


def _presence(old: bool, new: bool) -> Status:
    if old and new:
        return Status.SAME
    return Status.ADDED if new else Status.REMOVED


def _status(
    was: Node | None, now: Node | None, findings: list[Finding], changes: list[Change]
) -> Status:
    """The worst finding wins, then whether the node is new, gone or changed."""
    worst = max((f.outcome for f in findings), default=Outcome.RESUMES)
    if worst in BY_OUTCOME:
        return BY_OUTCOME[worst]
    if was is None or now is None:
        return _presence(was is not None, now is not None)
    changed = any(c.kind is not ChangeKind.MOVED for c in changes) or findings
    return Status.CHANGED if changed else Status.SAME


def _marks(findings: list[Finding], changes: list[Change]) -> tuple[Mark, ...]:
    marks = []
    if any(c.kind is ChangeKind.MOVED for c in changes):
        marks.append(Mark.MOVED)
    if any(f.state_effect is StateEffect.MIXED for f in findings):
        marks.append(Mark.MIXED)
    return tuple(marks)


def _topic_ids(version: Version) -> dict[str, str]:
    links = topic_links(version)
    return {t: t for e in links for t in (e.source, e.target) if is_topic(t)}


def _matching_numbers(
    before: Topology, after: Topology, matches: Mapping[str, str]
) -> dict[int, int]:
    """Return which sub-topology of the new version most nodes of each old one went to.

    Where nothing was matched, the sub-topology of the same number, if there is one.
    """
    new = {n.id: n.subtopology for n in after.nodes}
    votes: dict[int, Counter[int]] = {}
    for node in before.nodes:
        count = votes.setdefault(node.subtopology, Counter())
        if node.id in matches:
            count[new[matches[node.id]]] += 1
    numbers = set(new.values())
    elected = {old: c.most_common(1)[0][0] for old, c in votes.items() if c}
    return {n: n for n in votes if n in numbers} | elected


def _number(box: str) -> tuple[int, str]:
    number = box.rsplit("/", 1)[1]
    return (int(number), "") if number.isdecimal() else (1 << 30, number)


def one_side(scene: Scene, sketch: Sketch, side: Side, old: Topology) -> Scene:
    """Return a placed comparison with only one version shown, every node where it was.

    `old` is the version before, whose labels are shown on its side.
    """
    if side is Side.BOTH:
        return scene
    there = {n.id for n in sketch.nodes if _is_on(n, side)}
    there |= {n.box for n in sketch.nodes if n.box and n.id in there}
    labels = {n.id: m.label for n in sketch.nodes if (m := old.node(n.before or ""))}
    nodes = tuple(
        replace(
            n, status=Status.SAME, marks=(),
            label=labels.get(n.id, n.label) if side is Side.BEFORE else n.label,
            text=_text(n, labels.get(n.id, n.label) if side is Side.BEFORE else n.label),
        )
        for n in scene.nodes
        if n.id in there
    )  # fmt: skip
    gone = Status.ADDED if side is Side.BEFORE else Status.REMOVED
    edges = tuple(
        replace(e, status=Status.SAME)
        for e in scene.edges
        if e.status is not gone and e.source in there and e.target in there
    )
    boxes = tuple(b for b in scene.boxes if b.id in there)
    return replace(scene, nodes=nodes, edges=edges, boxes=boxes, is_diff=False)


def _is_on(node: SketchNode, side: Side) -> bool:
    return (node.before if side is Side.BEFORE else node.after) is not None


def _text(node: SceneNode, label: str) -> str:
    """Return another label as it fits into the node that was measured for its own."""
    if label == node.label:
        return node.text
    return shorten(label, max(5, int((node.width - 48) / CHARACTER)))
