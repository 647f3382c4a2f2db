"""Say what of topics is not as it was planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.reprocess.ports.kafka import TopicShape
from headgate.text.numbers import name_list, plural


def topic_differences(
    found: Mapping[str, TopicShape], planned: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Return a clause for each topic that is missing, or not as planned.

    Of `planned` (see `topic_shapes`), a topic without `partitions` or `replication` may have any.
    """
    return [said for name in sorted(planned) if (said := _said(name, found, planned[name]))]


def _said(name: str, found: Mapping[str, TopicShape], planned: Mapping[str, Any]) -> str | None:
    shape = found.get(name)
    if shape is None:
        return f"topic {name} doesn't exist"
    wrong = name_list(_differing(shape, planned))
    return f"topic {name} has {wrong}" if wrong else None


def _differing(shape: TopicShape, planned: Mapping[str, Any]) -> Iterator[str]:
    partitions = planned.get("partitions", shape.partitions)
    if shape.partitions != partitions:
        yield f"{plural(shape.partitions, 'partition')} (planned: {partitions})"
    replication = planned.get("replication", shape.replication)
    if shape.replication != replication:
        yield f"replication factor {shape.replication} (planned: {replication})"
    now, then = shape.configs, planned["configs"]
    for key in sorted(now.keys() | then.keys()):
        if key not in now:
            yield f"no {key} (planned: {then[key]})"
        elif now[key] != then.get(key):
            yield f"{key}={now[key]} (planned: {then.get(key, 'not set')})"
