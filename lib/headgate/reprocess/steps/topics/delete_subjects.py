"""Delete subjects of a schema registry, and register their schemas again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from headgate.errors import StalePlanError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.schema_registry import SubjectVersion
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.text.numbers import name_list, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSubjects(StepBase):
    """Delete subjects; the journal keeps schemas and compatibility levels for the undo.

    `subjects` maps a name to the ids of its versions' schemas, oldest first. The registry still
    returns a deleted schema by its id, so records that are backed up stay readable.
    """

    action: ClassVar[str] = "delete_subjects"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = True
    subjects: dict[str, list[int]]

    def describe(self) -> str:
        return (
            f"delete {plural(len(self.subjects), 'subject')} from the schema registry: "
            f"{self._named}"
        )

    @property
    def _named(self) -> str:
        return name_list(self.subjects)

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where a subject has other versions than planned; some may be gone already."""
        now = ids_of(inspector, self.subjects)
        for name, ids in sorted(self.subjects.items()):
            if not (again and name not in now) and now.get(name) != ids:
                raise StalePlanError(
                    f"the versions of subject {name} changed since the plan was made. Run "
                    "`headgate plan` again"
                )

    def bind(self, applier: Applier) -> PriorState:
        """Read the schemas, and the levels that the subjects have of their own."""
        found = applier.schemas.subjects(self.subjects)
        return {
            "versions": {name: [asdict(v) for v in found[name]] for name in sorted(found)},
            "levels": dict(applier.schemas.subject_levels(self.subjects)),
        }

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether all are gone."""
        return not applier.schemas.subjects(self.subjects)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete those that are there."""
        for name in sorted(self.subjects):
            applier.schemas.delete_subject(name)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where one is there: something registers its schemas again."""
        if left := applier.schemas.subjects(self.subjects):
            raise StepError(
                f"after the deletion, the schema registry has schemas of {name_list(left)} "
                "again. Stop the producers that register these schemas, then run `headgate "
                "plan` again"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Register the schemas again in the order of their versions, and restore their levels."""
        if not was["versions"]:
            return ()
        return (RestoreSubjects(versions=was["versions"], levels=was.get("levels", {})),)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreSubjects(StepBase):
    """Register the schemas of deleted subjects again, oldest first, and restore their levels.

    `levels` are the compatibility levels that subjects had of their own. The registry's level would
    block versions that another level let pass: meanwhile nothing is checked.
    """

    action: ClassVar[str] = "restore_subjects"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = False
    versions: dict[str, list[dict[str, Any]]]
    levels: dict[str, str] = field(default_factory=dict)

    def describe(self) -> str:
        return (
            f"register the old schemas of {name_list(self.versions)} again in the schema registry"
        )

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Say what may differ."""
        return (
            f"the schemas of {name_list(self.versions)} are the same, but their version numbers in "
            "the schema registry may be new. Check clients that use version numbers",
        )

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether all schemas are there, in their order, and the levels as they were."""
        return self._has_schemas(applier) and self._has_levels(applier)

    def _has_levels(self, applier: Applier) -> bool:
        return dict(applier.schemas.subject_levels(self.versions)) == self.levels

    def _has_schemas(self, applier: Applier) -> bool:
        now = applier.schemas.subjects(self.versions)
        return all(
            [_content(v) for v in now.get(name, ())] == [_content(_version(v)) for v in versions]
            for name, versions in self.versions.items()
        )

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Register what is missing: one that is there stays as it is."""
        for name, versions in sorted(self.versions.items()):
            for number, version in enumerate(versions):
                if number == 1:
                    # Not before the first: a registry may know no subject without a version.
                    applier.schemas.set_subject_level(name, "NONE")
                applier.schemas.register_schema(name, _version(version))
            applier.schemas.set_subject_level(name, self.levels.get(name))

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where a subject has others; say which schemas got another id."""
        names = name_list(self.versions)
        if not self._has_schemas(applier):
            raise StepError(
                f"the schema registry doesn't have exactly the old schemas of {names}. Stop the "
                "producers that register other schemas, delete these subjects in the schema "
                "registry, then resume the run"
            )
        if not self._has_levels(applier):
            raise StepError(
                f"the schema registry doesn't have the old compatibility levels of {names}. Resume "
                "the run to set them again"
            )
        before = {name: [v["id"] for v in versions] for name, versions in self.versions.items()}
        now = ids_of(applier, self.versions)
        if other := [name for name, ids in before.items() if now.get(name) != ids]:
            ids = "; ".join(f"{name}: {', '.join(map(str, now.get(name, ())))}" for name in other)
            applier.note(
                f"the schema registry gave the old schemas new ids ({ids}). Check that consumers "
                "can still read records that have the old ids"
            )


def ids_of(inspector: Inspector, names: Iterable[str]) -> dict[str, list[int]]:
    """Return the ids of the subjects' schemas, oldest version first."""
    return {
        name: [v.id for v in found] for name, found in inspector.schemas.subjects(names).items()
    }


def _version(given: dict[str, Any]) -> SubjectVersion:
    references = tuple((str(n), str(s), int(v)) for n, s, v in given["references"])
    return SubjectVersion(**{**given, "references": references})


def _content(version: SubjectVersion) -> tuple[Any, ...]:
    return (version.type, version.text, version.references)
