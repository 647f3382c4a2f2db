"""What could not be looked at, and what would tell it: silence there is no praise."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import Engine
from headgate.rules.core.source_names import family
from headgate.rules.readiness.facts.subject import Subject
from headgate.rules.spark.facts.cluster_offsets import too_old

_REGISTERED = "a cluster in headgate.toml and --cluster tell"


def not_seen(s: Subject) -> tuple[str, ...]:
    """Return one sentence for each thing that no evidence told, in fixed order."""
    spark = s.version.engine is Engine.SPARK
    return tuple(_spark(s) if spark else _streams(s))


def _spark(s: Subject) -> Iterator[str]:
    if s.version.sources is None:
        yield "Not looked at: the sources. Explain text, progress or the checkpoint tells them."
    elif any(not x.options and family(x) in ("kafka", "file") for x in s.sources):
        yield (
            "Not looked at: options of the sources (starting offsets, limits, failOnDataLoss). "
            "`headgate capture module:function` tells them."
        )
    if s.version.stateful is None:
        yield "Not looked at: the state. A plan, or the checkpoint with its state, tells it."
    elif any(o.keys is None for o in s.stateful):
        yield "Not looked at: what the state is kept by. A plan tells it."
    if s.version.sink is None or not s.version.sink.format:
        yield "Not looked at: the sink. A plan of the running query, or a capture, tells it."
    if not s.settings_told:
        yield "Not looked at: the session's settings. A capture, conf.json or an event log tells."
    if s.place is None:
        yield "Not looked at: where the checkpoint is. headgate.toml or a plan tells it."
    if s.stateful and s.newest is None:
        yield "Not looked at: how large the state is. Query progress tells it."
    if s.version.engine_version is None:
        yield "Not looked at: whether this release of Spark is still mended; no evidence names it."
    if old_reading := too_old(s.version, s.cluster):
        yield old_reading.replace("Compare again", "Check again")
    if any(family(x) == "kafka" for x in s.sources):
        yield from _kafka(
            s, "how much history its topics have, how near its position is to the edge"
        )


def _streams(s: Subject) -> Iterator[str]:
    if s.version.engine is Engine.KAFKA_STREAMS:
        if not s.app.described:
            yield "Not looked at: operators and sinks. Topology#describe() tells them."
        if not s.app.config:
            yield (
                "Not looked at: the configuration (handlers, standbys, time-outs, state.dir). "
                "config.json, or the log's `StreamsConfig values:`, tells it."
            )
        if s.app.internal is None:
            yield "Not looked at: internal topics. The cluster, or internal_topics.json, tells."
        elif s.app.stores and s.cluster is not None and not _sized(s):
            yield "Not looked at: how long stores take to restore; their sizes could not be read."
    yield from _kafka(s, "history of the inputs, positions, sizes of stores, expiry of offsets")


def _sized(s: Subject) -> bool:
    topics = [s.topic(x.changelog or x.restored_from) for x in s.app.stores]
    return any(t is not None and t.bytes is not None for t in topics)


def _kafka(s: Subject, what: str) -> Iterator[str]:
    if s.cluster is None:
        yield f"Not looked at: Kafka ({what}); {_REGISTERED}."
    elif not s.cluster.broker_settings and s.version.engine is not Engine.SPARK:
        yield "Not looked at: when offsets expire; the brokers' settings could not be read."
