"""What must survive a restart: versions, runs, their journal, the audit trail.

SQLAlchemy is imported with the store itself, not with what only reads rows or takes a glance.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headgate.store.store import Store, open_store

__all__ = ["Store", "open_store"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headgate.store import store

    return getattr(store, name)
