"""Read evidence once, and return all that a form shows: its kinds, its queries, its version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headgate.errors import EvidenceError, HeadgateError, ParseError
from headgate.gateway.files.evidence_files import find, read
from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.version import Version
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.usecases.context import Context
from headgate.usecases.evidence.query_rows import QueryRow, queries_of
from headgate.usecases.evidence.read_version import gather
from headgate.views.words.evidence import piece_words


@dataclass(frozen=True, slots=True)
class Described:
    """One piece of evidence: its location and its kind, None if the kind is unknown."""

    location: str
    words: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The kinds of evidence, and its version.

    `version` is None if there are several queries and none was chosen, or if nothing can be read;
    `problem` is then the reason in one sentence. `left_out` names pieces that couldn't be read.
    """

    pieces: tuple[Described, ...] = ()
    queries: tuple[QueryRow, ...] = ()
    version: Version | None = None
    problem: str | None = None
    left_out: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Return the kinds of the pieces, each once."""
        return "; ".join(dict.fromkeys(p.words for p in self.pieces if p.words))


def survey_evidence(
    evidence: Sequence[str], *, context: Context | None = None, query: str | None = None
) -> Survey:
    """Return the kinds and the version of the evidence.

    Pieces of unknown kind are left out. If nothing can be read, `problem` is the error that
    `read_version` would raise.
    """
    found, pieces, problems = Gathered(), [], []
    for location in evidence:
        try:
            one = gather([location], context=context)
        except HeadgateError as error:
            pieces.append(Described(location, None))
            problems.append(str(error))
            continue
        words = dict.fromkeys(_words(one, location, context))
        pieces.append(Described(location, "; ".join(words) or None))
        _add(found, one)
    if found.is_empty:
        problem = problems[0] if problems else "no evidence was given"
        return Survey(pieces=tuple(pieces), problem=problem)
    return _survey(found, tuple(pieces), tuple(map(_short, problems)), query)


def _survey(
    found: Gathered, pieces: tuple[Described, ...], left_out: tuple[str, ...], query: str | None
) -> Survey:
    queries = queries_of(found)
    version: Version | None = None
    problem: str | None = None
    if len(queries) < 2 or query is not None:
        try:
            version = assemble(found, query=query)
        except (EvidenceError, ParseError) as error:
            problem = str(error)
    return Survey(
        pieces=pieces, queries=queries, version=version, problem=problem, left_out=left_out
    )


def _add(found: Gathered, one: Gathered) -> None:
    found.pieces += one.pieces
    found.checkpoints += one.checkpoints
    found.versions += one.versions
    found.warnings += one.warnings
    found.name = found.name or one.name


def _words(found: Gathered, location: str, context: Context | None) -> Iterator[str]:
    for piece in found.pieces:
        is_text = piece.kind is EvidenceKind.EXPLAIN and piece.path == location
        yield piece_words(piece, _text(location, context) if is_text else "")
    yield from ("checkpoint" for _ in found.checkpoints)
    yield from ("stored version" for _ in found.versions)


def _text(location: str, context: Context | None) -> str:
    """Return explain text once more: the plans don't keep the mode of `explain`."""
    place = find(location, context.registry.file_systems if context else None)
    return "" if place is None else read(place).decode("utf-8", "replace")


def _short(problem: str) -> str:
    """Return why a piece was left out, without everything that was tried."""
    return problem.partition(". Formats tried:")[0]
