"""Read evidence into one version: files, folders, checkpoints, version files, pipelines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from headgate.errors import EvidenceError, ParseError
from headgate.gateway.checkpoint.files import read_checkpoint_files, read_sink_files
from headgate.gateway.files.addresses import is_web
from headgate.gateway.files.evidence_files import (
    FileLocation,
    FolderEntry,
    entries,
    find,
    is_uri,
    local_name,
    read,
)
from headgate.gateway.spark.event_logs import (
    EventLogFiles,
    event_log,
    event_log_of,
    is_rolling,
    rolling_log,
)
from headgate.gateway.spark.watch_folder import read_watch_files, watch_parts
from headgate.model.evidence_kinds import TRIED, EvidenceKind
from headgate.model.version import Version
from headgate.parse.evidence.assemble import Gathered
from headgate.parse.evidence.recognise import Piece, not_read_yet, recognise
from headgate.parse.spark.checkpoint.checkpoint import is_checkpoint, read_checkpoint
from headgate.parse.spark.checkpoint.spark_metadata import FOLDER, read_sink_log
from headgate.usecases.context import Context
from headgate.usecases.evidence.choose_query import chosen_version
from headgate.usecases.evidence.read_watch import TOPIC, read_topic

if TYPE_CHECKING:
    from headgate.parse.spark.event_log.gather import Keep

_UNKNOWN = "has an unknown format and was not read"
_MOST_REASONS = 3
_MOST_NAMED = 10
_NUMBERED = re.compile(r"^(?P<name>.+)@(?P<number>\d{1,18})$")


def read_version(
    evidence: Sequence[str], *, context: Context | None = None, query: str | None = None
) -> Version:
    """Return the version that all pieces of evidence describe; the pieces complete each other.

    Each is a path or URI of a file, a folder or a checkpoint, or a pipeline's NAME (its newest
    stored version) or NAME@N. If a path exists, it counts as a path. Raises EvidenceError if a
    piece isn't evidence (the message lists what was tried), NotFoundError if a version isn't
    stored, UnreachableError if a remote file system doesn't respond.
    """
    found = gather(evidence, context=context)
    return chosen_version(found, query)


def gather(
    evidence: Sequence[str], *, context: Context | None = None, keep: Keep | None = None
) -> Gathered:
    """Return the pieces of the evidence; raises the errors of `read_version`.

    `keep` decides for which queries in event logs all progress reports are kept.
    """
    found = Gathered(keep=keep)
    for location in evidence:
        if is_web(location):
            found.pieces.append(_rest(location, found))
            continue
        place = find(location, context.registry.file_systems if context else None)
        if place is not None:
            _gather(place, found)
        elif location.startswith(TOPIC):
            watched = read_topic(location, context, found.keep)
            found.pieces.append(Piece(EvidenceKind.WATCH, location, watched, watched.log.warnings))
        elif is_uri(location):
            raise EvidenceError(
                f"{local_name(location)} not found, or access denied: check address and credentials"
            )
        else:
            version = _stored(location, context)
            found.versions.append((location, version))
            found.name = found.name or _NUMBERED.sub(r"\g<name>", location)
    if not evidence:
        raise EvidenceError("no evidence given: pass a file, folder, address or pipeline name")
    is_alone = [p.path for p in found.pieces] == list(evidence)
    if is_alone and not found.checkpoints and all(map(_is_empty, found.pieces)):
        raise EvidenceError(
            f"{', '.join(evidence)} has no evidence of a query: add explain text, a query plan, "
            "query progress, an event log or the checkpoint"
        )
    return found


def _is_empty(piece: Piece) -> bool:
    """Whether it is a file of session settings that has none, as any `{}` is."""
    return piece.kind is EvidenceKind.SETTINGS and not piece.value


def _gather(place: FileLocation, found: Gathered) -> None:
    """Add one location; EvidenceError if it holds nothing that is known."""
    if not place.is_folder:
        found.pieces.append(_only_piece(place, found))
        return
    inside = entries(place)
    if is_checkpoint(e.name for e in inside):
        _checkpoint(place, found)
        return
    if (log := _sink_log(place, inside)) is not None:
        found.pieces.append(log)
        return
    if is_rolling(files := [e.name for e in inside if not e.is_folder]):
        piece = _event_log(rolling_log(place, files), found)
        if not piece.value.events:
            raise EvidenceError(
                f"{place.name} is an event log, but Headgate can't read the events. Check "
                "that the log's files are complete"
            )
        found.pieces.append(piece)
        return
    before = (len(found.pieces), len(found.checkpoints), len(found.warnings))
    told = set(watch_parts(place, (e.name for e in inside if not e.is_folder)))
    if told:
        watched = read_watch_files(place, [e.name for e in inside if e.name in told], found.keep)
        found.pieces.append(Piece(EvidenceKind.WATCH, place.name, watched, watched.log.warnings))
    for entry in inside:
        if entry.name not in told:
            _entry(place, entry, found)
    if before[:2] == (len(found.pieces), len(found.checkpoints)):
        tried = ", ".join((*TRIED, "a checkpoint"))
        reasons = [w for w in found.warnings[before[2] :] if not w.endswith(_UNKNOWN)]
        reason = f"{place.name} contains no evidence. Formats tried: {tried}"
        raise EvidenceError("; ".join((reason, *reasons[:_MOST_REASONS])))


def _only_piece(place: FileLocation, found: Gathered) -> Piece:
    """Return what a file is that was named; EvidenceError if it is nothing that is known."""
    piece, data = _piece(place, found)
    if piece is None:
        if not data.strip():
            raise EvidenceError(
                f"{place.name} is empty. Check the path, or export the evidence again"
            )
        if packed := _packed(data):
            raise EvidenceError(
                f"{place.name} {packed}. Export the evidence again, or pass other evidence"
            )
        raise EvidenceError(
            f"{place.name} isn't evidence. Formats tried: {', '.join(TRIED)}. Pass other evidence"
        )
    return piece


def _piece(place: FileLocation, found: Gathered) -> tuple[Piece | None, bytes]:
    """Return what a file is, and its bytes, without those of an event log: it may be large."""
    if (files := event_log(place)) is not None:
        return _event_log(files, found), b""
    data = read(place)
    if (files := event_log_of(data, place.name)) is not None:
        return _event_log(files, found), data
    return recognise(data, path=place.name), data


def _event_log(files: EventLogFiles, found: Gathered) -> Piece:
    log = files.read(found.keep)
    return Piece(EvidenceKind.EVENT_LOG, files.path, log, log.warnings)


def _rest(location: str, found: Gathered) -> Piece:
    """Return what a UI or a History Server reports; its client is not imported for a file."""
    from headgate.gateway.spark.rest_api import read_spark_rest

    log, is_whole = read_spark_rest(location, found.keep)
    kind = EvidenceKind.EVENT_LOG if is_whole else EvidenceKind.REST
    return Piece(kind, log.path, log, log.warnings)


def _packed(data: bytes) -> str | None:
    kind = not_read_yet(data)
    return f"is {kind}" if kind else None


def _entry(folder: FileLocation, entry: FolderEntry, found: Gathered) -> None:
    """Add one entry of a folder; what is not known costs a warning."""
    if entry.name.startswith((".", "_")):
        return
    place = folder.below(entry.name)
    if entry.is_folder:
        _folder(folder, entry, found)
        return
    try:
        piece, data = _piece(place, found)
    except (EvidenceError, ParseError) as error:
        found.warnings.append(str(error))
        return
    if piece is None:
        reason = _packed(data) or _UNKNOWN
        found.warnings.append(f"{place.name} {reason}")
    else:
        found.pieces.append(piece)


def _folder(folder: FileLocation, entry: FolderEntry, found: Gathered) -> None:
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
    elif (log := _sink_log(place, inside)) is not None:
        found.pieces.append(log)
    elif is_rolling(files := [e.name for e in inside if not e.is_folder]):
        found.pieces.append(_event_log(rolling_log(place, files), found))
    else:
        found.warnings.append(f"{place.name} (a folder) {_UNKNOWN}")


def _sink_log(place: FileLocation, inside: Sequence[FolderEntry]) -> Piece | None:
    """Return a file sink's own log, of its folder or of the output that contains this folder.

    The output itself is data, not evidence: there may be a lot of it.
    """
    if any(e.name == FOLDER and e.is_folder for e in inside):
        place = place.below(FOLDER)
    elif place.path.rstrip("/").rpartition("/")[2] != FOLDER:
        return None
    files, names, cut, failures = read_sink_files(place)
    log = read_sink_log(files, names, source=place.name, cut=cut)
    return Piece(EvidenceKind.SINK_LOG, place.name, log, (*failures, *log.warnings))


def _checkpoint(place: FileLocation, found: Gathered) -> None:
    files, listing, failures = read_checkpoint_files(place)
    found.warnings.extend(failures)
    checkpoint = read_checkpoint(files, listing, source=place.name)
    found.checkpoints.append((place.name, checkpoint))


def _declared(context: Context | None) -> str:
    names = [p.name for p in context.registry.pipelines] if context else []
    more = [f"and {len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return f" (registered: {', '.join(names[:_MOST_NAMED] + more)})" if names else ""


def _stored(location: str, context: Context | None) -> Version:
    """Return a stored version by its pipeline's name."""
    match = _NUMBERED.match(location)
    name = match["name"] if match else location
    pipeline = context.registry.pipeline(name) if context else None
    if context is None or pipeline is None:
        what = location or "an empty path"
        if "/" in location:
            raise EvidenceError(f"{what} not found: check the path")
        raise EvidenceError(f"{what} isn't a file, folder or pipeline{_declared(context)}")
    from headgate.store.store import open_store

    with closing(open_store(context.store_url)) as store:
        if match:
            return store.versions.get(name, int(match["number"]))
        version = store.versions.newest(name)
    if version is None:
        raise EvidenceError(
            f"no version of {name} is stored yet. Store a version with `headgate capture EVIDENCE "
            f"--pipeline {name}`"
        )
    return version
