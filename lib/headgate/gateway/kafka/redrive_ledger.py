"""Which records of a dead letter topic were redriven, and how far each run came: a compacted topic.

A row is written in the transaction of the records that it is about, so it holds exactly if they
were written. `PARTITION:BLOCK` has the bits of `BLOCK_RECORDS` offsets, lowest bit first: a set bit
is a redriven record, whichever run did it. `at:PARTITION` has the newest run's next offset and its
counts, as JSON. Compaction keeps the newest row of each key, so the topic grows by 512 bytes for
each 4,096 offsets, and so does what is read of it.

Offsets of a group would do for the second kind, but in librdkafka 2.16
`send_offsets_to_transaction` never returns if the broker restarts meanwhile, whatever its time-out
[run: tests/gateway/kafka/test_redrive_dead_letters.py].
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing

from headgate.errors import StepError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.read_records import each_record
from headgate.model.dead_letters import Decision
from headgate.reprocess.ports.dead_letters import Progress

BLOCK_RECORDS = 4_096
_BYTES = BLOCK_RECORDS // 8
_AT = b"at"
Block = tuple[int, int]


class Marks:
    """What a ledger says; blocks that are `changed` wait to be written.

    `at` has by partition the newest run that came there, and its progress.
    """

    def __init__(self, topic: str = "") -> None:
        self._topic = topic
        self._blocks: dict[Block, bytearray] = {}
        self.changed: set[Block] = set()
        self.at: dict[int, tuple[str, Progress]] = {}

    def load(self, key: bytes | None, value: bytes | None) -> None:
        """Take a row of the ledger; StepError where it is none."""
        partition, _, block = (key or b"").partition(b":")
        if partition == _AT and _is_number(block) and value is not None:
            self.at[int(block)] = _read_progress(value)
            return
        if (
            not (_is_number(partition) and _is_number(block))
            or value is None
            or len(value) != _BYTES
        ):
            raise StepError(
                f"topic {self._topic} stores Headgate's redrive progress, but its record with the "
                f"key {key!r} was not written by Headgate. Check which program wrote the record"
            )
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


def progress_row(
    run: str, partition: int, offset: int, counts: Mapping[Decision, int]
) -> tuple[bytes, bytes]:
    """Return key and value of the row that says how far a run has come in a partition."""
    said = {"run": run, "offset": offset, **{d.value: n for d, n in counts.items()}}
    return f"at:{partition}".encode(), json.dumps(said).encode()


def _read_progress(value: bytes) -> tuple[str, Progress]:
    said = json.loads(value)
    counts = {d: int(said[d.value]) for d in Decision if d.value in said}
    return str(said["run"]), Progress(offset=int(said["offset"]), counts=counts)


def read_marks(kafka: Kafka, ledger: str) -> Marks:
    """Return what the ledger says now; nothing was redriven where there is none."""
    marks = Marks(ledger)
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


def _is_number(text: bytes) -> bool:
    return text.decode("ascii", "replace").isdecimal()
