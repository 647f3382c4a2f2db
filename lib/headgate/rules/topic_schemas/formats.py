"""The rule about the format itself."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.topic_schema import TopicSchema
from headgate.rules.topic_schemas.facts.rule import EVOLUTION, Breach, Pair, rule


@rule("SCH001", EVOLUTION, remedy="Write the new format to a topic of its own.")
def format_changed(pair: Pair) -> Iterator[Breach]:
    """A consumer of one format can't read another format's bytes.

    If a subject checks compatibility, a schema registry rejects a version of another format.
    """
    reader, writer = pair.reader, pair.writer
    if (
        isinstance(reader, TopicSchema)
        and isinstance(writer, TopicSchema)
        and reader.format is not writer.format
    ):
        yield Breach("", reader.format.value, writer.format.value, "")


FORMATS = (format_changed,)
