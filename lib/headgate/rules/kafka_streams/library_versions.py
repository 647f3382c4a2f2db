"""Versions of the runtime, as far as the evidence names them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headgate.rules.core.report import Location, Outcome, Rollback, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.rule import STATE_EXCEPTION, StreamsComparison, streams_rule

GUIDE = "Kafka documentation: Streams upgrade guide"
Release = tuple[int, int]


def release(text: str | None) -> Release | None:
    """Return (major, minor) of a version, None where there is none."""
    match = re.match(r"(\d+)\.(\d+)", text or "")
    return (int(match[1]), int(match[2])) if match else None


def releases(c: StreamsComparison) -> tuple[Release | None, Release | None]:
    """Return the old and the new runtime; the new version's `upgrade.from` may name the old one."""
    was = release(c.before.engine_version) or release(c.new.config.get("upgrade.from"))
    return was, release(c.after.engine_version)


_IF_ALL_CHANGELOGS = (
    "If the changelogs contain all rows of all stores, delete the state directories of all "
    "instances before the start. Kafka Streams restores the stores from their changelogs."
)


@streams_rule(
    "KST090", GUIDE, outcomes=(Outcome.REFUSES, Outcome.RESUMES), remedies=(_IF_ALL_CHANGELOGS,)
)
def older_runtime_on_newer_state(c: StreamsComparison) -> Iterator[RuleResult]:
    """An older Kafka Streams release can't open local stores that a newer release wrote.

    Release 4.3 keeps offsets in a column family that 4.2 doesn't know (KIP-1035). Releases 3.x
    can't read RocksDB files of 4.0, and 2.8 can't read RocksDB files of 3.0.
    """
    was, now = releases(c)
    if not was or not now or now >= was or not any(now < edge <= was for edge in _EDGES):
        return
    state = any(not s.is_global for s in c.old.stores)
    yield RuleResult(
        outcome=Outcome.REFUSES if state else Outcome.RESUMES,
        state_effect=StateEffect.NONE,
        location=Location(),
        before=c.before.engine_version,
        after=c.after.engine_version,
        because=f"Kafka Streams is downgraded from {_text(was)} to {_text(now)}.",
        error_class=STATE_EXCEPTION if state else None,
        remedy=_IF_ALL_CHANGELOGS,
        rollback=Rollback.SAFE,
        scenario="offline-upgrade",
    )


_EDGES: tuple[Release, ...] = ((3, 0), (4, 0), (4, 3))


_BOUNCE_ONCE_WITH = (
    "Do a rolling restart of the newer version with upgrade.from={text}. Wait until all records in "
    "the repartition topics are processed, then downgrade."
)
_DO_TWO_ROLLING = (
    "Do two rolling restarts: the first with upgrade.from set to the old release, the second "
    "without upgrade.from."
)
_ONE_ROLLING_BOUNCE = "One rolling restart is enough."
_DID_THE_NEWER = (
    "Is upgrade.from set in the newer version, and are all records in the repartition topics "
    "processed?"
)


@streams_rule(
    "KST091",
    GUIDE,
    outcomes=(Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_BOUNCE_ONCE_WITH, _DO_TWO_ROLLING, _ONE_ROLLING_BOUNCE),
    questions=(_DID_THE_NEWER,),
)
def repartition_format_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """Kafka Streams 3.5 changed the format of table updates in repartition topics and foreign-key
    joins (KIP-904).

    Newer instances write the old format only while upgrade.from names a release before 3.5. So a
    rolling upgrade from such a release to 3.5 or later needs two rolling restarts. Before a
    downgrade across 3.5, all records in repartition topics must be processed.
    """
    was, now = releases(c)
    if not was or not now or was == now:
        return
    if now < (3, 5) <= was and c.old.repartitions:
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            state_effect=StateEffect.EXACT,
            location=Location(),
            before=_text(was),
            after=_text(now),
            because=f"Kafka Streams is downgraded from {_text(was)} to {_text(now)}.",
            question=_DID_THE_NEWER,
            remedy=_BOUNCE_ONCE_WITH.format(text=_text(now)),
        )
    elif was < now:
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT,
            location=Location(),
            before=_text(was),
            after=_text(now),
            because=f"Kafka Streams is upgraded from {_text(was)} to {_text(now)}.",
            remedy=_DO_TWO_ROLLING if was < (3, 5) <= now else _ONE_ROLLING_BOUNCE,
        )


def _text(found: Release) -> str:
    return f"{found[0]}.{found[1]}"
