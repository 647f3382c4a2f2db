"""Consumers of each topic and their lag: consumer groups and Spark queries in one list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headgate.landscape.consumer_lag import grouped, total
from headgate.landscape.landscape import (
    Landscape,
    LandscapeGroup,
    LandscapeKind,
    PartitionLag,
    PositionState,
)

WRONG = (PositionState.DATA_LOST, PositionState.BEYOND_END)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """One consumer of one topic. `name` is a pipeline's, or an undeclared group's id.

    `kind` is the pipeline's engine or the group's type; `source` says where positions come from
    (`group`, `checkpoint`, `progress`, None where there are none) and `at` when they were true
    (None: as new as the cluster). `lag` sums the known partitions, None where none is known.
    `node` is what to select in the landscape. `is_static` where Spark joins a stream with the
    topic as a table: it reads it without keeping a position.
    """

    name: str
    kind: str
    topic: str
    node: str
    owner: str | None = None
    group: str | None = None
    declared: bool = True
    source: str | None = None
    at: str | None = None
    positions: tuple[PartitionLag, ...] = ()
    is_static: bool = False

    @property
    def lag(self) -> int | None:
        """The sum of the known lags."""
        return total(self.positions)

    @property
    def lost(self) -> int:
        """Offsets that were deleted before they were read."""
        return sum(p.lost or 0 for p in self.positions)

    @property
    def wrong(self) -> tuple[PartitionLag, ...]:
        """The positions that are no longer in their log."""
        return tuple(p for p in self.positions if p.state in WRONG)


def consumers(landscape: Landscape) -> tuple[Consumer, ...]:
    """Return every consumer of every topic: pipelines in the registry's order, then other groups.

    A pipeline that reads a topic without a known position is listed with none.
    """
    return (*_of_pipelines(landscape), *_of_groups(landscape.groups))


def _of_pipelines(landscape: Landscape) -> Iterator[Consumer]:
    static = _static(landscape)
    for p in landscape.pipelines:
        by_topic = grouped(p.positions)
        for topic in dict.fromkeys((*p.reads, *by_topic)):
            yield Consumer(
                name=p.name,
                kind=p.engine.value,
                topic=topic,
                node=next(iter(p.nodes), f"{p.name}/pipeline"),
                owner=p.owner,
                group=p.group,
                source=p.lag_from if topic in by_topic else None,
                at=p.lag_at,
                positions=by_topic.get(topic, ()),
                is_static=topic not in by_topic and (p.name, topic) in static,
            )


def _static(landscape: Landscape) -> set[tuple[str | None, str]]:
    """Return each pipeline's topics that none of its streams reads, only static relations."""
    read: dict[bool, set[tuple[str | None, str]]] = {True: set(), False: set()}
    for node in landscape.nodes:
        topics = node.details.get("topics") if node.kind is LandscapeKind.SOURCE else None
        for topic in topics if isinstance(topics, list | tuple) else ():
            read[node.details.get("static") is True].add((node.pipeline, topic))
    return read[True] - read[False]


def _of_groups(groups: Iterable[LandscapeGroup]) -> Iterator[Consumer]:
    for group in groups:
        for topic, positions in grouped(group.positions).items():
            if not group.is_declared:
                yield Consumer(
                    name=group.id,
                    kind=group.type.value,
                    topic=topic,
                    node=group.node or f"group:{group.id}",
                    group=group.id,
                    declared=False,
                    source="group",
                    positions=positions,
                )
