"""Recognise text or JSON as evidence of a Kafka Streams application, and read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.kafka_streams import InternalTopic
from headgate.parse.kafka_streams.config import (
    Config,
    is_config,
    read_config,
    read_logged,
    read_properties,
    read_release,
)
from headgate.parse.kafka_streams.describe import looks_described, read_description
from headgate.parse.kafka_streams.description import Description
from headgate.parse.kafka_streams.topic_lists import (
    is_input_topics,
    is_internal_topics,
    read_input_topics,
    read_internal_topics,
)

_LONGEST_PROPERTIES = 1 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """What one file says; `release` is that of Kafka Streams."""

    kind: EvidenceKind
    description: Description | None = None
    config: Config | None = None
    internal: tuple[InternalTopic, ...] | None = None
    inputs: dict[str, int] | None = None
    release: str | None = None


def from_text(text: str) -> Found | None:
    """Return a description or settings; an application's log may hold both, and its release."""
    config, release = read_logged(text), read_release(text)
    if looks_described(text):
        description = read_description(text)
        if not description.is_empty:
            return Found(EvidenceKind.DESCRIBE, description, config, release=release)
    if config is None and len(text) < _LONGEST_PROPERTIES:
        config = read_properties(text)
    return (
        Found(EvidenceKind.STREAMS_CONFIG, config=config, release=release)
        if config or release
        else None
    )


def from_json(values: Sequence[Any]) -> Found | None:
    """Return what one JSON value is: settings, internal topics, inputs, or a described text."""
    if len(values) != 1:
        return None
    (value,) = values
    if isinstance(value, str):
        return from_text(value)
    if is_internal_topics(value):
        return Found(EvidenceKind.INTERNAL_TOPICS, internal=read_internal_topics(value))
    if isinstance(value, dict) and value:
        if is_config(value):
            return Found(EvidenceKind.STREAMS_CONFIG, config=read_config(value))
        if is_input_topics(value):
            return Found(EvidenceKind.INPUT_TOPICS, inputs=read_input_topics(value))
    return None
