"""Which records of a dead letter topic were redriven: a bit for each, in a compacted topic.

A row of the ledger means that exactly the records whose bits are set were redriven, by whichever
run: it is written in the transaction that writes those records. Its key is `PARTITION:BLOCK`, its
value the bits of `BLOCK_RECORDS` offsets, lowest bit first. Compaction keeps the newest row of each
key, so the topic grows by 512 bytes for each 4,096 offsets, and so does what is read of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from headgate.errors import StepError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.read_records import each_record

BLOCK_RECORDS = 4_096
_BYTES = BLOCK_RECORDS // 8
Block = tuple[int, int]


class Marks:
    """The bits of a ledger; blocks that are `changed` wait to be written."""

    def __init__(self) -> None:
        self._blocks: dict[Block, bytearray] = {}
        self.changed: set[Block] = set()

    def load(self, key: bytes | None, value: bytes | None) -> None:
        """Take a row of the ledger; StepError where it is none."""
        partition, _, block = (key or b"").partition(b":")
        if not (partition.isdigit() and block.isdigit()) or value is None or len(value) != _BYTES:
            raise StepError(f"the ledger of redriven records has an unknown row {key!r}")
        self._blocks[int(partition), int(block)] = bytearray(value)

    def has(self, partition: int, offset: int) -> bool:
        """Return whether the record was redriven."""
        found = self._blocks.get((partition, offset // BLOCK_RECORDS))
        at = offset % BLOCK_RECORDS
        return found is not None and bool(found[at // 8] >> at % 8 & 1)

    def put(self, partition: int, offset: int, *, redriven: bool = True) -> None:
        """Set or clear the record's bit."""
        block, at = (partition, offset // BLOCK_RECORDS), offset % BLOCK_RECORDS
        bits = self._blocks.setdefault(block, bytearray(_BYTES))
        bits[at // 8] = bits[at // 8] | 1 << at % 8 if redriven else bits[at // 8] & ~(1 << at % 8)
        self.changed.add(block)

    def rows(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield key and value of each changed block; they count as written then."""
        for partition, block in sorted(self.changed):
            yield f"{partition}:{block}".encode(), bytes(self._blocks[partition, block])
        self.changed.clear()


def read_marks(kafka: Kafka, ledger: str) -> Marks:
    """Return what the ledger says now; nothing was redriven where there is none."""
    marks = Marks()
    found = kafka.topics([ledger]).get(ledger)
    if found is None:
        return marks
    ranges = {
        (ledger, p.number): (p.begin, p.end)
        for p in found.partitions
        if p.begin is not None and p.end is not None
    }
    with closing(each_record(kafka.bootstrap, kafka.config, ranges)) as records:
        for record in records:
            marks.load(record.key, record.value)
    return marks
