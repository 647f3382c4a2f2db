"""Writes a checkpoint as Spark does, and deletes old batches at once; run as a program, for ever.

Each partition's state is a chain of deltas with a snapshot every third version. All files are
written under another name and renamed. A batch is in the logs only once its state is there.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

KEPT = 3
SNAPSHOT = 3


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.tmp")
    draft.write_bytes(data)
    draft.rename(path)


class Writer:
    """A checkpoint of one query over one topic; `partitions` of state with `size` bytes a file."""

    def __init__(self, folder: Path, partitions: int = 4, size: int = 100) -> None:
        self.folder, self.partitions, self.size, self.batch = folder, partitions, size, -1
        # Milliseconds since 1970 when batch 0 is planned; a batch a second.
        self.begun_ms = 1_700_000_000_000
        write(folder / "metadata", b'{"id":"6b5a2e0c-0000-4000-8000-000000000001"}')
        write(folder / "state/0/_metadata/metadata", self._operator())

    def _operator(self) -> bytes:
        info = {
            "operatorInfo": {"operatorId": 0, "operatorName": "stateStoreSave"},
            "stateStoreInfo": [
                {
                    "storeName": "default",
                    "numColsPrefixKey": 0,
                    "numPartitions": self.partitions,
                }
            ],
        }
        return b"v1\n" + json.dumps(info).encode()

    def add(self) -> None:
        """Write the next batch, then delete what is too old."""
        self.batch += 1
        now = {"batchWatermarkMs": 0, "batchTimestampMs": self.begun_ms + 1000 * self.batch}
        offsets = json.dumps({"t": {"0": 10 * (self.batch + 1)}}, separators=(",", ":"))
        write(self.folder / f"offsets/{self.batch}", f"v1\n{json.dumps(now)}\n{offsets}".encode())
        version = self.batch + 1
        for number in range(self.partitions):
            store = self.folder / f"state/0/{number}"
            content = f"{number}/{version}".encode().ljust(self.size, b".")
            write(store / f"{version}.delta", content)
            if version % SNAPSHOT == 0:
                write(store / f"{version}.snapshot", content)
        write(self.folder / f"commits/{self.batch}", b'v1\n{"nextBatchWatermarkMs":0}')
        self.clean()

    def replace_newest(self) -> None:
        """Take the newest batch away, as a rewind does, and write another one of its number."""
        for log in ("offsets", "commits"):
            (self.folder / log / str(self.batch)).unlink()
        self.batch -= 1
        self.begun_ms += 60_000
        self.add()

    def clean(self) -> None:
        """Delete the logs of old batches, and state that no batch in the logs needs."""
        oldest = self.batch - KEPT + 1
        for log in ("offsets", "commits"):
            for file in (self.folder / log).iterdir():
                if file.name.isdecimal() and int(file.name) < oldest:
                    file.unlink()
        base = max((oldest + 1) // SNAPSHOT * SNAPSHOT, 0)
        for file in (self.folder / "state/0").glob("[0-9]*/*.*"):
            if file.stem.isdecimal() and int(file.stem) < base:
                file.unlink()


if __name__ == "__main__":
    writer = Writer(Path(sys.argv[1]))
    pause = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    while True:
        writer.add()
        time.sleep(pause)
