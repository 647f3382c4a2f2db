"""Capture a version from evidence, or from a function that hasn't been deployed yet."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from headgate.errors import NotFoundError
from headgate.model.version import Engine, Evidence, Version
from headgate.text.numbers import instead
from headgate.usecases.context import Context, importable_from, needs_file
from headgate.usecases.evidence.captured_code import code_beside, code_of
from headgate.usecases.evidence.read_version import read_version


def capture(
    evidence: Sequence[str],
    *,
    context: Context | None = None,
    query: str | None = None,
    is_kept: bool = True,
) -> Version:
    """Return the version of the evidence, which may include `module:function`.

    A function is called in a separate process, which can import from the working directory and the
    registry's folder. No source is read and no query starts. The version is as a file or the store
    would return it, unless it is only shown (`is_kept` is False). Raises CaptureError if a function
    fails, and the errors of `read_version`.
    """
    with ExitStack() as stack:
        folders: dict[str, str] = {}
        for place in filter(is_function, evidence):
            folders[place] = _called(place, stack, context, query)
        version = read_version([folders.get(e, e) for e in evidence], context=context, query=query)
    named = _named(version, {folder: place for place, folder in folders.items()})
    kept = replace(named, captured_at=named.captured_at or _now())
    if not is_kept:
        return kept
    if len(folders) == 1:
        (entry_point,) = folders
        kept = replace(kept, code=code_of(entry_point))
    elif not folders and kept.engine is Engine.KAFKA_STREAMS and kept.code is None:
        # Its description is written from the jar that was built from the clone.
        kept = replace(kept, code=code_beside(evidence))
    return _as_kept(kept)


def read_capture(entry_point: str, folder: Path) -> Version:
    """Return the version in a folder that a capture of the function has written."""
    version = read_version([str(folder)])
    return _as_kept(replace(_named(version, {str(folder): entry_point}), captured_at=_now()))


def _as_kept(version: Version) -> Version:
    from headgate.parse.evidence.version_file import dump, load

    # As it comes back from a file or the store: a comparison must not see tuples beside lists.
    return load(dump(version), source="the captured version")


def store_version(version: Version, *, pipeline: str, context: Context) -> tuple[int, bool]:
    """Add a version to the store; return its number, and whether it is new.

    NotFoundError if the registry doesn't have the pipeline.
    """
    from headgate.parse.evidence.version_file import fingerprint
    from headgate.store import open_store

    check_declared(pipeline, context)
    with closing(open_store(context.store_url)) as store:
        return store.versions.add(pipeline, version, fingerprint(version))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def check_declared(pipeline: str, context: Context) -> None:
    """Raise NotFoundError if the registry doesn't have the pipeline."""
    needs_file(context)
    if context.registry.pipeline(pipeline) is None:
        known = instead(pipeline, [p.name for p in context.registry.pipelines])
        location = context.registry.path or "headgate.toml"
        raise NotFoundError(f"no pipeline {pipeline!r} in {location}{known}")


def is_function(evidence: str) -> bool:
    """Return whether evidence is a `module:function`, for which a separate Spark session starts."""
    if ":" not in evidence:
        return False
    from headgate.gateway.spark.capture import is_entry_point

    return is_entry_point(evidence, Path.cwd())


def _called(place: str, stack: ExitStack, context: Context | None, query: str | None) -> str:
    """Call a function and return the folder of what it reported, which lasts as long as `stack`."""
    # What starts processes is not imported for a file.
    import tempfile

    from headgate.gateway.spark.capture import capture_query

    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="headgate-capture-"))
    capture_query(place, Path(folder), importable=importable_from(context), query=query)
    return folder


def _named(version: Version, places: dict[str, str]) -> Version:
    """Replace the temporary folders of the pieces by the names of the functions."""
    evidence: dict[Evidence, None] = {}
    for found in version.evidence:
        place = next((p for f, p in places.items() if found.path.startswith(f)), None)
        evidence[Evidence(kind="capture", path=place) if place else found] = None
    warnings = tuple(_shown(w, places) for w in version.warnings)
    return replace(version, evidence=tuple(evidence), warnings=warnings)


def _shown(warning: str, places: dict[str, str]) -> str:
    for folder, place in places.items():
        warning = warning.replace(f"{folder}/", f"{place} ").replace(folder, place)
    return warning
