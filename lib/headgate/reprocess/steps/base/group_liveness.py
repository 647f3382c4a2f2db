"""Distinguish a group that is gone, because no commit for it is left, from a live one."""

from __future__ import annotations

from collections.abc import Iterable

from headgate.model.cluster import Group
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.steps.base.step import check_found_inactive

# After this time, consumers know each new topic and partition (`metadata.max.age.ms`, 5 minutes).
ASSIGNED_SECONDS = 330.0


def check_gone_or_inactive(
    inspector: Inspector, group: str, planned_type: str | None, *, again: bool
) -> None:
    """Refuse unless nobody is in the group; one whose last offset is gone exists no more.

    Kafka forgets the offsets of a topic with the topic, and an empty group with its last offset:
    once something was deleted, a group that does not exist is what is left of an empty one.
    """
    found = inspector.kafka.group(group)
    if again and has_gone(found):
        return
    check_found_inactive(inspector, found, planned_type or found.type.value)


def unassigned(group: Group, parts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the partitions that no member reads; none unless Kafka shows what members read."""
    taken = {part for m in group.members or () for part in m.assignment}
    return sorted(set(parts) - taken) if taken and group.is_at_work else []


def has_gone(group: Group) -> bool:
    """Return whether no group of the name may be seen; one of a hidden type has members None."""
    return group.state == "dead" and group.members == ()
