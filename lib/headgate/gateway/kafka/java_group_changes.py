"""What only Kafka's Java client changes in groups, each partition's own answer read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from py4j.protocol import Py4JJavaError

from headgate.gateway.kafka.java_admin_client import JavaAdmin, cause_of, is_missing
from headgate.gateway.kafka.topics import TopicPart

# Who left before, or between the look and the call, is gone, which was wanted.
_LEFT = ("UnknownMemberIdException", "leaving members should not be empty")
Target = tuple[int, int | None, str | None]


def remove_members(java: JavaAdmin, group: str) -> None:
    """Remove every member of a classic group, static ones too; StepError where Kafka refuses.

    Groups of the newer protocols have no such call. A member that is alive joins again.
    """
    with java.call(changes=True) as admin:
        every = java.jvm.org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions()
        try:
            admin.removeMembersFromConsumerGroup(group, every).all().get()
        except Py4JJavaError as error:
            if not any(word in _causes(error) for word in _LEFT):
                raise


def alter_streams_offsets(
    java: JavaAdmin, group: str, targets: Mapping[TopicPart, Target]
) -> dict[TopicPart, str]:
    """Commit offsets for an empty streams group; return why by partition for those refused."""
    with java.call(changes=True) as admin:
        keys = {part: java.partition(part) for part in targets}
        offsets = {keys[part]: _offset(java.jvm, target) for part, target in targets.items()}
        result = admin.alterStreamsGroupOffsets(group, offsets)
        return _errors(result, keys, missing_is_fine=False)


def delete_streams_offsets(
    java: JavaAdmin, group: str, parts: Iterable[TopicPart]
) -> dict[TopicPart, str]:
    """Delete committed offsets of a streams group; return why by partition for those refused.

    A group that does not exist has none to delete: fine.
    """
    with java.call(changes=True) as admin:
        keys = {part: java.partition(part) for part in parts}
        result = admin.deleteStreamsGroupOffsets(group, set(keys.values()))
        return _errors(result, keys, missing_is_fine=True)


def _offset(jvm: Any, target: Target) -> Any:
    offset, epoch, metadata = target
    known = jvm.java.util.Optional.empty() if epoch is None else jvm.java.util.Optional.of(epoch)
    return jvm.org.apache.kafka.clients.consumer.OffsetAndMetadata(
        jvm.java.lang.Long.valueOf(offset), known, metadata or ""
    )


def _errors(
    result: Any, keys: Mapping[TopicPart, Any], *, missing_is_fine: bool
) -> dict[TopicPart, str]:
    try:
        result.all().get()
    except Py4JJavaError:
        # Some were accepted all the same: each says for itself.
        return dict(_reasons(result, keys, missing_is_fine=missing_is_fine))
    return {}


def _reasons(
    result: Any, keys: Mapping[TopicPart, Any], *, missing_is_fine: bool
) -> Iterable[tuple[TopicPart, str]]:
    for part, key in keys.items():
        try:
            result.partitionResult(key).get()
        except Py4JJavaError as error:
            if not (missing_is_fine and is_missing(cause_of(error))):
                yield part, cause_of(error)


def _causes(error: Py4JJavaError) -> str:
    """Return class and message of an exception and all that it wraps."""
    thrown = error.java_exception
    found: list[str] = []
    while thrown is not None and len(found) < 10:
        found.append(str(thrown.toString()))
        thrown = thrown.getCause()
    return "; ".join(found)
