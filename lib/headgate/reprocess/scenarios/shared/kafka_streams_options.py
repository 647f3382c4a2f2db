"""What every reset of a Kafka Streams application asks, and how its answers are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.model.version import Engine
from headgate.reprocess.scenario import Kind, Option

_STREAMS = frozenset({Engine.KAFKA_STREAMS})

INPUT_TOPICS = Option(
    name="input-topics",
    ask="Which of its input topics are to have so many?",
    help="The input topics that get more partitions; all that it reads where none is named.",
    kind=Kind.MANY,
    metavar="TOPIC,...",
    engines=_STREAMS,
)
INTERMEDIATE_TOPICS = Option(
    name="intermediate-topics",
    ask="Which topics does it both write and read?",
    help="Topics that the application writes and reads itself: they go to their end.",
    kind=Kind.MANY,
    metavar="TOPIC,...",
    engines=_STREAMS,
)
INTERNAL_TOPICS = Option(
    name="internal-topics",
    ask="Which internal topics are to be deleted?",
    help="Delete exactly these internal topics, also unproven ones; else all that are proven.",
    kind=Kind.MANY,
    metavar="TOPIC,...",
    engines=_STREAMS,
)
KEEP_INTERNAL = Option(
    name="keep-internal",
    ask="Keep the internal topics and the state?",
    help="Leave internal topics and local state alone: what is read again counts twice.",
    kind=Kind.FLAG,
    engines=_STREAMS,
)
BACK_UP = Option(
    name="back-up-internal",
    ask="Keep a copy of the state for an undo?",
    help="Copy changelogs, and what is on its way, to backup topics: an undo brings it back.",
    kind=Kind.FLAG,
    engines=_STREAMS,
)
CLEARED = Option(
    name="local-state-cleared",
    ask="On which instances did you clear local state by hand?",
    help="An instance whose local state you have cleared, which is not proven; again for more.",
    kind=Kind.MANY,
    metavar="INSTANCE",
    engines=_STREAMS,
)
OPTIONS = (INTERMEDIATE_TOPICS, INTERNAL_TOPICS, KEEP_INTERNAL, BACK_UP, CLEARED)


def names(options: Mapping[str, Any], option: Option) -> tuple[str, ...]:
    """Return the names that an option lists, repeated or with commas, each once."""
    given = (one.strip() for text in options.get(option.name, ()) for one in text.split(","))
    return tuple(dict.fromkeys(one for one in given if one))
