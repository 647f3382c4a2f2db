"""Which fields came, went or changed between two schemas."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.topic_schema import FieldChange, FieldChangeKind, SchemaField, TopicSchema


def field_changes(before: TopicSchema, after: TopicSchema) -> tuple[FieldChange, ...]:
    """Return the changes in the order of the old schema, what is new at the end.

    A field below one that went or came is part of that one's change.
    """
    return tuple(_outermost(list(_changes(before, after))))


def _changes(before: TopicSchema, after: TopicSchema) -> Iterator[FieldChange]:
    was, now = _by_path(before), _by_path(after)
    for path, field in was.items():
        if path not in now:
            yield FieldChange(FieldChangeKind.REMOVED, path, field.type, None)
        elif field.type != now[path].type:
            kind = FieldChangeKind.CHANGED
            yield FieldChange(kind, path, field.type, now[path].type)
    for path, field in now.items():
        if path not in was:
            yield FieldChange(FieldChangeKind.ADDED, path, None, field.type)


def _by_path(schema: TopicSchema) -> dict[str, SchemaField]:
    return {f.path: f for f in schema.fields}


def _outermost(changes: list[FieldChange]) -> Iterator[FieldChange]:
    whole = {_bare(c.path) for c in changes if c.kind is not FieldChangeKind.CHANGED}
    for change in changes:
        parts = _bare(change.path).split(".")
        if not whole & {".".join(parts[:i]) for i in range(1, len(parts))}:
            yield change


def _bare(path: str) -> str:
    return path.replace("[]", "").replace("{}", "")
