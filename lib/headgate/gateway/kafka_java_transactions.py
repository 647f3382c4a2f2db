"""Open transactions, as coordinators and partitions know them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from py4j.protocol import Py4JJavaError

from headgate.gateway.kafka_java import JavaAdmin, cause_of
from headgate.gateway.kafka_topics import TopicPart
from headgate.model.transactions import Transaction

OPEN = ("ONGOING", "PREPARE_COMMIT", "PREPARE_ABORT")
_GONE = "TransactionalIdNotFoundException"


def open_transactions(java: JavaAdmin, parts: Iterable[TopicPart]) -> tuple[Transaction, ...]:
    """Return every open transaction of the cluster, and those that only these partitions know.

    A transaction that its coordinator has forgotten hangs in the partition until somebody aborts
    it there. RefusedError where the right to see transactions is missing.
    """
    with java.call() as admin:
        ids = list(_listed(java, admin))
        found = list(_described(admin, ids))
        known = {topic for t in found for topic in t.topics}
        hanging = [t for t in _hanging(java, admin, list(parts)) if not t.topics <= known]
        return (*found, *hanging)


def _listed(java: JavaAdmin, admin: Any) -> Iterator[str]:
    package = java.jvm.org.apache.kafka.clients.admin
    wanted = {getattr(package.TransactionState, word) for word in OPEN}
    options = package.ListTransactionsOptions().filterStates(wanted)
    for listing in admin.listTransactions(options).all().get().toArray():
        yield str(listing.transactionalId())


def _described(admin: Any, ids: list[str]) -> Iterator[Transaction]:
    if not ids:
        return
    result = admin.describeTransactions(ids)
    for one in ids:
        try:
            described = result.description(one).get()
        except Py4JJavaError as error:
            if _GONE in cause_of(error):
                continue
            raise
        state = str(described.state().name()).lower()
        if state.upper() in OPEN:
            topics = frozenset(tp.topic() for tp in described.topicPartitions().toArray())
            yield Transaction(id=one, state=state, topics=topics)


def _hanging(java: JavaAdmin, admin: Any, parts: list[TopicPart]) -> Iterator[Transaction]:
    if not parts:
        return
    keys = {part: java.partition(part) for part in parts}
    result = admin.describeProducers(list(keys.values()))
    for (topic, number), key in keys.items():
        states = result.partitionResult(key).get().activeProducers().toArray()
        if any(s.currentTransactionStartOffset().isPresent() for s in states):
            yield Transaction(
                id=None, state=f"open in partition {number}", topics=frozenset({topic})
            )
