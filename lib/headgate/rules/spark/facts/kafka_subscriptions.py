"""Which topics a Kafka source reads, and of which ones a checkpoint holds offsets."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import Source
from headgate.rules.core.match_operators import SourcePair
from headgate.rules.core.rule import Comparison
from headgate.rules.core.source_names import family
from headgate.rules.spark.facts.source_pairs import judged_pairs
from headgate.text.java_patterns import java_pattern


def kafka_pairs(c: Comparison) -> Iterator[SourcePair]:
    """Yield the pairs of sources that read Kafka on both sides."""
    for pair in judged_pairs(c):
        assert pair.before and pair.after
        if family(pair.before) == family(pair.after) == "kafka":
            yield pair


def known_topics(source: Source) -> tuple[str, ...]:
    """Return the topics whose offsets the checkpoint holds, else those that it subscribes to."""
    if isinstance(source.offsets, dict) and source.offsets:
        return tuple(map(str, source.offsets))
    return source.topics


def logged_offsets(source: Source) -> dict[str, dict[int, int]]:
    """Return the committed offsets, {topic: {partition: offset}}; empty where none are known."""
    found: dict[str, dict[int, int]] = {}
    for topic, parts in source.offsets.items() if isinstance(source.offsets, dict) else ():
        if isinstance(parts, dict):
            known = {str(p): o for p, o in parts.items() if isinstance(o, int)}
            found[str(topic)] = {int(p): o for p, o in known.items() if p.isdecimal()}
    return found


def subscribes(source: Source, topic: str) -> bool:
    """Whether a source reads a topic: Spark looks for its pattern anywhere in the name."""
    if topic in source.topics:
        return True
    if not source.pattern:
        return False
    compiled = java_pattern(source.pattern)
    # What a pattern matches that only Java understands isn't known: nothing is said to be gone.
    return compiled is None or compiled.search(topic) is not None
