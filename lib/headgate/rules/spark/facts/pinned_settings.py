"""Spark's settings by what a checkpoint does with them."""

from __future__ import annotations

from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.spark_settings import ABSENT_DEFAULTS, PARTITIONS, PINNED, PINNED_DEFAULTS
from headgate.model.version import Version
from headgate.rules.core.rule import Comparison
from headgate.rules.core.source_names import EVOLUTION, OFFSET_LOG

_S = "spark.sql.streaming."
PROVIDER = _S + "stateStore.providerClass"
ENCODING = _S + "stateStore.encodingFormat"
CHECKPOINT_FORMAT = _S + "stateStore.checkpointFormatVersion"
LOG_INTERVAL = _S + "fileSource.log.compactInterval"
SINK_LOG_INTERVAL = _S + "fileSink.log.compactInterval"
SINK_EVOLUTION = _S + "queryEvolution.enableSinkEvolution"
TIME_ZONE = "spark.sql.session.timeZone"
ANSI = "spark.sql.ansi.enabled"
SOURCE_SETTINGS = frozenset({EVOLUTION})
__all__ = [
    "ANSI",
    "CHECKPOINT_FORMAT",
    "DEFAULTS",
    "ENCODING",
    "LOG_INTERVAL",
    "OFFSET_LOG",
    "PARTITIONS",
    "PINNED",
    "PROVIDER",
    "SINK_EVOLUTION",
    "SINK_LOG_INTERVAL",
    "SOURCE_SETTINGS",
    "TIME_ZONE",
    "differing",
    "effective",
    "recorded",
    "set_by_somebody",
    "stored_partitions",
]


# What Spark 4.2 uses where a session sets nothing.
DEFAULTS = {
    CHECKPOINT_FORMAT: "1",
    PARTITIONS: "200",
    ANSI: "true",
    OFFSET_LOG: "1",
    LOG_INTERVAL: "10",
    SINK_LOG_INTERVAL: "10",
} | {key: value for key, value in PINNED_DEFAULTS.items() if key not in SOURCE_SETTINGS}


def recorded(version: Version, key: str) -> str | None:
    """Return the value that counts in a checkpoint; None where its offset log is not known.

    A log of an older Spark lacks some keys, and 4.2 takes a fixed value for each of them.
    """
    if key in version.pinned or not version.pinned:
        return version.pinned.get(key)
    return ABSENT_DEFAULTS.get(key)


def effective(version: Version, key: str) -> str | None:
    """Return the value that a session uses; None where nobody says what it set.

    A session whose settings are evidence, and that does not set a key, uses the default.
    """
    if key in version.settings:
        return version.settings[key]
    known = bool(version.settings) or any(e.kind == EvidenceKind.SETTINGS for e in version.evidence)
    return DEFAULTS.get(key) if known else None


def set_by_somebody(c: Comparison, key: str) -> bool:
    """Say whether one of the two sessions sets a key itself."""
    return key in c.before.settings or key in c.after.settings


def differing(c: Comparison) -> dict[str, tuple[str | None, str | None]]:
    """Return the session settings that differ, {key: (before, after)}, keys sorted."""
    keys = c.before.settings.keys() | c.after.settings.keys()
    return {k: c.setting(k) for k in sorted(keys) if c.setting(k)[0] != c.setting(k)[1]}


def stored_partitions(version: Version) -> int | None:
    """Return how many partitions the state has, None where no store says it."""
    numbers = [s.partitions for o in version.stateful or () for s in o.stores if s.partitions]
    return max(numbers, default=None)
