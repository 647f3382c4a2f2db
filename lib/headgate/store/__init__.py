"""What must survive a restart: versions, runs, their journal, the audit trail."""

from headgate.store.store import Store, open_store

__all__ = ["Store", "open_store"]
