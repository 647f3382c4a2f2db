"""The landscape as JSON: nodes and edges, and what is known of pipelines, topics and groups."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from headgate.landscape.landscape import Landscape, PartitionLag
from headgate.landscape.paths import Path, Reach
from headgate.landscape.unused_resources import (
    undeclared_groups,
    unowned_topics,
    unread,
    unused,
    unwritten,
)


def landscape_json(landscape: Landscape) -> dict[str, Any]:
    """Return the object that `headgate landscape --format json` prints.

    Unknown numbers are null; `records` and lags are upper bounds. `loose_ends` lists topic names
    and group ids.
    """
    return {
        "schema": 1,
        "at": landscape.at,
        "nodes": [asdict(n) for n in landscape.nodes],
        "edges": [{"from": e.source, "to": e.target} for e in landscape.edges],
        "pipelines": [_with_positions(p) for p in landscape.pipelines],
        "topics": [_topic(asdict(t)) for t in landscape.topics],
        "groups": [_with_positions(g) for g in landscape.groups],
        "loose_ends": {
            "unused": [t.name for t in unused(landscape)],
            "unread": [t.name for t in unread(landscape)],
            "unwritten": [t.name for t in unwritten(landscape)],
            "unowned": [t.name for t in unowned_topics(landscape)],
            "undeclared": [g.id for g in undeclared_groups(landscape)],
        },
        "warnings": list(landscape.warnings),
    }


def path_json(path: Path, start: str, end: str) -> dict[str, Any]:
    """Return what `--path FROM TO` prints as JSON."""
    return {
        "schema": 1,
        "from": start,
        "to": end,
        "exists": path.exists,
        "nodes": list(path.nodes),
        "stops": list(path.stops),
        "has_more": path.has_more,
        "between": sorted(path.between),
        "back": list(path.back),
    }


def reach_json(reach: Reach, start: str) -> dict[str, Any]:
    """Return what `--downstream NODE` prints as JSON."""
    return {
        "schema": 1,
        "from": start,
        "nodes": dict(reach.nodes),
        "pipelines": list(reach.pipelines),
        "topics": list(reach.topics),
        "groups": list(reach.groups),
        "stores": list(reach.stores),
        "sinks": list(reach.sinks),
        "owners": {owner: list(names) for owner, names in reach.owners},
        "unowned": list(reach.unowned),
    }


def _with_positions(thing: Any) -> dict[str, Any]:
    return {**asdict(thing), "positions": [_position(p) for p in thing.positions]}


def _position(position: PartitionLag) -> dict[str, Any]:
    return {**asdict(position), "lag": position.lag, "lost": position.lost}


def _topic(topic: dict[str, Any]) -> dict[str, Any]:
    return {**topic, "lags": dict(topic["lags"])}
