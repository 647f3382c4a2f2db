"""What a description says, before it is made a topology."""

from __future__ import annotations

from dataclasses import dataclass, field

Key = tuple[str | None, str]
"""A node's identity: the named topology that it is of (mostly None), and its name."""


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
