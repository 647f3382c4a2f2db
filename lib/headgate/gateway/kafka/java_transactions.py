"""Open transactions, as coordinators and partitions know them, and how one is aborted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from py4j.protocol import Py4JJavaError

from headgate.gateway.kafka.java_admin_client import JavaAdmin, cause_of
from headgate.gateway.kafka.topics import TopicPart
from headgate.model.transactions import Transaction

OPEN = ("ONGOING", "PREPARE_COMMIT", "PREPARE_ABORT")
_GONE = "TransactionalIdNotFoundException"


def open_transactions(java: JavaAdmin, parts: Iterable[TopicPart]) -> tuple[Transaction, ...]:
    """Return every open transaction of the cluster, and those that only these partitions know.

    A transaction that its coordinator has forgotten hangs in the partition until somebody aborts
    it there. RefusedError where the right to see transactions is missing.
    """
    with java.call() as admin:
        # The partitions first: what begins between the looks is then known by its coordinator.
        seen = list(_hanging(java, admin, list(parts)))
        found = list(_described(admin, list(_listed(java, admin))))
        known = {t.producer for t in found}
        return (*found, *(t for t in seen if t.producer not in known))


def abort_transaction(java: JavaAdmin, transaction: Transaction) -> None:
    """Abort it: its producer, if it lives, fails; what it wrote is never read as committed.

    If it has an id, the coordinator fences its producer; otherwise an abort marker is written into
    the partition. StepError if Kafka refuses.
    """
    with java.call(changes=True) as admin:
        if transaction.id is not None:
            admin.fenceProducers([transaction.id]).all().get()
            return
        (topic,) = transaction.topics
        spec = java.jvm.org.apache.kafka.clients.admin.AbortTransactionSpec(
            java.partition((topic, transaction.partition or 0)),
            transaction.producer,
            transaction.epoch,
            transaction.coordinator_epoch or 0,
        )
        admin.abortTransaction(spec).all().get()


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
            yield Transaction(
                id=one,
                state=state,
                topics=topics,
                producer=int(described.producerId()),
                epoch=int(described.producerEpoch()),
            )


def _hanging(java: JavaAdmin, admin: Any, parts: list[TopicPart]) -> Iterator[Transaction]:
    if not parts:
        return
    keys = {part: java.partition(part) for part in parts}
    result = admin.describeProducers(list(keys.values()))
    for (topic, number), key in keys.items():
        for state in result.partitionResult(key).get().activeProducers().toArray():
            if state.currentTransactionStartOffset().isPresent():
                yield Transaction(
                    id=None,
                    state=f"open in partition {number}",
                    topics=frozenset({topic}),
                    producer=int(state.producerId()),
                    epoch=int(state.producerEpoch()),
                    partition=number,
                    coordinator_epoch=int(state.coordinatorEpoch().orElse(0)),
                )
