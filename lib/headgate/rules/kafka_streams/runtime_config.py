"""Settings that decide how the application runs, and none of what it finds at its start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headgate.model.kafka_streams import StreamsApplication
from headgate.rules.core.report import Location, Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.rule import StreamsComparison, streams_rule

EXPLICIT_NAMES = "ensure.explicit.internal.resource.naming"
_CLIENTS = ("main.consumer.", "restore.consumer.", "global.consumer.", "consumer.", "producer.")
_OF_CLIENTS = frozenset(
    {
        "client.id",
        "client.rack",
        "session.timeout.ms",
        "heartbeat.interval.ms",
        "max.poll.interval.ms",
        "max.poll.records",
        "fetch.max.bytes",
        "fetch.max.wait.ms",
        "fetch.min.bytes",
        "max.partition.fetch.bytes",
        "partition.assignment.strategy",
        "check.crcs",
        "linger.ms",
        "batch.size",
        "buffer.memory",
        "compression.type",
        "max.block.ms",
        "max.request.size",
        "delivery.timeout.ms",
        "max.in.flight.requests.per.connection",
        "acks",
        "retries",
        "connections.max.idle.ms",
        "default.api.timeout.ms",
        "metadata.max.age.ms",
        "metadata.recovery.strategy",
        "receive.buffer.bytes",
        "send.buffer.bytes",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "request.timeout.ms",
        "retry.backoff.ms",
        "retry.backoff.max.ms",
        "security.protocol",
    }
)
FELT = frozenset(
    {
        "commit.interval.ms",
        "statestore.cache.max.bytes",
        "cache.max.bytes.buffering",
        "max.task.idle.ms",
        "deserialization.exception.handler",
        "default.deserialization.exception.handler",
        "production.exception.handler",
        "default.production.exception.handler",
        "processing.exception.handler",
        "processing.exception.handler.global.enabled",
        "errors.dead.letter.queue.topic.name",
        "group.instance.id",
    }
)
"""Settings whose effect consumers notice: rate and order of results, and failing records."""
_OF_STREAMS = FELT | frozenset(
    {
        "num.stream.threads",
        "num.standby.replicas",
        "poll.ms",
        "buffered.records.per.partition",
        "input.buffer.max.bytes",
        "task.timeout.ms",
        "state.cleanup.delay.ms",
        "acceptable.recovery.lag",
        "max.warmup.replicas",
        "probing.rebalance.interval.ms",
        "repartition.purge.interval.ms",
        "application.server",
        "allow.os.group.write.access",
        "log.summary.interval.ms",
        "enable.metrics.push",
        "built.in.metrics.version",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "rack.aware.assignment.tags",
        "rack.aware.assignment.strategy",
        "rack.aware.assignment.traffic_cost",
        "rack.aware.assignment.non_overlap_cost",
        "task.assignor.class",
    }
)
_SECURITY = ("ssl.", "sasl.", "security.", "rack.aware.assignment.", "client.tag.")


def runtime_settings(c: StreamsComparison) -> tuple[str, ...]:
    """Return the settings that differ and decide only how the application runs."""
    return tuple(k for k in sorted(c.old.config | c.new.config) if _runs(k) and _differs(c, k))


def _runs(key: str) -> bool:
    bare = next((key.removeprefix(p) for p in _CLIENTS if key.startswith(p)), key)
    return key in _OF_STREAMS or bare in _OF_CLIENTS or bare.startswith(_SECURITY)


def _differs(c: StreamsComparison, key: str) -> bool:
    old, new = c.setting(key)
    return old != new


_WATCH_CONSUMER_LAG = "Watch consumer lag and memory after the start."
_LOOK_FOR_SKIPPED_RECORDS = (
    "Before the upgrade, look in the old version's log for skipped records, and correct the code "
    "or the producer."
)


@streams_rule(
    "KST083", outcomes=(Outcome.RESUMES,), remedies=(_WATCH_CONSUMER_LAG, _LOOK_FOR_SKIPPED_RECORDS)
)
def runtime_settings_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """This setting is about threads, standbys, caches, intervals, exception handlers or clients.
    Such a setting decides how fast and how often results are written, and what happens to failing
    records.

    The setting doesn't change names, offsets or state.
    """
    for key in runtime_settings(c):
        old, new = c.setting(key)
        stops = key.endswith("exception.handler") and _skips(old) and not _skips(new)
        text = " The old version skipped records that fail. The new version stops at such a record."
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT,
            location=Location(),
            before=old,
            after=new,
            because=f"{key} changed.{text if stops else ''}",
            remedy=_LOOK_FOR_SKIPPED_RECORDS if stops else _WATCH_CONSUMER_LAG,
        )


def _skips(handler: str | None) -> bool:
    """Return whether it is one of Kafka's handlers that skip a failing record."""
    return "AndContinue" in (handler or "")


