"""Remove subjects from a schema registry, and recreate them with their schemas."""

from __future__ import annotations

from typing import Any

from headgate.errors import NotFoundError
from headgate.gateway.schema_registry.client import SchemaRegistry
from headgate.reprocess.ports.schema_registry import SubjectVersion


class SchemaChanges(SchemaRegistry):
    """One registry that is written to; its client keeps answers, so open a new one for each use."""

    def raw_versions(self, subject: str) -> tuple[SubjectVersion, ...]:
        """Return every version as it was registered, oldest first; none where it has none."""
        try:
            numbers = self._ask(f"subject {subject}", lambda: self._client.get_versions(subject))
        except NotFoundError:
            return ()
        return tuple(self._raw(subject, number) for number in sorted(map(int, numbers)))

    def _raw(self, subject: str, number: int) -> SubjectVersion:
        what = f"version {number} of {subject}"
        found: Any = self._ask(what, lambda: self._client.get_version(subject, number))
        return SubjectVersion(
            version=number,
            id=found.schema_id,
            type=found.schema.schema_type or "AVRO",
            text=found.schema.schema_str or "",
            references=tuple((r.name, r.subject, r.version) for r in found.schema.references or ()),
        )

    def delete(self, subject: str) -> None:
        """Delete the subject softly: the registry may still return its schemas by their ids."""
        try:
            self._ask(
                f"the deletion of subject {subject}", lambda: self._client.delete_subject(subject)
            )
        except NotFoundError:
            return

    def register(self, subject: str, version: SubjectVersion) -> int:
        """Register a schema under the subject, unless it is there; return its id."""
        from confluent_kafka.schema_registry import Schema, SchemaReference

        references = [SchemaReference(*reference) for reference in version.references]
        schema = Schema(version.text, version.type, references)
        what = f"the new schema of subject {subject}"
        return int(self._ask(what, lambda: self._client.register_schema(subject, schema)))

    def own_level(self, subject: str) -> str | None:
        """Return the compatibility level of the subject's own; None where it has none."""
        what = f"the compatibility level of {subject}"
        try:
            return str(self._ask(what, lambda: self._client.get_compatibility(subject))).upper()
        except NotFoundError:
            return None

    def set_level(self, subject: str, level: str | None) -> None:
        """Set the subject's own level; None removes it, and is fine where there is none."""
        what = f"the compatibility level of {subject}"
        if level is not None:
            self._ask(what, lambda: self._client.set_compatibility(subject, level))
            return
        try:
            self._ask(what, lambda: self._client.delete_config(subject))
        except NotFoundError:
            return
