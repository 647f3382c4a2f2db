"""A topic that a run has created: known by its id, which is kept in a file of the run."""

from __future__ import annotations

from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.steps.base.step import known_log

CREATING = "creating"
"""What the file holds until the id is known."""


def own_topic(applier: Applier, name: str, record: str) -> TopicShape | None:
    """Return the topic if the run that wrote the file `record` created it, else None."""
    shape = applier.kafka.shapes([name]).get(name)
    known = applier.folders.read_record(record)
    if shape is None or known is None:
        return None
    # The run was killed before it could write the id: then nothing is in the topic.
    is_own = not records_in(applier, name) if known == CREATING else shape.id == known
    return shape if is_own else None


def records_in(applier: Applier, name: str) -> int:
    """Return how many records were ever written to a topic without transactions."""
    topics = applier.kafka.topics([name])
    return sum(known_log(n, part)[1] for n, topic in topics.items() for part in topic.partitions)
