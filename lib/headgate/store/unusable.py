"""The error for a store that can't be used, with the step that fits its kind of database."""

from __future__ import annotations

from headgate.errors import UnreachableError

_LOCKED = "Another process holds the lock. Wait until that process has finished, then try again"
_FILE = "Check your permissions, the free disk space and `url` of [store] in headgate.toml"


def unusable(url: object, is_file: bool, error: object) -> UnreachableError:
    """Return the error: a server may be down, a file may be locked, forbidden or on a full disk."""
    reason = " ".join(str(error).split()).rstrip(".")
    if not is_file:
        return UnreachableError(f"the store {url} does not respond: {reason}")
    step = _LOCKED if "locked" in reason else _FILE
    return UnreachableError(f"the store {url} can't be used: {reason}. {step}")
