"""The way of an upgrade: a rolling bounce, all instances stopped at once, or a reset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headgate.rules.core.report import Finding, Outcome, Upgrade, UpgradeWay
from headgate.rules.kafka_streams.facts.broker_topology import differences, registered
from headgate.rules.kafka_streams.facts.rule import StreamsComparison
from headgate.rules.kafka_streams.library_versions import releases

_STOP = (
    "Stop all instances of the old version cleanly: call KafkaStreams#close with a timeout that is "
    "long enough to commit."
)
_WAIT = "Wait until the group is empty: crashed members leave it after session.timeout.ms."
_START = "Start the new version on all instances and wait until they are RUNNING."
_ALL = (_STOP, _WAIT, _START)
_BY_RULE: dict[str, tuple[str, ...]] = {
    "KST060": (
        _STOP,
        (
            "Start the new version once with group.protocol=classic, stop it, and set "
            "group.protocol=streams again. Alternative: if the group is empty, save its "
            "committed offsets, delete the group and restore the offsets."
        ),
        _START,
    ),
    "KST074": (
        _STOP,
        _WAIT,
        (
            "If the changelogs contain all rows of all stores, delete the state directories of all "
            "instances. Kafka Streams restores the stores from the changelogs."
        ),
        _START,
    ),
}
_BY_RULE["KST090"] = _BY_RULE["KST074"]
_BY_RULE["KST052"] = _BY_RULE["KST074"]
_BY_RULE["KST102"] = _ALL
_RESET = (
    (
        "If possible, keep the names of stores and topics and the sub-topology numbers, as the "
        "findings describe. Then no reset is needed."
    ),
    "If you need a reset, stop all instances and back up the records of the output topics.",
    (
        "If the input topics still have all records, reset the application: set the input offsets "
        "to the earliest, and delete the internal topics and the local state. Otherwise, use a new "
        "application id and new output topics."
    ),
    _START,
    "Let the application process the inputs from the earliest offset. Once it has caught up, "
    "switch the consumers to the new output.",
)
_ROLLING = (
    "Restart the instances one by one with the new version.",
    "After each restart, wait until the instance is RUNNING and its lag is normal again.",
)
_TWO_BOUNCES = (
    "Set upgrade.from={old} and do a rolling restart with the new version.",
    "Remove upgrade.from and do a second rolling restart.",
)


def way_of_upgrade(c: StreamsComparison, found: Sequence[Finding]) -> Upgrade | None:
    """Return how to get to the new version, by the upgrade guides; None without descriptions."""
    if not c.old.described or not c.new.described:
        return None
    worst = max((f.outcome for f in found), default=Outcome.RESUMES)
    repaired = [f for f in found if f.outcome is Outcome.REFUSES and f.rule in _BY_RULE]
    bad = [f for f in found if f.outcome >= Outcome.SILENTLY_WRONG and f not in repaired]
    if bad:
        return Upgrade(UpgradeWay.RESET, _reset_steps(bad), bad[0].why)
    if repaired:
        return Upgrade(UpgradeWay.OFFLINE, _BY_RULE[repaired[0].rule], repaired[0].why)
    if worst is Outcome.UNKNOWN:
        return _open(c, found)
    return _safe(c)


def _reset_steps(bad: Sequence[Finding]) -> tuple[str, ...]:
    remedies = list(dict.fromkeys(f.remedy for f in bad if f.remedy))
    return (*remedies[:2], *_RESET[1:]) if remedies else _RESET


def _open(c: StreamsComparison, found: Sequence[Finding]) -> Upgrade:
    asked = [f.question for f in found if f.outcome is Outcome.UNKNOWN and f.question]
    then = _safe(c)
    steps = (*(f"Answer first: {q}" for q in dict.fromkeys(asked)), *then.steps)
    why = (
        "The evidence doesn't show which upgrade path is safe. Answer the questions first. If the "
        f"answers show no problem, this applies: {then.why}"
    )
    return Upgrade(UpgradeWay.UNKNOWN, steps, why)


def _safe(c: StreamsComparison) -> Upgrade:
    """Return the way of an upgrade that loses nothing."""
    reasons = list(_reasons_to_stop(c))
    if reasons:
        return Upgrade(
            UpgradeWay.OFFLINE, _ALL, ("A rolling restart doesn't work, because ") + reasons[0]
        )
    was, now = releases(c)
    if was and now and was < (3, 5) <= now:
        text = f"{was[0]}.{was[1]}"
        steps = tuple(s.format(old=text) for s in _TWO_BOUNCES)
        return Upgrade(
            UpgradeWay.ROLLING,
            steps,
            (
                "Kafka Streams 3.5 and later write repartition topics in a format that "
                f"{text} can't read."
            ),
        )
    why = (
        "Sub-topologies, inputs and internal topics are the same. So instances of both versions "
        "can share tasks during the upgrade."
    )
    return Upgrade(UpgradeWay.ROLLING, _ROLLING, why)


def _reasons_to_stop(c: StreamsComparison) -> Iterator[str]:
    if c.old.protocol and c.new.protocol and c.old.protocol != c.new.protocol:
        yield (
            "the group protocol changed. Kafka rejects new members that use a different protocol "
            "than the group."
        )
    if c.old.application_id != c.new.application_id:
        yield "the application ids differ, so both versions would process all records."
    none: frozenset[str] = frozenset()
    changed = differences(registered(c.old, none), registered(c.new, none))
    if changed:
        parts = ", ".join(dict.fromkeys(w for words in changed.values() for w in words))
        yield (
            f"the sub-topologies differ ({parts}). If both versions run in one group, instances "
            "get tasks of the other version (TopologyException), or wait for each other forever."
        )
    if c.old.config.get("topology.optimization") != c.new.config.get("topology.optimization"):
        yield "topology.optimization changed, so the new version restores tables from other topics."
    both = c.old.inputs.keys() & c.new.inputs.keys()
    if any(c.old.inputs[t] != c.new.inputs[t] for t in both):
        yield "the partition counts of the inputs changed, so the number of tasks changes, too."
