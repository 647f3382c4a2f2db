"""Who acts, as requests, runs and the audit trail keep it: a name, and how Headgate knows it."""

from __future__ import annotations

_NOT_VERIFIED = "not verified"


def unverified(name: str, source: str) -> str:
    """Return the text for a name that nobody checked; `source` says where it comes from.

    Brackets in the name are dropped: they would forge the source.
    """
    clean = " ".join("".join(c for c in name if c not in "()" and c.isprintable()).split())
    return f"{clean or 'nobody'} ({source}, {_NOT_VERIFIED})"


def is_same_person(one: str, other: str) -> bool:
    """Return whether both texts carry the same name, whatever the host or the source."""
    return _name(one) == _name(other)


def _name(person: str) -> str:
    return person.partition(" (")[0].strip().casefold()
