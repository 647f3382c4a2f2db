"""What a description says, before it is made a topology."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

Key = tuple[str | None, str]
"""The named topology of a node (None if the topology has no name), and the node's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedNode:
    """One node as the text has it; `kind` is `source`, `processor` or `sink`.

    `topics` or `pattern` for a source, `stores` for a processor, `topic` or `extractor` for a sink.
    """

    kind: str
    name: str
    line: int
    subtopology: int
    topology: str | None = None
    is_global: bool = False
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    stores: tuple[str, ...] = ()
    topic: str | None = None
    extractor: str | None = None

    @property
    def key(self) -> Key:
        """Its identity; a name is unique within one topology."""
        return self.topology, self.name


@dataclass(frozen=True, slots=True)
class Description:
    """The nodes in the order of the text, edges between their keys, and what could not be read."""

    nodes: tuple[DescribedNode, ...] = ()
    edges: tuple[tuple[Key, Key], ...] = ()
    topologies: tuple[str, ...] = ()
    line: int = 1
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def is_empty(self) -> bool:
        """Whether no node could be read."""
        return not self.nodes


def newest(found: list[Description]) -> Description:
    """Return the last description that says something, and a warning if others differ."""
    kept = [d for d in found if not d.is_empty]
    if not kept:
        return Description(warnings=tuple(w for d in found for w in d.warnings))
    last = kept[-1]
    older = [d for d in kept[:-1] if not _same(d, last)]
    if not older:
        return last
    lines = "line" if len(older) == 1 else "lines"
    said = ", ".join(str(d.line) for d in older[:3])
    more = f" and {len(older) - 3} more" if len(older) > 3 else ""
    sentence = (
        f"Headgate uses the last description, on line {last.line}, and ignores earlier ones on "
        f"{lines} {said}{more}"
    )
    return replace(last, warnings=(sentence, *last.warnings))


def _same(one: Description, other: Description) -> bool:
    def content(d: Description) -> set[DescribedNode]:
        return {replace(n, line=0) for n in d.nodes}

    return content(one) == content(other)
