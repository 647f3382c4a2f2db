"""Read evidence into one version: files, folders, checkpoints, version files, pipelines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing

from headgate.errors import EvidenceError, ParseError
from headgate.gateway.checkpoint_files import read_checkpoint_files
from headgate.gateway.evidence_files import Entry, Place, entries, find, read
from headgate.model.version import Version
from headgate.parse.assemble import Gathered, assemble
from headgate.parse.recognise import TRIED, not_read_yet, recognise
from headgate.parse.spark.checkpoint import is_checkpoint, read_checkpoint
from headgate.usecases.context import Context

_UNKNOWN = "is of no known kind and was not read"
_MOST_REASONS = 3
_NUMBERED = re.compile(r"^(?P<name>.+)@(?P<number>\d{1,18})$")


def read_version(
    evidence: Sequence[str], *, context: Context | None = None, query: str | None = None
) -> Version:
    """Return the version that all pieces of evidence are of; pieces complete each other.

    Each is a path or URI of a file, a folder or a checkpoint, or a pipeline's NAME (its newest
    stored version) or NAME@N; an existing path wins. Raises EvidenceError where something is
    nothing that is known (it lists what was tried), NotFoundError for a version that is not
    stored, UnreachableError where a remote file system does not answer.
    """
    found = Gathered()
    for location in evidence:
        place = find(location)
        if place is not None:
            _gather(place, found)
        else:
            version = _stored(location, context)
            found.versions.append((location, version))
            found.name = found.name or _NUMBERED.sub(r"\g<name>", location)
    if not evidence:
        raise EvidenceError("no evidence was given")
    return assemble(found, query=query)


def _gather(place: Place, found: Gathered) -> None:
    """Add one place; EvidenceError where it holds nothing that is known."""
    if not place.is_folder:
        data = read(place)
        piece = recognise(data, path=place.name)
        if piece is None:
            reason = _not_read_yet(data) or f"is no evidence; tried: {', '.join(TRIED)}"
            raise EvidenceError(f"{place.name} {reason}")
        found.pieces.append(piece)
        return
    inside = entries(place)
    if is_checkpoint(e.name for e in inside):
        _checkpoint(place, found)
        return
    before = (len(found.pieces), len(found.checkpoints), len(found.warnings))
    for entry in inside:
        _entry(place, entry, found)
    if before[:2] == (len(found.pieces), len(found.checkpoints)):
        tried = ", ".join((*TRIED, "a checkpoint"))
        reasons = [w for w in found.warnings[before[2] :] if not w.endswith(_UNKNOWN)]
        reason = f"{place.name} holds no evidence; tried: {tried}"
        raise EvidenceError("; ".join((reason, *reasons[:_MOST_REASONS])))


def _not_read_yet(data: bytes) -> str | None:
    kind = not_read_yet(data)
    return f"is {kind}, which this release does not read" if kind else None


def _entry(folder: Place, entry: Entry, found: Gathered) -> None:
    """Add one entry of a folder; what is not known costs a warning."""
    if entry.name.startswith((".", "_")):
        return
    place = folder.below(entry.name)
    if entry.is_folder:
        _folder(folder, entry, found)
        return
    try:
        data = read(place)
        piece = recognise(data, path=place.name)
    except (EvidenceError, ParseError) as error:
        found.warnings.append(str(error))
        return
    if piece is None:
        reason = _not_read_yet(data) or _UNKNOWN
        found.warnings.append(f"{place.name} {reason}")
    else:
        found.pieces.append(piece)


def _folder(folder: Place, entry: Entry, found: Gathered) -> None:
    """Add a folder within a folder: a checkpoint, or a warning."""
    place = folder.below(entry.name)
    try:
        inside = entries(folder, entry.name)
    except EvidenceError as error:
        found.warnings.append(str(error))
        return
    # What of a checkpoint can't be listed is no warning: a state that is not seen would be none.
    if is_checkpoint(e.name for e in inside):
        _checkpoint(place, found)
    else:
        found.warnings.append(f"{place.name} is a folder and {_UNKNOWN}")


def _checkpoint(place: Place, found: Gathered) -> None:
    files, listing, failures = read_checkpoint_files(place)
    found.warnings.extend(failures)
    checkpoint = read_checkpoint(files, listing, source=place.name)
    found.checkpoints.append((place.name, checkpoint))


def _stored(location: str, context: Context | None) -> Version:
    """Return a stored version by its pipeline's name."""
    match = _NUMBERED.match(location)
    name = match["name"] if match else location
    pipeline = context.registry.pipeline(name) if context else None
    if context is None or pipeline is None:
        known = ", ".join(p.name for p in context.registry.pipelines) if context else ""
        declared = f" (declared are {known})" if known else ""
        raise EvidenceError(
            f"{location or 'an empty text'} is no file, no folder and no pipeline{declared}"
        )
    from headgate.store.store import open_store

    with closing(open_store(context.store_url)) as store:
        if match:
            return store.versions.get(name, int(match["number"]))
        version = store.versions.newest(name)
    if version is None:
        raise EvidenceError(f"no version of {name} is stored yet; `headgate capture` stores one")
    return version
