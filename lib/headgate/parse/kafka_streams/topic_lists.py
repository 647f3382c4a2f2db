"""Lists of topics: internal ones with their settings and offsets, inputs with their partitions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from headgate.model.kafka_streams import InternalKind, InternalTopic, internal_kind

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_FACTS = frozenset({"configs_set_on_topic", "configs_effective", "begin_offsets", "end_offsets"})


def is_internal_topics(found: Any) -> bool:
    """Whether JSON is a list of topics as they are on the broker; an empty list may be one."""
    return isinstance(found, list) and all(
        isinstance(t, dict)
        and isinstance(t.get("name"), str)
        and isinstance(t.get("partitions"), int)
        and bool(_FACTS & t.keys())
        for t in found
    )


def read_internal_topics(found: Sequence[Mapping[str, Any]]) -> tuple[InternalTopic, ...]:
    """Return the topics; what has another shape than expected is left out of its topic."""
    return tuple(
        InternalTopic(
            name=t["name"],
            kind=internal_kind(t["name"]) or InternalKind.UNKNOWN,
            partitions=t["partitions"],
            configs=_texts(t.get("configs_set_on_topic")),
            effective=_texts(t.get("configs_effective")),
            begin_offsets=_offsets(t.get("begin_offsets")),
            end_offsets=_offsets(t.get("end_offsets")),
        )
        for t in found
    )


def _texts(found: Any) -> dict[str, str]:
    if not isinstance(found, dict):
        return {}
    return {k: str(v) for k, v in found.items() if isinstance(v, str | int | float)}


def _offsets(found: Any) -> tuple[int, ...]:
    if not isinstance(found, list) or not all(type(o) is int for o in found):
        return ()
    return tuple(found)


def is_input_topics(found: Mapping[str, Any]) -> bool:
    """Whether a JSON object gives the partitions of topics by name."""
    return bool(found) and all(
        _TOPIC.fullmatch(k) and type(v) is int and 0 < v < 1 << 31 for k, v in found.items()
    )


def read_input_topics(found: Mapping[str, int]) -> dict[str, int]:
    """Return partitions by name, sorted."""
    return {name: found[name] for name in sorted(found)}


def by_topic(said: Mapping[str, int], topics: Sequence[str]) -> dict[str, int]:
    """Return partitions by topic: by exact name, else by an ending that only one topic has.

    A list may leave out what all names of one environment begin with (`in` for `test_in`).
    """
    out: dict[str, int] = {}
    for name, partitions in said.items():
        if name in topics:
            out[name] = partitions
            continue
        ending = [t for t in topics if t.endswith((f"_{name}", f"-{name}", f".{name}"))]
        if len(ending) == 1 and ending[0] not in said:
            out[ending[0]] = partitions
    return out
