"""What plans and runs ask of the schema registry, and change in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from headgate.errors import HeadgateError, StepError
from headgate.gateway.schema_changes import SchemaChanges
from headgate.model.registry import Registry
from headgate.plan.world import SubjectVersion


class SchemaWorld:
    """Subjects of the registry that headgate.toml names; without one there are none."""

    registry: Registry

    def subjects(self, names: Iterable[str]) -> Mapping[str, tuple[SubjectVersion, ...]]:
        """Return those of the subjects that exist, with all versions; empty without a registry."""
        if self.registry.schema_registry_url is None:
            return {}
        with self._schemas() as schemas:
            found = {name: schemas.raw_versions(name) for name in names}
        return {name: versions for name, versions in found.items() if versions}

    @contextmanager
    def _schemas(self) -> Iterator[SchemaChanges]:
        opened = SchemaChanges(
            str(self.registry.schema_registry_url), self.registry.schema_registry
        )
        try:
            yield opened
        finally:
            opened.close()


class SchemaEffects(SchemaWorld):
    """Removing subjects, and registering their schemas anew."""

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
                raise StepError(f"subject {subject} could not be made anew: {error}") from None
