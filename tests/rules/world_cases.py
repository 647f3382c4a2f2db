"""Kafka as it is now beside two versions: what makes a rule speak, and what keeps it silent.

What Spark 4.2.0 did with the same on a real broker stands beside each case.
"""

from dataclasses import replace

from headgate.model.cluster import Cluster, Partition, Since, Topic
from headgate.model.version import Progress, Sink
from headgate.rules.core.report import Outcome

from .build import aggregate, kafka, version

SILENT = {"failOnDataLoss": "false"}
BATCH_AT = "2026-03-01T10:00:00.000+00:00"
DAY = 86_400_000
R, W, U, OK = Outcome.REFUSES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES


def topic(name="orders", *partitions: tuple[int, int], **more):
    """Return a topic with the (begin, end) of its partitions."""
    numbered = enumerate(partitions or ((0, 5),))
    made = tuple(Partition(number=n, begin=b, end=e) for n, (b, e) in numbered)
    return Topic(name=name, partitions=made, **{"id": "id-1", "retention_ms": 7 * DAY, **more})


def now(*topics: Topic, at="2026-03-01T11:00:00.000+00:00", since=(), bootstrap="kafka:9092"):
    found = {t.name: t for t in topics or (topic(),)}
    return Cluster(id="c", at=at, bootstrap=bootstrap, topics=found, since=since)


def reading(offsets=None, options=None, topic_ids=None, progress=None, sink=None, **source):
    """Return a version that has read five records of `orders`, or what `offsets` say."""
    made = kafka(options=options, offsets={"orders": {"0": 5}} if offsets is None else offsets)
    return version(
        aggregate(),
        sources=(replace(made, **source),),
        topic_ids=topic_ids or {},
        progress=progress or Progress(last_offset_batch=3, last_commit_batch=3,
                                      offsets_at=BATCH_AT, offsets_from="checkpoint"),
        sink=sink or Sink(format="foreachBatch", node="sink"),
    )  # fmt: skip


def since(offset, name="orders"):
    return (Since(topic=name, partition=0, at=BATCH_AT, offset=offset),)


PLAIN = reading()
LOSSY = reading(options=SILENT)
STORED = reading(topic_ids={"orders": "id-1"})
OLD = reading(progress=Progress(offsets_from="stored"))
PATTERN = {"topics": (), "pattern": "ord.*", "options": {"subscribePattern": "ord.*"}}
MATCHING = reading(**PATTERN)
LOSSY_MATCHING = reading(**PATTERN | {"options": PATTERN["options"] | SILENT})
TO_KAFKA = reading(sink=Sink(format="kafka", options={"topic": "out"}, node="sink"))
AWAY = reading(options={"kafka.bootstrap.servers": "other:9092"})

