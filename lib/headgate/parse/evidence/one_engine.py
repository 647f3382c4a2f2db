"""Which pieces are of a Kafka Streams application, and that no other engine's lie beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from headgate.errors import EvidenceError
from headgate.model.evidence_kinds import OF_KAFKA_STREAMS, EvidenceKind
from headgate.model.kafka_streams import StreamsApplication
from headgate.model.version import Engine
from headgate.parse.evidence.recognise import Piece

_NOTHING: tuple[Any, ...] = (None, (), {}, False)
_DESCRIBED = frozenset(
    {"described", "topologies", "processors", "stores", "repartitions", "sources", "sinks"}
)


def completed_application(
    app: StreamsApplication | None, other: StreamsApplication | None
) -> StreamsApplication | None:
    """Return `app` filled with facts of `other`; what a description says stays whole."""
    if app is None or other is None:
        return app or other
    changes: dict[str, Any] = {}
    for f in fields(StreamsApplication):
        mine = getattr(app, f.name)
        if f.name in _DESCRIBED:
            if not app.described:
                changes[f.name] = getattr(other, f.name) or mine
        elif mine in _NOTHING and not (f.name == "internal" and mine is not None):
            changes[f.name] = getattr(other, f.name)
    return replace(app, **changes)


def is_streams(piece: Piece) -> bool:
    """Whether a piece by itself identifies a Kafka Streams application."""
    return piece.kind in OF_KAFKA_STREAMS and not is_weak(piece)


def is_weak(piece: Piece) -> bool:
    """Whether a piece means something beside a description only: numbers by name, an empty list."""
    if piece.kind is EvidenceKind.INTERNAL_TOPICS:
        return not piece.value.internal
    return piece.kind is EvidenceKind.INPUT_TOPICS


def check_one_engine(pieces: Sequence[Piece], checkpoints: Sequence[str]) -> None:
    """Raise EvidenceError where pieces of Spark and of Kafka Streams lie together."""
    ours = next((p for p in pieces if is_streams(p)), None)
    spark = [p.path for p in pieces if p.kind.engine is Engine.SPARK and p.value != {}]
    theirs = next(iter((*spark, *checkpoints)), None)
    if ours is not None and theirs is not None:
        raise EvidenceError(
            f"{ours.path} is from a Kafka Streams application, but {theirs} is from a Spark query. "
            "A version has only one engine: pass the evidence of each engine separately"
        )
