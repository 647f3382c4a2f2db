"""What the evidence of a Kafka Streams application leaves open, and what would tell."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.kafka_streams import StreamsApplication

_NEVER = (
    "serdes, window sizes and grace, the code of aggregations and filters, types of stores and "
    "which of them have logging switched off: no description of a topology tells, only the code"
)
_INTERNAL = (
    "internal topics, their partitions and settings: registered in headgate.toml with its `group`, "
    "the application is completed from the cluster; internal_topics.json tells them, too"
)


def limits_of_streams(app: StreamsApplication) -> tuple[str, ...]:
    """Return one sentence for each thing that is not known, in fixed order."""
    return tuple(_limits(app))


def _limits(app: StreamsApplication) -> Iterator[str]:
    if not app.described:
        yield "operators, sinks and stores without a changelog: Topology#describe() tells them"
    if not app.application_id:
        yield "the application id: config.json with `application.id` tells it"
    if not app.config:
        yield "the configuration: config.json, or the log's `StreamsConfig values:`, tells it"
    elif not app.config_is_whole:
        yield "settings that are not named are at their release's defaults, which it does not name"
    if app.internal is None:
        yield _INTERNAL
    if any(s.pattern for s in app.sources) and not app.inputs:
        yield "which topics a pattern subscribes to: only the cluster tells"
    if app.described:
        yield _NEVER
