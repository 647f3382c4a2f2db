"""Keep secrets out of what a capture records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

MASK = "*********(redacted)"

_SECRET_KEY = re.compile(
    r"secret|passw|token|credential|jaas|access.?key|api.?key|private.?key|keystore\.key"
    r"|(?:^|[._-])sas(?:$|[._-])",
    re.IGNORECASE,
)
# jaas.config and the like hold `password="..."` inside a value; URLs hold `user:password@`.
_INNER = re.compile(r"((?:passw|secret|token)\w*=)(\\?\"[^\"]*\"|'[^']*'|[^\s;,&\]}\"']+)", re.I)
_URL_USER = re.compile(r"(\w://)[^/\s:@\"']+:[^/\s@\"']+@")
_SHORTEST = 4


def masked(options: Mapping[str, str]) -> dict[str, str]:
    """Return options with the values of secret keys masked, and secrets inside other values."""
    return {
        key: MASK if _SECRET_KEY.search(key) else mask_text(value) for key, value in options.items()
    }


def secrets_in(options: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """Return the values of secret keys, longest first, too short ones left out."""
    found = {v for o in options for k, v in o.items() if _SECRET_KEY.search(k)}
    return tuple(sorted((v for v in found if len(v) >= _SHORTEST), key=len, reverse=True))


def mask_text(text: str, secrets: Iterable[str] = ()) -> str:
    """Return text without these secrets, without passwords in URLs and after `password=`."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return _URL_USER.sub(rf"\1{MASK}@", _INNER.sub(rf"\1{MASK}", text))


def in_strings(data: Any, change: Callable[[str], str]) -> Any:
    """Return JSON data with every string value changed, keys left alone."""
    if isinstance(data, str):
        return change(data)
    if isinstance(data, list):
        return [in_strings(item, change) for item in data]
    if isinstance(data, dict):
        return {key: in_strings(value, change) for key, value in data.items()}
    return data
