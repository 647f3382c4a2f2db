"""Abort a transaction that nobody ends, so that committed records after it can be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.model.transactions import Transaction
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.reprocess.steps.base.wait import Wait

# The coordinator writes the end into all partitions before it says that it is done.
END_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortTransaction(StepBase):
    """Abort an open transaction: read_committed consumers then skip the transaction's records.

    `transaction` is its id, or `TOPIC:PARTITION:PRODUCER` of one that only a partition knows.
    `producer` and `epoch` are who began it: another producer's isn't touched. `topics` maps those
    to check to facts with their number of `partitions`.
    """

    action: ClassVar[str] = "abort_transaction"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = False
    transaction: str
    producer: int
    epoch: int
    topics: dict[str, dict[str, Any]]

    def describe(self) -> str:
        part = self._part
        if part is not None:
            return (
                f"abort the open transaction of producer {self.producer} on {part} (the "
                "transaction coordinator no longer knows the transaction)"
            )
        return f"abort the open transaction {self.transaction} and fence its producer"

    @property
    def _part(self) -> str | None:
        """The only partition that knows the transaction; None of one with a transactional id."""
        for name, facts in self.topics.items():
            for number in range(facts["partitions"]):
                if self.transaction == f"{name}:{number}:{self.producer}":
                    return f"{name}[{number}]"
        return None

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where it is not open any more, or another producer has it."""
        found = self._found(inspector)
        if found is None and not again:
            raise RefusedError(
                f"transaction {self.transaction} is no longer open, so it can't be aborted. Run "
                "`headgate plan repair` again"
            )
        if found is not None and not self._is_same(found):
            raise RefusedError(
                f"transaction {self.transaction} was opened again, by another or a restarted "
                "producer, so Headgate doesn't abort it. Run `headgate plan repair` again"
            )

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is not open any more."""
        return self._found(applier) is None

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Abort it."""
        found = self._found(applier)
        if found is not None and self._is_same(found):
            applier.kafka.abort_transaction(found)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Wait for its end; fail where it stays open."""
        wait = Wait(applier=applier)
        while (found := self._found(applier)) is not None and self._is_same(found):
            if wait.seconds >= END_SECONDS:
                raise StepError(
                    f"transaction {self.transaction} is still open {wait.seconds:.0f} s after its "
                    "abort. Check the brokers, then resume the run"
                )
            wait.pause()
        applier.note(f"transaction {self.transaction} is no longer open")

    def remains(self, inspector: Inspector, was: PriorState) -> tuple[str, ...] | None:
        """Its records, which no read_committed consumer ever gets."""
        return (f"the undo can't restore the aborted transaction {self.transaction}",)

    def _found(self, inspector: Inspector) -> Transaction | None:
        parts = [
            (name, number)
            for name, f in sorted(self.topics.items())
            for number in range(f["partitions"])
        ]
        found = inspector.kafka.open_transactions(parts)
        return next((t for t in found if t.name == self.transaction), None)

    def _is_same(self, found: Transaction) -> bool:
        return (found.producer, found.epoch) == (self.producer, self.epoch)
