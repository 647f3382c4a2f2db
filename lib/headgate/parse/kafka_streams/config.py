"""Configuration of a Kafka Streams application: JSON, properties, or what it logs as it starts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.text.json_text import setting_text
from headgate.text.secrets import mask

_LOGGED = re.compile(r"\bStreamsConfig values:\s*$", re.M)
_VALUE = re.compile(r"^\s+(?P<key>[a-z][\w.-]*) = ?(?P<value>.*)$")
_PROPERTY = re.compile(r"^\s*(?P<key>[A-Za-z][\w.-]*)\s*[=:]\s*(?P<value>.*?)\s*$")
_RELEASE = re.compile(r"\bKafka Streams version: (?P<release>\d+\.\d+(?:\.\d+)?(?:-[\w.-]+)?)")
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
OWN = frozenset(
    {
        "application.id",
        "application.server",
        "num.stream.threads",
        "num.standby.replicas",
        "processing.guarantee",
        "topology.optimization",
        "state.dir",
        "dsl.store.format",
        "dsl.store.suppliers.class",
        "default.dsl.store",
        "group.protocol",
        "upgrade.from",
    }
)
"""Settings that only the configuration of a Kafka Streams application has."""
_ENOUGH = 2


@dataclass(frozen=True, slots=True)
class Config:
    """`values` have their secrets masked; `is_whole` where defaults are among them."""

    values: dict[str, str] = field(default_factory=dict)
    is_whole: bool = False


def is_config(found: Mapping[str, Any]) -> bool:
    """Whether a JSON object is an application's configuration: flat, with an application id."""
    if not all(isinstance(v, str | int | float | bool) or v is None for v in found.values()):
        return False
    return _is_ours(found)


def _is_ours(found: Mapping[str, Any]) -> bool:
    return "application.id" in found or len(OWN & found.keys()) >= _ENOUGH


def read_config(found: Mapping[str, Any]) -> Config:
    """Return the settings of a JSON object."""
    return Config(mask({k: setting_text(v) for k, v in found.items() if v is not None}))


def read_properties(text: str) -> Config | None:
    """Return the settings of a properties file, None where the text is none of an application."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith(("#", "!")):
            continue
        match = _PROPERTY.match(line)
        if match is None:
            return None
        found[match["key"]] = match["value"]
    return Config(mask(found)) if _is_ours(found) else None


def read_logged(text: str) -> Config | None:
    """Return what `StreamsConfig values:` lists, the newest of several; None where it is not there.

    The list has the defaults, too, and `[hidden]` for passwords.
    """
    starts = [m.end() for m in _LOGGED.finditer(text)] if "StreamsConfig values:" in text else []
    if not starts:
        return None
    found: dict[str, str] = {}
    for line in text[starts[-1] :].splitlines()[1:]:
        match = _VALUE.match(_ANSI.sub("", line))
        if match is None:
            break
        found[match["key"]] = match["value"].strip()
    known = {k: v for k, v in found.items() if v != "null"}
    return Config(mask(known), is_whole=True) if _is_ours(found) else None


def read_release(text: str) -> str | None:
    """Return the release of Kafka Streams that an application logs as it is made, the newest."""
    found = _RELEASE.findall(text) if "Kafka Streams version: " in text else []
    return str(found[-1]) if found else None
