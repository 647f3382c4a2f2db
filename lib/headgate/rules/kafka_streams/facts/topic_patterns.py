"""Which topics a subscription by pattern stands for, as far as the evidence names topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from headgate.model.cluster import Cluster
from headgate.model.kafka_streams import StreamsApplication, StreamsSource
from headgate.parse.kafka_streams.from_cluster import matching


def subscribed(
    old: StreamsApplication, new: StreamsApplication, cluster: Cluster | None
) -> tuple[StreamsApplication, StreamsApplication]:
    """Return both with the topics that their patterns match; a pattern that matches none stays.

    Looked for among the topics that each version's evidence gives partitions of, those that the
    code of either names, and for the new version those that are on the cluster now.
    """
    if not any(s.pattern for app in (old, new) for s in app.sources):
        return old, new
    here = _on(cluster)
    was, now = {**old.said_inputs, **old.inputs}, {**new.said_inputs, **new.inputs, **here}
    named = sorted({t for app in (old, new) for s in app.sources for t in s.topics})
    return _expanded(old, was or now, named), _expanded(new, now or was, named)


def _on(cluster: Cluster | None) -> dict[str, int]:
    topics = cluster.topics.values() if cluster else ()
    return {t.name: len(t.partitions) for t in topics if not t.internal}


def _expanded(
    app: StreamsApplication, counted: Mapping[str, int], named: Iterable[str]
) -> StreamsApplication:
    sources = tuple(_source(s, {*counted, *named}) for s in app.sources)
    found = {t for s in sources if s.pattern for t in s.topics}
    inputs = {t: n for t, n in counted.items() if t in found}
    return replace(app, sources=sources, inputs={**inputs, **app.inputs})


def _source(source: StreamsSource, names: Iterable[str]) -> StreamsSource:
    if not source.pattern or source.topics:
        return source
    return replace(source, topics=tuple(sorted(matching(source.pattern, names))))
