"""Clear from the ledger what a retry topic has, before that topic is deleted."""

from __future__ import annotations

from contextlib import closing

from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.read_records import each_record
from headgate.gateway.kafka.redrive_ledger import read_marks
from headgate.gateway.kafka.redrive_records import Failed, produce, transaction, transactional
from headgate.parse.kafka.dead_letters import FROM
from headgate.reprocess.ports.dead_letters import Ledger


def forget(kafka: Kafka, dead_letters: str, ledger: Ledger, retry_topic: str) -> None:
    """Clear the bit of each dead letter that is in the retry topic; fine if that one is gone."""
    found = kafka.topics([retry_topic]).get(retry_topic)
    if found is None:
        return
    producer = transactional(kafka, ledger)
    marks = read_marks(kafka, ledger.topic)
    ranges = {
        (retry_topic, p.number): (p.begin, p.end)
        for p in found.partitions
        if p.begin is not None and p.end is not None
    }
    with closing(each_record(kafka.bootstrap, kafka.config, ranges)) as records:
        for record in records:
            place = (dict(record.headers).get(FROM) or b"").decode("utf-8", "replace")
            if place.startswith(f"{dead_letters}-"):
                partition, offset = map(int, place.removeprefix(f"{dead_letters}-").split("-"))
                marks.put(partition, offset, redriven=False)
    failed: list[Failed] = []
    with transaction(producer, failed):
        for key, value in marks.rows():
            produce(producer, ledger.topic, key, value, failed)
