"""Store every version in event logs of a pipeline, oldest first."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from headgate.model.evidence_kinds import HISTORIES
from headgate.model.version import Version
from headgate.parse.evidence.version_file import dump, fingerprint, load
from headgate.usecases.context import Context
from headgate.usecases.evidence.capture import check_declared
from headgate.usecases.evidence.read_history import read_history


@dataclass(frozen=True, slots=True)
class StoredHistory:
    """The newest version, its number, and whether it is new; `added` are all new numbers."""

    version: Version
    number: int
    is_new: bool
    added: tuple[int, ...]


def is_history(version: Version) -> bool:
    """Whether a version was read from a log or a watch, which also reports earlier versions."""
    return any(e.kind in HISTORIES for e in version.evidence)


def capture_history(
    evidence: Sequence[str], *, pipeline: str, context: Context, query: str | None = None
) -> StoredHistory:
    """Store the versions in event logs as observed versions, except those that are already stored.

    NotFoundError if the registry doesn't have the pipeline; raises the errors of `read_version`.
    """
    check_declared(pipeline, context)
    versions = [
        load(dump(v), source="the captured version")
        for v in read_history(evidence, context=context, query=query)
    ]
    from headgate.store import open_store
    from headgate.store.rows import Origin

    added: list[int] = []
    number, is_new = 0, False
    with closing(open_store(context.store_url)) as store:
        rows = store.versions.list(pipeline)
        known = {r.captured_at for r in rows if r.origin is Origin.OBSERVED}
        for version in versions:
            if version is not versions[-1] and version.captured_at in known:
                continue
            number, is_new = store.versions.add(
                pipeline, version, fingerprint(version), origin=Origin.OBSERVED
            )
            added.extend([number] if is_new else [])
    return StoredHistory(versions[-1], number, is_new, tuple(added))
