"""Say what pieces of evidence are, before anything is made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from headgate.errors import EvidenceError, ParseError, UnreachableError
from headgate.gateway.event_log_files import event_log, is_rolling
from headgate.gateway.evidence_files import Place, entries, find, read
from headgate.gateway.watch_files import watch_parts
from headgate.parse.recognise import not_read_yet, recognise
from headgate.parse.spark.checkpoint import is_checkpoint
from headgate.usecases.context import Context
from headgate.usecases.read_watch import TOPIC
from headgate.views.evidence_words import piece_words

HEAD = 1 << 20
"""Bytes at the beginning of a file that tell its kind."""


@dataclass(frozen=True, slots=True)
class Described:
    """One piece as it was given: what it is, None where nobody knows."""

    location: str
    words: str | None


def describe_evidence(
    evidence: Sequence[str], *, context: Context | None = None
) -> tuple[Described, ...]:
    """Return what each piece is, such as `extended explain, 4 plans` or `checkpoint`.

    Nothing is made of it, and a broken piece is described as far as it goes: it never raises.
    """
    return tuple(Described(e, _words(e, context)) for e in evidence)


def _words(location: str, context: Context | None) -> str | None:
    if location.startswith(("http://", "https://")):
        return "Spark UI or History Server"
    if location.startswith(TOPIC):
        return "watch of a query"
    try:
        place = find(location, context.registry.file_systems if context else None)
        if place is None:
            return _stored(location, context)
        return _folder(place) if place.is_folder else _file(place)
    except (EvidenceError, UnreachableError):
        return None


def _stored(location: str, context: Context | None) -> str | None:
    name, _, number = location.partition("@")
    if context is None or context.registry.pipeline(name) is None:
        return None
    return f"version {number}" if number else "the newest stored version"


def _file(place: Place) -> str | None:
    try:
        if event_log(place) is not None:
            return "event log"
        data = read(place)
        piece = recognise(data, path=place.name)
    except (EvidenceError, ParseError):
        return None
    if piece is None:
        kind = not_read_yet(data[:HEAD])
        return kind.removeprefix("an ") if kind else None
    return piece_words(piece, data[:HEAD].decode("utf-8", "replace"))


def _folder(place: Place) -> str:
    inside = entries(place)
    if is_checkpoint(e.name for e in inside):
        return "checkpoint"
    files = [e.name for e in inside if not e.is_folder]
    if is_rolling(files):
        return "rolling event log"
    if watch_parts(place, files):
        return "watch of a query"
    kinds = Counter("folders" if e.is_folder else "files" for e in inside)
    shown = " and ".join(f"{n} {k if n > 1 else k[:-1]}" for k, n in sorted(kinds.items()))
    return f"folder with {shown}" if shown else "empty folder"
