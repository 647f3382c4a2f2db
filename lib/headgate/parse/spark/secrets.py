"""Mask what must not be kept: passwords, tokens, keys in options and URLs."""

from __future__ import annotations

import re
from collections.abc import Mapping

MASK = "********"
_SECRET = re.compile(
    r"passw|secret|token|credential|jaas|access\.?key|account\.?key|api\.?key|private\.?key"
    r"|sasl\.login|\bauth\b|basic\.auth|\bsas\b|signature",
    re.I,
)
_USER_INFO = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]*://)[^/@\s,;?#]*:[^/@\s,;?#]*@")
_QUERY = re.compile(
    r"(?P<key>[?&;](?:[^=&\s]*(?:token|secret|passw|sig|key|credential)[^=&\s]*)=)[^&\s;,]+", re.I
)


def mask_text(text: str) -> str:
    """Return `text` without user names and passwords in URLs and without tokens in queries."""
    text = _USER_INFO.sub(rf"\g<scheme>{MASK}@", text)
    return _QUERY.sub(rf"\g<key>{MASK}", text)


def is_secret(key: str) -> bool:
    """Whether an option of that name holds a secret."""
    return bool(_SECRET.search(key))


def mask(options: Mapping[str, str]) -> dict[str, str]:
    """Return options with every secret value replaced; the keys stay, so that a diff sees them."""
    return {k: MASK if is_secret(k) else mask_text(v) for k, v in options.items()}