# code: [(before, after, cluster, outcome; None: the rule has nothing to say)]
CASES = {
    "WLD001": [
        (PLAIN, PLAIN, now(topic("orders", (7, 8))), R),
        (PLAIN, LOSSY, now(topic("orders", (7, 8))), W),
        (PLAIN, PLAIN, now(topic("orders", (8, 8))), R),
        (PLAIN, PLAIN, now(topic("orders", (5, 8))), None),
        (PLAIN, PLAIN, now(topic("orders", (0, 8))), None),
        (PLAIN, PLAIN, now(topic("orders", (7, 8)), at=BATCH_AT), None),
        (OLD, OLD, now(topic("orders", (7, 8))), None),
        (PLAIN, PLAIN, None, None),
    ],
    "WLD002": [
        (PLAIN, PLAIN, now(topic("orders", (0, 2))), R),
        (PLAIN, LOSSY, now(topic("orders", (0, 2))), W),
        (PLAIN, PLAIN, now(topic("orders", (0, 0))), R),
        (PLAIN, PLAIN, now(topic("orders", (0, 5))), None),
        (OLD, OLD, now(topic("orders", (0, 2))), None),
        # Kafka was read before the batch, or so soon after it that clocks don't tell.
        (PLAIN, PLAIN, now(topic("orders", (0, 2)), at="2026-03-01T09:59:58+00:00"), None),
        (PLAIN, PLAIN, now(topic("orders", (0, 2)), at="2026-03-01T10:00:20+00:00"), None),
        (PLAIN, PLAIN, replace(now(topic("orders", (0, 2)), at="2026-03-01T10:00:01+00:00"),
         after_evidence=True), R),
    ],
    "WLD003": [
        (STORED, STORED, now(topic("orders", (0, 7), id="id-2"), since=since(1)), W),
        (STORED, STORED, now(topic("orders", (0, 7), id="id-2"), since=since(5)), None),
        (STORED, STORED, now(topic("orders", (0, 7), id="id-2"), since=since(None)), None),
        (STORED, STORED, now(topic("orders", (0, 7), id="id-2")), U),
        (STORED, STORED, now(topic("orders", (0, 7)), since=since(1)), None),
        (PLAIN, PLAIN, now(topic("orders", (0, 7)), since=since(1)), U),
        (PLAIN, PLAIN, now(topic("orders", (0, 7)), since=since(6)), None),
        (PLAIN, PLAIN, now(topic("orders", (0, 7))), None),
        # Nothing was read yet, so nothing is skipped; a shorter one is another rule's business.
        (reading({"orders": {"0": 0}}), PLAIN, now(topic(id="id-2"), since=since(0)), None),
        (STORED, STORED, now(topic("orders", (0, 2), id="id-2"), since=since(1)), None),
    ],
    "WLD004": [
        (PLAIN, PLAIN, now(topic("others")), R),
        (PLAIN, LOSSY, now(topic("others")), R),
        (PLAIN, reading(topics=("orders", "more")), now(topic("orders")), R),
        (PLAIN, PLAIN, now(topic("orders")), None),
        (MATCHING, MATCHING, now(topic("others")), None),
    ],
    "WLD005": [
        (reading({"orders": {"0": 5, "1": 1}}), PLAIN, now(topic("orders", (0, 7))), R),
        (reading({"orders": {"0": 5, "1": 1}}), LOSSY, now(topic("orders", (0, 7))), W),
        (reading({"orders": {"0": 5}, "ord2": {"0": 1}}, **PATTERN), MATCHING,
         now(topic("orders", (0, 7))), R),
        (reading({"orders": {"0": 5}, "ord2": {"0": 1}}, **PATTERN), LOSSY_MATCHING,
         now(topic("orders", (0, 7))), OK),
        (PLAIN, PLAIN, now(topic("orders", (0, 7))), None),
        # The partition was added after Kafka was read.
        (reading({"orders": {"0": 5, "1": 1}}), PLAIN, now(topic("orders", (0, 7)), at=BATCH_AT),
         None),
    ],
    "WLD006": [
        (PLAIN, PLAIN, now(topic("orders", (0, 5), (0, 3))), OK),
        (PLAIN, PLAIN, now(topic("orders", (0, 5), (2, 3))), R),
        (PLAIN, LOSSY, now(topic("orders", (0, 5), (2, 3))), W),
        (MATCHING, MATCHING, now(topic("orders"), topic("ordinary", (0, 9))), OK),
        (MATCHING, MATCHING, now(topic("orders"), topic("ordinary", (4, 9))), R),
        (MATCHING, MATCHING, now(topic("orders"), topic("ordinary", internal=True)), None),
        (PLAIN, PLAIN, now(topic("orders")), None),
        (reading({}), reading({}), now(topic("orders")), None),
    ],
    "WLD007": [
        (PLAIN, PLAIN, now(topic("orders", (0, 8)), at="2026-03-07T10:00:00+00:00"), OK),
        (PLAIN, PLAIN, now(topic("orders", (0, 8)), at="2026-03-03T10:00:00+00:00"), None),
        (PLAIN, PLAIN, now(topic("orders", (0, 5)), at="2026-03-07T10:00:00+00:00"), None),
        (PLAIN, PLAIN, now(topic("orders", (0, 8), retention_ms=-1), at="2027-03-07T10:00:00Z"),
         None),
    ],
    "WLD008": [
        (TO_KAFKA, TO_KAFKA, now(), U),
        (TO_KAFKA, TO_KAFKA, now(topic(), topic("out")), None),
    ],
    "WLD009": [
        (AWAY, AWAY, now(topic("others")), U),
        (AWAY, AWAY, now(topic("orders")), None),
        (PLAIN, PLAIN, now(topic("others")), None),
    ],
    "WLD010": [
        (PLAIN, PLAIN, None, U),
        (PLAIN, PLAIN, now(), None),
        (PLAIN, PLAIN, now(at=BATCH_AT), U),
        (PLAIN, LOSSY, None, None),
        (OLD, OLD, None, None),
    ],
}  # fmt: skip
