"""Whether a topic is another one under the same name than the one that offsets were logged of."""

from __future__ import annotations

from enum import StrEnum

from headgate.model.cluster import Cluster
from headgate.rules.core.rule import Comparison
from headgate.rules.spark.facts.cluster_offsets import Logged


class Recreated(StrEnum):
    """What ids of topics and times of records say of a topic."""

    NO = "no"
    YES = "yes"
    SINCE_STORED = "since_stored"
    LIKELY = "likely"
    NOT_KNOWN = "not_known"


def recreated(c: Comparison, cluster: Cluster, parts: list[Logged]) -> Recreated:
    """Judge one topic by the partitions whose offsets are logged.

    Equal ids prove that it is the same. Another id proves that it is another one than when the
    version was stored; that the offsets are still the old ones is proven by a record below the
    offset that is younger than the batch which planned it.
    """
    topic = parts[0].topic
    known, now = c.before.topic_ids.get(topic), cluster.topics[topic].id
    younger = _younger(cluster, parts)
    if known is not None and now is not None:
        if known == now:
            return Recreated.NO
        return {True: Recreated.YES, False: Recreated.NO, None: Recreated.SINCE_STORED}[younger]
    return {True: Recreated.LIKELY, False: Recreated.NO, None: Recreated.NOT_KNOWN}[younger]


def _younger(cluster: Cluster, parts: list[Logged]) -> bool | None:
    """Say whether a record that was read already is younger than its batch; None: not looked up."""
    looked_up = {(s.topic, s.partition): s.offset for s in cluster.since}
    asked = [p for p in parts if (p.topic, p.partition) in looked_up]
    if not asked:
        return None
    firsts = [(looked_up[p.topic, p.partition], p.offset) for p in asked]
    return any(first is not None and first < offset for first, offset in firsts)
