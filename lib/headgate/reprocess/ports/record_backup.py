"""Records copied to backup topics and back, as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Offsets of one partition, from `begin` to before `end`."""

    topic: str
    partition: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What a partition's records are verified by: how many, their bytes, and a SHA-256.

    The hash is over timestamp, key, value and headers of each record, in order.
    """

    records: int = 0
    bytes: int = 0
    hash: str = ""


class RecordBackupApplier(Protocol):
    """What a step may do to them; StepError where it does not work."""

    def back_up(self, spans: Iterable[Span], to: str) -> None:
        """Copy records to the same partitions of the topic `to`, as they are.

        Each gets a header with its original position. What an earlier try copied isn't copied
        again.
        """

    def missing(self, spans: Iterable[Span], to: str) -> tuple[str, ...]:
        """Return the partitions that hold records after the last one that was backed up."""

    def verify_backup(self, spans: Iterable[Span], to: str) -> Mapping[int, Digest]:
        """Compare record by record; StepError where the copy is not exact. Digests by partition."""

    def restore(self, backup: str, to: str) -> None:
        """Copy backed-up records back to an empty topic without the header.

        What an earlier try copied is not copied again.
        """

    def verify_restored(self, backup: str, to: str) -> Mapping[int, Digest]:
        """Compare record by record; StepError where `to` holds others. Digests by partition."""

    def publish(self, staged: str, to: str, group: str) -> None:
        """Copy records to the same partitions of the topic `to`, each exactly once.

        A transaction writes records and commits the offsets of `group` on the topic `staged`, which
        has an offset of each partition before. What an earlier try committed is not copied again.
        """
