"""What somebody declared to be a rename: `KIND:OLD=NEW`, checked against both versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from headgate.errors import RenameError
from headgate.model.topology import Node, NodeKind
from headgate.model.version import Engine, Version
from headgate.rules.core.source_names import location
from headgate.text.near_names import near_names

_SHOWN = 8


class RenameKind(StrEnum):
    """What can be renamed; an operator is any node of the graph."""

    SOURCE = "source"
    STORE = "store"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Renames:
    """{old: new} by kind, in the engine's own names, and the nodes of each (`nodes`, by id).

    A source is called by its name, else by what it reads; a store by its name; an operator of
    Kafka Streams by its name in the description, one of Spark by its node id.
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    stores: Mapping[str, str] = field(default_factory=dict)
    operators: Mapping[str, str] = field(default_factory=dict)
    nodes: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        """Say whether anything was declared."""
        return bool(self.sources or self.stores or self.operators)


@dataclass(frozen=True, slots=True)
class _Thing:
    """Something that can be renamed: its own name, what else it is called by, its node."""

    name: str
    aliases: frozenset[str]
    node: str | None


def read_renames(texts: Iterable[str], before: Version, after: Version) -> Renames:
    """Return what `KIND:OLD=NEW` declare of these versions.

    OLD and NEW may be a name, a node id, a label, a topic, a path or (`operator` only) the id of a
    stateful operator. RenameError says what is not understood, exists in neither version, is
    called like several things, or was declared twice.
    """
    found: dict[RenameKind, dict[str, str]] = {kind: {} for kind in RenameKind}
    nodes: list[tuple[str, str]] = []
    for text in texts:
        kind, old, new = _resolved(text, before, after)
        if old.name in found[kind] or new.name in found[kind].values():
            raise RenameError(
                f"--rename {text}: another --rename has the same OLD or NEW. Remove one of them."
            )
        found[kind][old.name] = new.name
        if old.node and new.node:
            nodes.append((old.node, new.node))
    source, store, operator = (found[kind] for kind in RenameKind)
    return Renames(source, store, operator, tuple(nodes))


def _resolved(text: str, before: Version, after: Version) -> tuple[RenameKind, _Thing, _Thing]:
    kind, splits = _parsed(text)
    old_things, new_things = things(before, kind), things(after, kind)
    # A label may hold `=`: the split whose sides exist is meant, else the first.
    old, new = next(
        (s for s in splits if _called(old_things, s[0]) and _called(new_things, s[1])), splits[0]
    )
    return kind, _one(text, "old", old, kind, old_things), _one(text, "new", new, kind, new_things)


def _parsed(text: str) -> tuple[RenameKind, list[tuple[str, str]]]:
    kind, colon, rest = text.partition(":")
    indices = [i for i, c in enumerate(rest) if c == "="]
    splits = [(rest[:i].strip(), rest[i + 1 :].strip()) for i in indices]
    splits = [s for s in splits if all(s)]
    if not colon or kind not in list(RenameKind) or not splits:
        kinds = ", ".join(f"{k}:OLD=NEW" for k in RenameKind)
        raise RenameError(f"--rename {text!r} isn't valid. Use one of these forms: {kinds}.")
    return RenameKind(kind), splits


def _called(found: Sequence[_Thing], name: str) -> list[_Thing]:
    """Return what has that name, else what is called so among other names."""
    return [t for t in found if t.name == name] or [t for t in found if name in t.aliases]


def _one(text: str, side: str, name: str, kind: RenameKind, known: Sequence[_Thing]) -> _Thing:
    hits = _called(known, name)
    if len(hits) == 1:
        return hits[0]
    if hits:
        ids = ", ".join(h.node or h.name for h in hits)
        raise RenameError(
            f"--rename {text}: {len(hits)} {kind}s of the {side} version have the name {name!r}. "
            f"Use an id: {ids}."
        )
    raise RenameError(
        f"--rename {text}: the {side} version has no {kind} {name!r}. {kind.capitalize()}s in its "
        f"evidence: {_offered(name, known)}."
    )


def _offered(name: str, known: Sequence[_Thing]) -> str:
    names = list(dict.fromkeys(t.name for t in known))
    near = near_names(name, names, _SHOWN)
    shown = [*near, *(n for n in names if n not in near)][:_SHOWN]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"{', '.join(shown) or 'none'}{more}"


def things(version: Version, kind: RenameKind) -> list[_Thing]:
    """Return what of a version can be renamed."""
    match kind:
        case RenameKind.SOURCE:
            return list(_sources(version))
        case RenameKind.STORE:
            return list(_stores(version))
    return list(_operators(version))


def _sources(version: Version) -> Iterator[_Thing]:
    labels = {n.id: n for n in version.topology.nodes}
    for s in version.sources or ():
        node = labels.get(s.node or "")
        reads = (*s.topics, s.pattern, location(s))
        own = s.name or ", ".join(s.topics) or s.pattern or location(s) or s.node
        # Where it reads first, so that a rename of a topic stays readable in a finding.
        also = (*reads, s.node, *(_names(node) if node else ()))
        yield _Thing(own or f"{s.position}", frozenset(filter(None, also)), s.node)


def _stores(version: Version) -> Iterator[_Thing]:
    for n in version.topology.nodes:
        if n.kind is NodeKind.STATE_STORE:
            yield _Thing(str(n.details.get("store") or n.label), frozenset(_names(n)), n.id)


def _operators(version: Version) -> Iterator[_Thing]:
    numbers = {o.node: str(o.operator_id) for o in version.stateful or () if o.node}
    for n in version.topology.nodes:
        names = {*_names(n), *([numbers[n.id]] if n.id in numbers else [])}
        yield _Thing(_own_name(n, version), frozenset(names), n.id)


def _own_name(node: Node, version: Version) -> str:
    """Return the engine's name for a node: Kafka Streams has one, Spark has none."""
    if version.engine is not Engine.KAFKA_STREAMS:
        return node.id
    return str(node.details.get("described_as") or node.label)


def _names(node: Node) -> tuple[str, ...]:
    return (node.id, node.label)
