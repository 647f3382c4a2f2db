"""A watch's words about one run, made of what Spark said of a recorded query."""

from __future__ import annotations

import json
from pathlib import Path


def tell_run(
    folder: Path,
    recorded: Path,
    *,
    query: str,
    run: int = 1,
    batch: int = 1,
    ended: bool = False,
    idle: bool = False,
) -> Path:
    """Write the part in which a watch tells of the run that is recorded; return its file.

    `run` counts runs, a later one began later; it reported up to `batch`, and `ended`.
    A run that is `idle` has had no batch.
    """
    run_id = f"0000000{run}-0000-0000-0000-000000000000"
    head = {"headgate": "watch", "schema": 1, "id": query, "runId": run_id}
    at = f"2026-11-21T0{run}:00:0"
    known = {n: json.loads((recorded / f"{n}.json").read_text()) for n in ("capture", "logical")}
    (*_, report) = json.loads(_progress(recorded).read_text())
    report |= {"id": query, "runId": run_id, "batchId": batch, "timestamp": f"{at}2.000Z"}
    records = (
        {"event": "started", "at": f"{at}0.000Z", "spark": "4.2.0"},
        {"event": "query", "at": f"{at}1.000Z", **known},
        {"event": "progress", "at": f"{at}2.000Z", "progress": report},
        {
            "event": "plan",
            "at": f"{at}3.000Z",
            "batch": batch,
            "text": (recorded / "explain.txt").read_text(),
        },
    )
    if idle:
        records = records[:2]
    if ended:
        records = (*records, {"event": "terminated", "at": f"{at}4.000Z"})
    folder.mkdir(exist_ok=True)
    file = folder / f"{query}_20261121T0{run}0000000Z_0000000{run}_000000.jsonl"
    file.write_text("".join(json.dumps(head | r) + "\n" for r in records))
    return file


def _progress(recorded: Path) -> Path:
    """Return its reports; a version that never ran tells the same sources as the one before it."""
    own = recorded / "progress.json"
    return own if own.exists() else recorded.parent / "before" / "progress.json"
