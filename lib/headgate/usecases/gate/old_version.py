"""Find the old version of a changed pipeline: a baseline, the running version, or the base."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from headgate.errors import EvidenceError, HeadgateError
from headgate.gateway.files.evidence_files import local_name
from headgate.model.version import Engine, Version
from headgate.parse.evidence.version_file import check_graph, load
from headgate.rules.compare.gated import ComparedWith
from headgate.store import open_store
from headgate.usecases.context import UNSET, Context
from headgate.usecases.gate.base import Base, is_below
from headgate.usecases.gate.find_changes import FoundChange
from headgate.usecases.gate.links import matches

_SUFFIX = ".headgate.json"
_SQLITE = "sqlite:///"
_UNSET = re.compile(rf"{UNSET}(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class OldVersion:
    """The old version of a pipeline and its name; `version` None means the code of the base.

    `other_code` says why the code of the base isn't the old version's; empty if it is.
    """

    compared_with: ComparedWith
    name: str
    version: Version | None = None
    other_code: str = ""
    warnings: tuple[str, ...] = ()


def find_old_version(context: Context, base: Base, found: FoundChange) -> OldVersion:
    """Return the first that exists: a baseline, the running version in the store, the base.

    EvidenceError or ParseError if the baseline can't be used.
    """
    names = [found.pipeline.name, *([found.before.name] if found.before else [])]
    paths = _baselines(base, names)
    if len(paths) > 1:
        raise EvidenceError(f"several baselines: {', '.join(paths)}. Keep only one baseline")
    if paths:
        return _baseline(base, found, paths[0])
    running, warnings = _running(context, names)
    if running is not None:
        name, version = running
        return OldVersion(
            compared_with=ComparedWith.RUNNING,
            name=name,
            version=version,
            other_code=_other_code(base, found, version),
        )
    return OldVersion(
        compared_with=ComparedWith.BASE, name=f"commit {base.commit[:10]}", warnings=warnings
    )


def _baselines(base: Base, names: list[str]) -> list[str]:
    """Return the baselines of the base; those that this change adds only if it had none."""
    wanted = {f"{name}{_SUFFIX}" for name in names}
    for files in (base.had, base.files):
        if found := sorted(p for p in files if PurePosixPath(p).name in wanted):
            return found
    return []


def _baseline(base: Base, found: FoundChange, path: str) -> OldVersion:
    """Return the baseline as the base has it: a change can't choose what it is compared with."""
    data = base.repository.read(base.commit, path) if path in base.had else None
    edited = (
        f"This change also edits {path}. The comparison uses the file of the base."
        if data is not None and path in base.changed
        else ""
    )
    if data is None:
        data = (base.repository.root / path).read_bytes()
    version = load(data, source=path)
    check_graph(version.topology, source=path)
    if version.engine is not found.pipeline.engine:
        raise EvidenceError(
            f"{path} is a version of {version.engine.value}, but headgate.toml registers "
            f"{found.pipeline.name} for {found.pipeline.engine.value}: correct `engine`, or "
            "capture the baseline again"
        )
    day = f", captured on {version.captured_at[:10]}" if version.captured_at else ""
    return OldVersion(
        compared_with=ComparedWith.BASELINE,
        name=f"{path}{day}",
        version=version,
        other_code=_other_code(base, found, version),
        warnings=(edited,) if edited else (),
    )


def _running(
    context: Context, names: list[str]
) -> tuple[tuple[str, Version] | None, tuple[str, ...]]:
    """Return what the store says runs, by name; a store that can't be read is a warning."""
    url = context.store_url
    if url.startswith(_SQLITE) and not Path(url.removeprefix(_SQLITE).partition("?")[0]).exists():
        return None, ()
    try:
        with closing(open_store(url)) as store:
            known = ((name, store.versions.running(name)) for name in names)
            return next(((n, v) for n, v in known if v is not None), None), ()
    except HeadgateError as error:
        said = f"The store can't be read, so Headgate compares with the base commit: {error}"
        return None, (said,)


def unset_store(context: Context) -> tuple[str, ...]:
    """Return a warning if the store's URL needs variables that aren't set: nothing reads it."""
    names = ", ".join(dict.fromkeys(_UNSET.findall(context.store_url)))
    if not names:
        return ()
    return (
        "Headgate compares with the base commit, because the store's URL needs environment "
        f"variables that aren't set: {names}.",
    )


def _other_code(base: Base, found: FoundChange, version: Version) -> str:
    """Say why the base's code isn't what this version was captured from; "" if it is."""
    code, before = version.code, found.before
    if code is None or code.commit is None:
        return f"the version records no commit: {_how_to_capture(base, found)}"
    if not code.is_clean:
        return "the version was captured from uncommitted files"
    if code.entry_point and (before is None or code.entry_point != before.entry_point):
        return f"the version was captured from {code.entry_point}, not from the base's entry point"
    short = code.commit[:10]
    try:
        differing = set(_differing(base, code.commit, found))
    except HeadgateError:
        return f"commit {short} of the version isn't in this clone"
    return (
        f"the version was captured from commit {short}, where the code differs" if differing else ""
    )


def _how_to_capture(base: Base, found: FoundChange) -> str:
    pipeline = found.before or found.pipeline
    if pipeline.engine is Engine.SPARK and pipeline.entry_point:
        what = pipeline.entry_point
    else:
        what = " ".join(base.path(e) or local_name(e) for e in pipeline.evidence) or "EVIDENCE"
    return f"in a clone of the deployed commit, run `headgate capture {what}`"


def _differing(base: Base, commit: str, found: FoundChange) -> Iterator[str]:
    repository = base.repository
    changed = base.links.with_names(repository.changed(repository.commit(commit), base.commit))
    yield from (c for c in changed if any(is_below(c, d) for d in found.depends_on))
    pipeline = found.before or found.pipeline
    if pipeline.inputs:
        yield from repository.changed(commit, base.commit, pipeline.inputs)
        yield from (c for c in changed for i in pipeline.inputs if matches(c, i))
    jar = base.path(pipeline.jar) if pipeline.jar else None
    if pipeline.engine is Engine.KAFKA_STREAMS and jar not in base.had:
        # Whatever differs may be in a jar that is only built.
        yield from (c for c in changed if not c.endswith(_SUFFIX))
