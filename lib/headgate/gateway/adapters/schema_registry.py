"""What plans and runs ask of the schema registry, and change in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headgate.errors import HeadgateError, StepError
from headgate.gateway.adapters.run_context import RunContext
from headgate.reprocess.ports.schema_registry import SubjectVersion

if TYPE_CHECKING:
    from headgate.gateway.schema_registry.changes import SchemaChanges


class SchemaAdapter:
    """Subjects of the registry that headgate.toml names; without one there are none."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def subjects(self, names: Iterable[str]) -> Mapping[str, tuple[SubjectVersion, ...]]:
        """Return those of the subjects that exist, with all versions; empty without a registry."""
        if self._context.registry.schema_registry_url is None:
            return {}
        with self._schemas() as schemas:
            found = {name: schemas.raw_versions(name) for name in names}
        return {name: versions for name, versions in found.items() if versions}

    def subject_levels(self, names: Iterable[str]) -> Mapping[str, str]:
        """Return the compatibility levels that subjects have of their own."""
        if self._context.registry.schema_registry_url is None:
            return {}
        with self._schemas() as schemas:
            found = {name: schemas.own_level(name) for name in names}
        return {name: level for name, level in found.items() if level is not None}

    def delete_subject(self, subject: str) -> None:
        """Delete a subject; fine if it is gone, StepError where the registry refuses."""
        with self._schemas() as schemas:
            try:
                schemas.delete(subject)
            except HeadgateError as error:
                raise StepError(f"subject {subject} could not be deleted: {error}") from None

    def register_schema(self, subject: str, version: SubjectVersion) -> int:
        """Register a schema under a subject, unless it is there; return its id."""
        with self._schemas() as schemas:
            try:
                return schemas.register(subject, version)
            except HeadgateError as error:
                raise StepError(f"subject {subject} could not be recreated: {error}") from None

    def set_subject_level(self, subject: str, level: str | None) -> None:
        """Give a subject a compatibility level of its own, or take it away."""
        with self._schemas() as schemas:
            try:
                schemas.set_level(subject, level)
            except HeadgateError as error:
                raise StepError(
                    f"the compatibility level of subject {subject} could not be set: {error}"
                ) from None

    @contextmanager
    def _schemas(self) -> Iterator[SchemaChanges]:
        # Most plans ask no registry: its client is imported for those that do.
        from headgate.gateway.schema_registry.changes import SchemaChanges

        opened = SchemaChanges(
            str(self._context.registry.schema_registry_url), self._context.registry.schema_registry
        )
        try:
            yield opened
        finally:
            opened.close()
