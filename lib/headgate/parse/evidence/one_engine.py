"""Which pieces are of a Kafka Streams application, and that no other engine's lie beside them."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.errors import EvidenceError
from headgate.parse.evidence.recognise import Piece, PieceKind

KINDS = frozenset(
    {
        PieceKind.DESCRIBE,
        PieceKind.STREAMS_CONFIG,
        PieceKind.INTERNAL_TOPICS,
        PieceKind.INPUT_TOPICS,
    }
)


def is_streams(piece: Piece) -> bool:
    """Whether a piece by itself tells of a Kafka Streams application."""
    return piece.kind in KINDS and not is_weak(piece)


def is_weak(piece: Piece) -> bool:
    """Whether a piece means something beside a description only: numbers by name, an empty list."""
    if piece.kind is PieceKind.INTERNAL_TOPICS:
        return not piece.value.internal
    return piece.kind is PieceKind.INPUT_TOPICS


def check_one_engine(pieces: Sequence[Piece], checkpoints: Sequence[str]) -> None:
    """Raise EvidenceError where pieces of Spark and of Kafka Streams lie together."""
    ours = next((p for p in pieces if is_streams(p)), None)
    spark = [p.path for p in pieces if p.kind not in {*KINDS, PieceKind.VERSION} and p.value != {}]
    theirs = next(iter((*spark, *checkpoints)), None)
    if ours is not None and theirs is not None:
        raise EvidenceError(
            f"{ours.path} is of a Kafka Streams application, {theirs} of a Spark query: "
            "one version is of one engine, so read them apart"
        )
