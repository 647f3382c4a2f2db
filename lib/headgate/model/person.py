"""The user of a request, run or audit entry: a name, and how Headgate knows it."""

from __future__ import annotations

_NOT_VERIFIED = "not verified"


def unverified(name: str, source: str) -> str:
    """Return the text for a name that nobody verified; `source` says where the name comes from.

    Brackets are removed from the name, because they could fake a source.
    """
    clean = " ".join("".join(c for c in name if c not in "()" and c.isprintable()).split())
    return f"{clean or 'nobody'} ({source}, {_NOT_VERIFIED})"


def is_same_person(one: str, other: str) -> bool:
    """Return whether both texts have the same name; host and source don't matter."""
    return _name(one) == _name(other)


def _name(person: str) -> str:
    return person.partition(" (")[0].strip().casefold()
