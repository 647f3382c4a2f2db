"""Mask what must not be kept: passwords, tokens, keys in options and URLs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

MASK = "********"
_SECRET = re.compile(
    r"passw|passphrase|secret|token|credential|jaas|access\.?key|account\.?key|api\.?key|private\.?key"
    r"|keystore\.key|sasl\.login|\bauth\b|authorization|basic\.auth|\bsas\b|signature",
    re.I,
)
_USER_INFO = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]*://)[^/@\s,;?#]*:[^/@\s,;?#]*@")
# The same without a scheme, as in a list of servers; only values of options are read like that.
_BARE_USER_INFO = re.compile(r"(?:^|(?<=[\s,;]))[^\s/@,:;=]+:[^\s/@,;]+@(?=[\w\[])")
_QUERY = re.compile(
    r"(?P<key>[?&;](?:[^=&\s]*(?:token|secret|passw|sig|key|credential)[^=&\s]*)=)[^&\s;,]+", re.I
)
# What is a secret by its own look: a key in PEM, an HTTP header's value, a JSON web token, an
# access key of AWS, a personal token of Databricks.
_SHAPES = re.compile(
    r"(?P<begin>-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----)"
    r"(?:.{0,10000}?-----END [A-Z ]{0,20}PRIVATE KEY-----|[\w+/=\s\\]*)"
    r"|(?P<how>\b(?:[Bb]earer|Basic) )[\w.~+/=-]{8,}"
    r"|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?|\bAKIA[0-9A-Z]{16}|\bdapi[0-9a-f]{32}",
    re.S,
)
_SHAPE_HINTS = ("-----BEGIN ", "earer ", "Basic ", "eyJ", "AKIA", "dapi")


def mask_text(text: str) -> str:
    """Return `text` without passwords in URLs, tokens in queries, and what looks like a key."""
    if any(hint in text for hint in _SHAPE_HINTS):
        text = _SHAPES.sub(lambda m: f"{m['begin'] or m['how'] or ''}{MASK}", text)
    text = _USER_INFO.sub(rf"\g<scheme>{MASK}@", text)
    return _QUERY.sub(rf"\g<key>{MASK}", text)


def is_secret(key: str) -> bool:
    """Whether an option of that name holds a secret."""
    return bool(_SECRET.search(key))


def mask(options: Mapping[str, str]) -> dict[str, str]:
    """Return options with every secret value replaced; the keys stay, so that a diff sees them."""
    return {k: MASK if is_secret(k) else _mask_value(v) for k, v in options.items()}


def _mask_value(value: str) -> str:
    return _BARE_USER_INFO.sub(f"{MASK}@", mask_text(value))


_HINTS = (
    "passw",
    "secret",
    "token",
    "credential",
    "jaas",
    "accesskey",
    "access.key",
    "access_key",
    "account.key",
    "accountkey",
    "account_key",
    "apikey",
    "api_key",
    "api.key",
    "privatekey",
    "private_key",
    "private.key",
    "signature",
    "auth",
    "passphrase",
    "keystore.key",
    "sig=",
    *(hint.lower() for hint in _SHAPE_HINTS),
    "://",
)
_KEY = r"(?P<key>[\w.$-]*(?:passw|passphrase|secret|token|credential|jaas"
_KEY += r"|(?:access|account|api|private)[._]?key"
_KEY += r"|signature|keystore\.key|authorization|basic\.auth)[\w.$-]*) ?(?:=|->) ?"
_OPTION_VALUE = re.compile(
    _KEY + r'(?P<value>(?:"[^"\n]*"|\'[^\'\n]*\'|[^\],\n"\']|,(?! ?[\w.$-]+ ?(?:=|->)))+)', re.I
)
_TIGHT_VALUE = re.compile(_KEY.replace(" ?(?:=|->) ?", "=") + r"(?P<value>[^\s,\])};&]+)", re.I)


def may_hold_secrets(texts: Iterable[str]) -> bool:
    """Whether any of the texts holds a word that secrets go by; cheap, often yes for nothing."""
    whole = "\n".join(texts).lower()
    return any(hint in whole for hint in _HINTS)


def mask_options(text: str) -> str:
    """Return the text of an operator that prints options, `[key=value, ...]`, without secrets."""
    return mask_text(_OPTION_VALUE.sub(rf"\g<key>={MASK}", text))


def mask_expression(text: str) -> str:
    """Return the text of any other operator: a literal may be an address or a `password=...`."""
    return mask_text(_TIGHT_VALUE.sub(rf"\g<key>={MASK}", text))
