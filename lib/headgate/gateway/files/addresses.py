"""Addresses of files: which are URIs, and how messages show them."""

from __future__ import annotations

import re

_URI = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")
_WEB = re.compile(r"https?://", re.IGNORECASE)
_SECRET = re.compile(r"^(?P<scheme>[a-z][a-z0-9+.-]*://)(?P<who>[^/@\s]*:[^/@\s]*)@", re.I)


def is_uri(location: str) -> bool:
    """Whether a location names a file system by its scheme."""
    return bool(_URI.match(location)) or location.startswith("file:/")


def is_remote(location: str) -> bool:
    """Whether a location is on another file system than this machine's."""
    return is_uri(location) and not location.lower().startswith("file:")


def is_web(location: str) -> bool:
    """Whether a location is an address of the web: a UI's, or a History Server's."""
    return bool(_WEB.match(location))


def without_secret(location: str) -> str:
    """Return the address without the user and password, or keys, that it may contain."""
    return _SECRET.sub(r"\g<scheme>", location)
