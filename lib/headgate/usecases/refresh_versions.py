"""Re-read every registered pipeline; keep a version where its content changed."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from headgate.errors import HeadgateError
from headgate.model.registry import Pipeline
from headgate.parse.version_file import fingerprint
from headgate.store import Store, open_store
from headgate.usecases.context import Context


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What came of one pipeline: the `number` of its new version, or the `problem` with it."""

    pipeline: str
    number: int | None = None
    problem: str | None = None

    def __str__(self) -> str:
        if self.number is not None:
            return f"{self.pipeline}: version {self.number}"
        return f"{self.pipeline}: {self.problem}"


def refresh_versions(context: Context) -> list[Refreshed]:
    """Return the new versions, and the pipelines that could not be read; the rest is unchanged.

    What is read is the checkpoint together with the registered evidence files.
    """
    with closing(open_store(context.store_url)) as store:
        found = [_refresh(context, store, p) for p in context.registry.pipelines]
    return [f for f in found if f is not None]


def _refresh(context: Context, store: Store, pipeline: Pipeline) -> Refreshed | None:
    evidence = [*([pipeline.checkpoint] if pipeline.checkpoint else []), *pipeline.evidence]
    if not evidence:
        return None
    from headgate.usecases.read_version import read_version

    try:
        version = read_version(evidence, context=context)
        number, is_new = store.versions.add(pipeline.name, version, fingerprint(version))
    except HeadgateError as error:
        return Refreshed(pipeline.name, problem=str(error))
    return Refreshed(pipeline.name, number=number) if is_new else None
