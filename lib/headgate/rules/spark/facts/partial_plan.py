"""What a part of a plan says of the whole: which operators there are, not how many."""

from __future__ import annotations

from dataclasses import replace

from headgate.model.version import StatefulOperator, Version

_UNREAD = frozenset({"?", "?()"})
"""Placeholders for an expression that is truncated in the evidence."""


def counted(version: Version) -> Version:
    """Return a version without the lists that are not known to be whole; the graph stays.

    Of an operator whose expressions could not be read nothing is said either.
    """
    if version.is_partial:
        return replace(version, sources=None, stateful=None)
    if version.stateful is None or not any(map(_is_unread, version.stateful)):
        return version
    return replace(version, stateful=tuple(map(_without_unread, version.stateful)))


def _is_unread(operator: StatefulOperator) -> bool:
    o = operator
    return not _UNREAD.isdisjoint((*(o.keys or ()), *(o.right_keys or ()), *(o.functions or ())))


def _without_unread(operator: StatefulOperator) -> StatefulOperator:
    if not _is_unread(operator):
        return operator
    return replace(operator, keys=None, right_keys=None, functions=None)
