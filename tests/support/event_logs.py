"""The recorded event logs, and what the session printed of the queries in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1] / "golden" / "event_logs"
PLAIN = ROOT / "plain" / "local-1"
FINISHED = (
    PLAIN,
    *(ROOT / c / f"local-1.{c}" for c in ("zstd", "lz4", "snappy")),
    *(ROOT / f"rolling_{c}" / "eventlog_v2_local-1" for c in ("zstd", "lz4", "snappy")),
)
RUNNING = tuple(sorted((ROOT / "running").iterdir()))
COMPACTED = ROOT / "compacted" / "eventlog_v2_local-1"


def said(case: str) -> dict[str, Any]:
    """What the session said of a query: its id and its recent progress."""
    found: dict[str, Any] = json.loads((ROOT / "explained" / case / "said.json").read_text())
    return found
