"""Where a run keeps the records at which a function fails."""

from __future__ import annotations

from headgate.reprocess.ports.inspector import Applier


def failing_file(applier: Applier) -> str:
    """Return the path of the file, which the program of an earlier step has written."""
    return f"{applier.folders.snapshot_folder()}/failing-records.json"