_SET_EACH_CURRENT = (
    "Set each current name explicitly with Materialized.as, Grouped.as or Repartitioned.as."
)
_KEEP_THE_SETTING = "Keep the setting: it prevents new generated names."
_DOES_STREAMSBUILDER_GET = (
    "Does the code pass the configuration to StreamsBuilder (as TopologyConfig)? If so, "
    "StreamsBuilder#build fails."
)


@streams_rule(
    "KST082",
    outcomes=(Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_SET_EACH_CURRENT, _KEEP_THE_SETTING),
    questions=(_DOES_STREAMSBUILDER_GET,),
)
def explicit_names_required(c: StreamsComparison) -> Iterator[RuleResult]:
    """With ensure.explicit.internal.resource.naming=true, StreamsBuilder#build fails with
    TopologyException if a store, a changelog or a repartition topic has a generated name.

    The setting applies only if StreamsBuilder gets the configuration (TopologyConfig). If only
    KafkaStreams gets the configuration, the setting has no effect, even if there are generated
    names. The code may set a store name that looks generated. Headgate assumes this if an operator
    has the same number as the store.
    """
    old, new = (_is_on(a) for a in (c.old, c.new))
    unnamed = _unnamed(c.new) if new else []
    if old and new and (not unnamed or _unnamed(c.old)):
        return
    if old or new:
        yield RuleResult(
            outcome=Outcome.UNKNOWN if unnamed else Outcome.RESUMES,
            state_effect=StateEffect.NONE if unnamed else StateEffect.EXACT,
            location=Location(),
            before=c.old.config.get(EXPLICIT_NAMES),
            after=c.new.config.get(EXPLICIT_NAMES),
            because=_names_text(unnamed, new),
            question=_DOES_STREAMSBUILDER_GET if unnamed else None,
            remedy=_SET_EACH_CURRENT if unnamed else _KEEP_THE_SETTING,
        )


def _names_text(unnamed: list[str], required: bool) -> str:
    if unnamed:
        return f"Generated names: {', '.join(unnamed)}."
    return "All names are set explicitly." if required else f"{EXPLICIT_NAMES} is no longer true."


def _is_on(app: StreamsApplication) -> bool:
    return app.config.get(EXPLICIT_NAMES, "false").strip().lower() == "true"


def _unnamed(app: StreamsApplication) -> list[str]:
    """Return the names that the code doesn't set."""
    stores = [s.name for s in app.stores if s.is_generated]
    names = [*stores, *(r.name for r in app.repartitions if r.is_generated)]
    numbered = (p for p in app.processors if p.number is not None)
    used = {p.number for p in numbered if p.name.endswith(f"-{p.number:010}")}
    return [n for n in names if not _is_set(n, used)]


def _is_set(name: str, used: set[int | None]) -> bool:
    """Say whether the code set a name that looks generated.

    Kafka Streams uses each number once, for a store or for an operator. Both have the same number
    only if the code names the store. Other names contain their operator's number.
    """
    found = _OF_STORE.search(name)
    return found is not None and int(found[1]) in used


_OF_STORE = re.compile(r"-STATE-STORE-(\d{10})(?:-repartition)?$")
