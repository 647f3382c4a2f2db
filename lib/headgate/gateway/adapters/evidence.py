"""What plans and runs ask the rules: a verdict needs evidence, which is read above this layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from headgate.errors import RefusedError
from headgate.model.version import Sink, Version
from headgate.reprocess.ports.evidence import Output, RunningVersion, Trace, UpgradeVerdict

Judge: TypeAlias = Callable[[str, str, str | None, Sequence[str]], UpgradeVerdict]
Read: TypeAlias = Callable[[str], Version | None]
Look: TypeAlias = Callable[[str, str, str, Trace], RunningVersion]
Locate: TypeAlias = Callable[[str, str | None], tuple[Output, ...]]
Issues: TypeAlias = Callable[[str, str | Sink, Sink | None], tuple[str, ...] | None]


class EvidenceAdapter:
    """Calls `judge`, `look` and the others, which the caller who opens the inspector supplies."""

    judge: Judge | None = None
    look: Look | None = None
    locate: Locate | None = None
    read: Read | None = None
    issues: Issues | None = None

    def described(self, pipeline: str) -> Version | None:
        """Return what the registered evidence of a pipeline says, None if it has none."""
        return self.read(pipeline) if self.read else None

    def verdict(
        self, pipeline: str, after: str, before: str | None, fail_on: Sequence[str]
    ) -> UpgradeVerdict:
        """Judge a new version on top of what the pipeline has left by now."""
        if self.judge is None:
            raise RefusedError(
                f"version {after} can no longer be compared. Run `headgate plan` again"
            )
        return self.judge(pipeline, after, before, fail_on)

    def running_version(
        self, pipeline: str, after: str, version: str, trace: Trace
    ) -> RunningVersion:
        """Compare what runs with the version that was judged."""
        if self.look is None:
            raise RefusedError(f"version {after} can no longer be read. Run `headgate plan` again")
        return self.look(pipeline, after, version, trace)

    def outputs(self, pipeline: str, query_id: str | None = None) -> tuple[Output, ...]:
        """Return where registered evidence says that the query writes; empty if none says it."""
        return self.locate(pipeline, query_id) if self.locate else ()

    def schema_issues(
        self, topic: str, new: str | Sink, old: Sink | None = None
    ) -> tuple[str, ...] | None:
        """Return what consumers of a topic can't read in the records of a new version."""
        return self.issues(topic, new, old) if self.issues else None
