"""Put the pieces of one Kafka Streams application together."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.model.evidence_kinds import OF_KAFKA_STREAMS
from headgate.model.kafka_streams import InternalTopic
from headgate.model.version import Evidence, Version
from headgate.parse.evidence.recognise import Piece
from headgate.parse.kafka_streams.config import Config
from headgate.parse.kafka_streams.description import Description
from headgate.parse.kafka_streams.recognise import Found
from headgate.parse.kafka_streams.version import StreamsPieces, build_version
from headgate.text.numbers import plural


def build_streams(
    pieces: Sequence[Piece], *, name: str | None = None, warnings: Sequence[str] = ()
) -> Version:
    """Return the version of all pieces; where two disagree the first counts, with a warning."""
    ours = [p for p in pieces if p.kind in OF_KAFKA_STREAMS]
    problems: list[str] = []
    description = _description(ours, problems)
    release = _release(ours, problems)
    return build_version(
        StreamsPieces(
            description=description,
            config=_config(ours, problems),
            internal=_internal(ours, problems),
            inputs=_inputs(ours, problems),
            evidence=tuple(Evidence(kind=p.kind.value, path=p.path) for p in ours),
            warnings=(*warnings, *(w for p in ours for w in p.warnings), *problems),
            name=name,
            release=release,
        )
    )


def _release(pieces: Sequence[Piece], problems: list[str]) -> str | None:
    found = dict.fromkeys(p.value.release for p in pieces if p.value.release is not None)
    first = next(iter(found), None)
    if len(found) > 1:
        problems.append(
            f"the logs show Kafka Streams versions {', '.join(found)}: Headgate assumes {first}"
        )
    return first


def _description(pieces: Sequence[Piece], problems: list[str]) -> Description | None:
    found: list[tuple[str, Description]] = []
    for piece in pieces:
        value: Found = piece.value
        if value.description is not None:
            found.append((piece.path, value.description))
    if not found:
        return None
    path, kept = found[0]
    others = [p for p, d in found[1:] if _shape(d) != _shape(kept)]
    if others:
        problems.append(
            f"topology descriptions differ: Headgate uses {path} and ignores {', '.join(others)}"
        )
    return kept


def _shape(description: Description) -> tuple[frozenset[str], frozenset[object]]:
    names = frozenset(f"{n.kind} {n.name} {sorted(n.stores)}" for n in description.nodes)
    return names, frozenset(description.edges)


def _config(pieces: Sequence[Piece], problems: list[str]) -> Config | None:
    """Join settings; a log's list of all settings fills what a file does not name."""
    found = [(p.path, p.value.config) for p in pieces if p.value.config is not None]
    if not found:
        return None
    values: dict[str, str] = {}
    said_by: dict[str, str] = {}
    for path, config in sorted(found, key=lambda f: f[1].is_whole):
        for key, value in config.values.items():
            if values.setdefault(key, value) != value:
                problems.append(
                    f"setting {key} is {values[key]} in {said_by[key]}, but {value} in {path}: "
                    f"Headgate uses {values[key]}"
                )
            said_by.setdefault(key, path)
    return Config(dict(sorted(values.items())), any(c.is_whole for _, c in found))


def _internal(pieces: Sequence[Piece], problems: list[str]) -> tuple[InternalTopic, ...] | None:
    lists = [p for p in pieces if p.value.internal is not None]
    if not lists:
        return None
    found: dict[str, InternalTopic] = {}
    said_by: dict[str, str] = {}
    for piece in lists:
        for topic in piece.value.internal:
            path = said_by.setdefault(topic.name, piece.path)
            known = found.setdefault(topic.name, topic)
            if known.partitions != topic.partitions:
                first, other = (known.partitions or 0, path), (topic.partitions or 0, piece.path)
                problems.append(_differing(f"internal topic {topic.name}", first, other))
    return tuple(found[name] for name in sorted(found))


def _inputs(pieces: Sequence[Piece], problems: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    said_by: dict[str, str] = {}
    for piece in pieces:
        for name, partitions in (piece.value.inputs or {}).items():
            path = said_by.setdefault(name, piece.path)
            if found.setdefault(name, partitions) != partitions:
                first = (found[name], path)
                problems.append(_differing(f"input topic {name}", first, (partitions, piece.path)))
    return found


def _differing(topic: str, first: tuple[int, str], other: tuple[int, str]) -> str:
    """Say that two files give a topic another number of partitions."""
    return (
        f"{topic} has {plural(first[0], 'partition')} in {first[1]}, but {other[0]} in {other[1]}: "
        f"Headgate uses {first[0]}"
    )
