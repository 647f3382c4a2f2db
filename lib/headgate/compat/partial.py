"""What a part of a plan says of the whole: which operators there are, not how many."""

from __future__ import annotations

from dataclasses import replace

from headgate.model.version import Version


def counted(version: Version) -> Version:
    """Return a version without the lists that are not known to be whole; the graph stays."""
    return replace(version, sources=None, stateful=None) if version.is_partial else version
