"""Mask what must not be kept: passwords, tokens and keys in any text that evidence holds.

`tests/parse/spark/session/test_secrets.py` has the table of forms. A single lower-case word after
`token ` or `password ` stays: prose and conditions have such words, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

MASK = "********"
_DEEPEST = 200
_Record = TypeVar("_Record")

_WORD = (
    r"(?:passw|passphrase|passcode|pwd|secret|token|credential|jaas"
    r"|(?:access|account|api|private|shared|master)[._-]?key"
    r"|signature|keystore[._-]key|authorization|basic[._-]auth)"
)
_SECRET = re.compile(rf"{_WORD}|sasl\.login|\bauth\b|\bsas\b|\bpass\b|\bpin\b", re.I)
# Atomic, for a text of 20,000 times `token` must not take a second.
_NAME = rf"(?P<key>(?<![\w#'.$-])(?>[\w.$-]*?{_WORD})(?:[\w.$]|-(?!>))*+)"

_USER_INFO = re.compile(r"(?P<head>\b[A-Za-z][A-Za-z0-9+.-]{0,30}://)[^/@:\s,;?#]*:[^/\s,;?#]*@")
# The same without a scheme, as in a list of servers; only values of options are read like that.
_BARE_USER_INFO = re.compile(r"(?:^|(?<=[\s,;]))[^\s/@,:;=]+:[^\s/@,;]+@(?=[\w\[])")
_ORACLE = re.compile(r"(?P<head>\bjdbc:oracle:\w+:[^/@\s]+/)[^@\s]+(?=@)")
_QUERY = re.compile(
    r"(?P<head>[?&;](?:[^=&;?\s]*(?:token|secret|passw|pwd|sig|key|credential|jwt)[^=&;?\s]*)=)"
    r"[^&\s;,]+",
    re.I,
)
# What is a secret by its own look: a key in PEM, an HTTP header's value, a JSON web token, access
# keys and personal tokens of AWS, Databricks, GitHub, GitLab, Slack, Google and Stripe.
_SHAPES = re.compile(
    r"(?P<begin>-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----)"
    r"(?:.{0,10000}?-----END [A-Z ]{0,20}PRIVATE KEY-----|[\w+/=\s\\]*)"
    r"|(?P<how>\b(?:[Bb]earer|BEARER|Basic) )[\w.~+/=-]{8,}"
    r"|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?|\bA(?:KIA|SIA)[0-9A-Z]{16}|\bdapi[0-9a-f]{32}"
    r"|\bgh[a-z]_\w{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{16,}|\bxox[a-z]-[\w-]{10,}"
    r"|\bAIza[\w-]{30,}|\bsk_live_\w{16,}",
    re.S,
)
_SHAPE_HINTS = (
    *("-----BEGIN ", "earer ", "BEARER ", "Basic ", "eyJ", "AKIA", "ASIA", "dapi"),
    *("ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "xox", "AIza", "sk_live_"),
)
# `Authorization: Bearer X`, however short X is.
_HEADER = re.compile(
    r"(?P<head>\bauthorization[\"']?[ \t]{0,4}(?::|=|->)[ \t]{0,4}[\"']?"
    r"(?:(?:bearer|basic|token|digest|negotiate|apikey)[ \t]+)?)(?P<value>[^\s,\"'\])}]+)",
    re.I,
)
# `"apiKey": "X"`, also where JSON is a text within JSON and its quotes are escaped.
_JSON = re.compile(
    rf"(?P<head>(?P<q>\\{{0,8}}[\"'])(?:(?!(?P=q))[^\"'\\\n])*?{_WORD}[^\"'\\\n]*(?P=q)\s*:\s*)"
    r"(?P<value>(?P=q)(?:(?!(?P=q))(?:\\.|[^\n]))*(?P=q))",
    re.I,
)
_JSON_NUMBER = re.compile(
    r"(?P<head>[\"'][\w.-]*(?:passw|pwd|passcode)[\w.-]*[\"']\s*:\s*)-?\d+", re.I
)
_QUOTED = r"\"(?:\\.|[^\"\\\n])*\"|'[^'()\n]*'"
_IS = r"(?P<sep> ?(?:=(?![=>])|->) ?)"
_NEXT = r"(?! ?[\w.$-]+ ?(?:=|->))"
_OPTION_VALUE = re.compile(rf"{_NAME}{_IS}(?P<value>(?:{_QUOTED}|[^\],\n\"']|,{_NEXT})+)", re.I)
# A spaced `=` compares a column, which may well be called `token`.
_VALUE = re.compile(
    rf"{_NAME}(?P<sep>=(?![=>])| ?-> ?)"
    rf"(?P<value>{_QUOTED}|(?!'|\$\{{)(?:[^\s,\])}};&]|,(?!\s){_NEXT})+)",
    re.I,
)
_TYPES = (
    r"(?:string|binary|bool|boolean|byte|tinyint|short|smallint|int|integer|long|bigint|float"
    r"|double|decimal|date|timestamp|char|varchar|array|map|struct|void|null|none|true|false"
    r"|variant|interval|object)(?:type)?(?![\w-])"
)
_COLON = re.compile(
    rf"{_NAME}(?P<sep>:[ \t]{{1,4}})(?!{_TYPES}|bearer|basic|[\[{{(])"
    rf"(?P<value>{_QUOTED}|[^\s,;\])}}\"']+)",
    re.I,
)
_FLAG = re.compile(
    rf"(?P<head>(?<![\w-])(?>--?[\w-]*?{_WORD})[\w-]*+[ \t]+)"
    rf"(?P<value>{_QUOTED}|[^\s\"'$-][^\s\"']*)",
    re.I,
)
# `token X`: only what no word of prose and no column of a plan looks like.
_SPACE = re.compile(
    r"(?P<head>\b(?i:password|passwd|pwd|passphrase|secret|token|api[ _-]?key)[ \t]+)"
    r"(?P<value>'[^'()\n]*'|\"[^\"()\n]*\""
    r"|(?!(?i:" + _TYPES + r"|varchar|decimal|int\d))"
    r"(?=\S*(?:\d|[a-z][A-Z])|(?!(?:ASC|DESC|LIKE|RLIKE|BETWEEN|THEN|ELSE|WHEN|NULLS|FIRST|LAST)\b)[A-Z]{4})"
    r"[\w~+/!@%^.*-]{4,}+(?![#(=]))"
)

_HINTS = (
    *("passw", "passphrase", "passcode", "pwd", "secret", "token", "credential", "jaas"),
    *(f"{a}{b}key" for a in ("access", "account", "api", "private", "shared", "master", "keystore")
      for b in ("", ".", "_", "-", " ")),
    *("signature", "auth", "sig=", "key=", "jwt", "jdbc:oracle", "://"),
    *(hint.lower() for hint in _SHAPE_HINTS),
)  # fmt: skip


def may_hold_secrets(texts: Iterable[str]) -> bool:
    """Whether any of the texts holds a word that secrets go by; cheap, often yes for nothing."""
    whole = "\n".join(texts).lower()
    return any(hint in whole for hint in _HINTS)


def is_secret(key: str) -> bool:
    """Whether an option of that name holds a secret."""
    return bool(_SECRET.search(key))


def mask_text(text: str) -> str:
    """Return any text without the values that it calls a secret, or that look like one."""
    if not may_hold_secrets((text,)):
        return text
    return _named(_shaped(text), _VALUE)


def mask_options(text: str) -> str:
    """Return a text that lists options, `[key=value, ...]`, without secrets.

    A value may hold spaces and commas, and ends before the next key.
    """
    if not may_hold_secrets((text,)):
        return text
    return _named(_shaped(text), _OPTION_VALUE)


def mask(options: Mapping[str, str]) -> dict[str, str]:
    """Return options with every secret value replaced; the keys stay, so that a diff sees them."""
    return {k: MASK if is_secret(k) else mask_value(v) for k, v in options.items()}


def mask_value(value: str) -> str:
    """Return the value of one option without secrets."""
    return _BARE_USER_INFO.sub(f"{MASK}@", mask_options(value))


def mask_json(found: Any, depth: int = 0) -> Any:
    """Return a JSON value without secrets: whole values of suspicious keys, parts of any text.

    What is nested absurdly deep is left out.
    """
    if depth > _DEEPEST:
        return None
    if isinstance(found, str):
        return mask_text(found)
    if isinstance(found, list | tuple):
        return [mask_json(v, depth + 1) for v in found]
    if isinstance(found, Mapping):
        return {
            str(k): MASK if isinstance(v, str) and is_secret(str(k)) else mask_json(v, depth + 1)
            for k, v in found.items()
        }
    return found


def mask_record(record: _Record) -> _Record:
    """Return a frozen dataclass with every text in it masked, the same one if none had to be.

    Only texts are checked, not keys: a column may well be called `token`.
    """
    masked = _masked(record)
    assert isinstance(masked, type(record))
    return masked


def _masked(found: Any) -> Any:
    if isinstance(found, str):
        # Words of an enum are no text.
        return mask_text(found) if type(found) is str else found
    if isinstance(found, tuple | list):
        made = [_masked(v) for v in found]
        same = all(a is b for a, b in zip(found, made, strict=True))
        return found if same else type(found)(made)
    if isinstance(found, dict):
        new = {k: _masked(v) for k, v in found.items()}
        return found if all(new[k] is v for k, v in found.items()) else new
    if is_dataclass(found) and not isinstance(found, type):
        changes = {}
        for field in fields(found):
            before = getattr(found, field.name)
            after = _masked(before)
            if after is not before:
                changes[field.name] = after
        return replace(found, **changes) if changes else found
    return found


def _shaped(text: str) -> str:
    if any(hint in text for hint in _SHAPE_HINTS):
        text = _SHAPES.sub(lambda m: f"{m['begin'] or m['how'] or ''}{MASK}", text)
    for form in (_USER_INFO, _ORACLE):
        end = "@" if form is _USER_INFO else ""
        text = form.sub(rf"\g<head>{MASK}{end}", text)
    return _QUERY.sub(rf"\g<head>{MASK}", text)


def _named(text: str, value: re.Pattern[str]) -> str:
    text = _HEADER.sub(rf"\g<head>{MASK}", text)
    text = _JSON.sub(rf"\g<head>\g<q>{MASK}\g<q>", text)
    text = _JSON_NUMBER.sub(rf"\g<head>{MASK}", text)
    text = value.sub(rf"\g<key>\g<sep>{MASK}", text)
    text = _COLON.sub(rf"\g<key>\g<sep>{MASK}", text)
    text = _FLAG.sub(rf"\g<head>{MASK}", text)
    return _SPACE.sub(rf"\g<head>{MASK}", text)
