"""Wait for the end of transactions that an application left open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError
from headgate.model.transactions import Transaction, is_of_application
from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.reprocess.steps.base.wait import Wait
from headgate.text.numbers import name_list

# Kafka Streams' transactions time out after 10 s unless configured, and the broker looks for them
# every 10 s.
OPEN_SECONDS = 45.0
_POLL = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitTransactions(StepBase):
    """Verify that the application, and the topics to delete, have no open transaction.

    `topics` maps a name to facts with its number of `partitions`. A transaction that is open will
    still commit offsets or write records, so its producer counts as alive.
    """

    action: ClassVar[str] = "await_transactions"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    application: str
    topics: dict[str, dict[str, Any]]

    def describe(self) -> str:
        return f"verify that application {self.application} has no pending transaction"

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Wait until the broker has ended those that a killed process left open."""
        wait = Wait(applier=applier, poll=_POLL)
        while (pending := self._pending(applier)) and wait.seconds < OPEN_SECONDS:
            if wait.seconds == 0:
                applier.note(f"waiting for pending transactions to end: {_named(pending)}")
            wait.pause()

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Refuse where one is still open."""
        if pending := self._pending(applier):
            raise RefusedError(
                f"pending transactions of application {self.application} or on its topics: "
                f"{_named(pending)}. Their producers still run, or were just killed. Stop these "
                "processes, or abort the transactions with `kafka-transactions.sh abort`"
            )

    def _pending(self, applier: Applier) -> list[Transaction]:
        return [
            t
            for t in applier.kafka.open_transactions(_parts(self.topics))
            if (t.id and is_of_application(t.id, self.application)) or t.topics & self.topics.keys()
        ]


def _parts(topics: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, int]]:
    return [
        (name, number) for name, f in sorted(topics.items()) for number in range(f["partitions"])
    ]


def _named(pending: list[Transaction]) -> str:
    return name_list(
        f"{t.id or f'producer {t.producer} without a known transactional.id'} "
        f"({t.state}; {'; '.join(sorted(t.topics)) or 'no topic'})"
        for t in pending
    )
