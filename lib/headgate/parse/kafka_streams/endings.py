"""Say whether a description breaks off, if its last line doesn't show it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from headgate.parse.kafka_streams.describe_edges import Arrow
from headgate.parse.kafka_streams.description import DescribedNode

_ARROWS = {"source": {"-->"}, "processor": {"-->", "<--"}, "sink": {"<--"}}
"""The arrows that Kafka Streams prints for each kind of node, also for a node without neighbours.
"""
_HEADINGS = ("Sub-topology: ", "Sub-topologies:", "Global Stores:", "GlobalStore: ")
# A user may end a topic in `-repartition`, too. That is rarer than a text that breaks off there.
_OF_ENGINE = re.compile(
    r"-repartition$|^KTABLE-FK-JOIN-SUBSCRIPTION-(REGISTRATION|RESPONSE)-\d{10}-topic$"
)
_SINKS_OF_ENGINE = {
    "-subscription-registration-sink": "-subscription-registration-topic",
    "-subscription-response-sink": "-subscription-response-topic",
}


def lacks_arrows(node: DescribedNode, arrows: Iterable[Arrow]) -> bool:
    """Whether a node is described without all arrows that are printed below it."""
    own = [a for a in arrows if a.node == node.key]
    said = {a.arrow for a in own if a.names.strip(" ,")}
    return bool(_ARROWS[node.kind] - said) or own[-1].names.rstrip().endswith(",")


def begins_heading(line: str) -> bool:
    """Whether a line is how a heading begins, and not all of it."""
    text = line.strip()
    return bool(text) and any(h.startswith(text) and text != h for h in _HEADINGS)


def unread_repartitions(nodes: Sequence[DescribedNode]) -> Iterator[str]:
    """Name topics between sub-topologies that are written and, against their purpose, never read.

    These are repartition topics, and the two topics of a foreign-key join.
    """
    read = {topic for n in nodes for topic in n.topics}
    for node in nodes:
        topic = node.topic or ""
        is_internal = _OF_ENGINE.search(topic) or any(
            node.name.endswith(sink) and topic.endswith(end)
            for sink, end in _SINKS_OF_ENGINE.items()
        )
        if is_internal and topic not in read:
            yield f"the description is incomplete: no source node reads {topic}"
