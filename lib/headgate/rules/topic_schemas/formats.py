"""The rule about the format itself."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.topic_schema import TopicSchema
from headgate.rules.topic_schemas.facts.rule import EVOLUTION, Breach, Pair, rule


@rule("SCH001", EVOLUTION, remedy="Write the new format to a separate topic.")
def format_changed(pair: Pair) -> Iterator[Breach]:
    """A consumer of one format can't read another format's bytes.

    If the subject has a compatibility level, the schema registry rejects a version in another
    format.
    """
    reader, writer = pair.reader, pair.writer
    if (
        isinstance(reader, TopicSchema)
        and isinstance(writer, TopicSchema)
        and reader.format is not writer.format
    ):
        yield Breach("", reader.format.value, writer.format.value, "")


FORMATS = (format_changed,)
