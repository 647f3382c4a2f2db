"""Keep secrets out of what a capture records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from headgate.text.secrets import MASK, is_secret, mask_text

_SHORTEST = 4


def secrets_in(options: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """Return the values of secret keys, longest first, too short ones left out."""
    found = {v for o in options for k, v in o.items() if is_secret(k)}
    return tuple(sorted((v for v in found if len(v) >= _SHORTEST), key=len, reverse=True))


def without(text: str, secrets: Iterable[str]) -> str:
    """Return text without these secrets, and without passwords in URLs."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return mask_text(text)


def in_strings(data: Any, change: Callable[[str], str]) -> Any:
    """Return JSON data with every string value changed, keys left alone."""
    if isinstance(data, str):
        return change(data)
    if isinstance(data, list):
        return [in_strings(item, change) for item in data]
    if isinstance(data, dict):
        return {key: in_strings(value, change) for key, value in data.items()}
    return data
