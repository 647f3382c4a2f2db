"""What every reset of a Kafka Streams application asks, and how its answers are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.model.version import Engine
from headgate.reprocess.scenario import Kind, Option

_STREAMS = frozenset({Engine.KAFKA_STREAMS})

INPUT_TOPICS = Option(
    name="input-topics",
    ask="Input topics that get more partitions",
    help="Input topics that get more partitions (default: all inputs).",
    kind=Kind.MANY,
    metavar="TOPIC,...",
    engines=_STREAMS,
)
INTERMEDIATE_TOPICS = Option(
    name="intermediate-topics",
    ask="Intermediate topics",
    help="Topics that the application both writes and reads; they start at their latest offset.",
    kind=Kind.MANY,
    metavar="TOPIC,...",
    engines=_STREAMS,
)
INTERNAL_TOPICS = Option(
    name="internal-topics",
    ask="Internal topics to delete",
    help="Internal topics to delete, even if no evidence shows their owner (default: all "
    "internal topics that the application owns according to evidence).",
    kind=Kind.MANY,
    metavar="TOPIC,...",
    engines=_STREAMS,
)
KEEP_INTERNAL = Option(
    name="keep-internal",
    ask="Keep internal topics and state",
    help="Keep internal topics and local state: reprocessed records count twice.",
    kind=Kind.FLAG,
    engines=_STREAMS,
)
BACK_UP = Option(
    name="back-up-internal",
    ask="Back up the state for an undo",
    help="Copy changelogs and the unread records of repartition topics to backup topics; an undo "
    "restores them.",
    kind=Kind.FLAG,
    engines=_STREAMS,
)
CLEARED = Option(
    name="local-state-cleared",
    ask="Instances with cleared local state",
    help="Instance whose local state you cleared by hand (Headgate doesn't verify this); can be "
    "repeated.",
    kind=Kind.MANY,
    metavar="INSTANCE",
    engines=_STREAMS,
)
OPTIONS = (INTERMEDIATE_TOPICS, INTERNAL_TOPICS, KEEP_INTERNAL, BACK_UP, CLEARED)


def names(options: Mapping[str, Any], option: Option) -> tuple[str, ...]:
    """Return the names that an option lists, repeated or with commas, each once."""
    given = (one.strip() for text in options.get(option.name, ()) for one in text.split(","))
    return tuple(dict.fromkeys(one for one in given if one))
