"""Complete one version of an application by another one: what is missing, never what is said."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from headgate.model.kafka_streams import StreamsApplication

_NOTHING: tuple[Any, ...] = (None, (), {}, False)
_DESCRIBED = frozenset(
    {"described", "topologies", "processors", "stores", "repartitions", "sources", "sinks"}
)


def completed_application(
    app: StreamsApplication | None, other: StreamsApplication | None
) -> StreamsApplication | None:
    """Return `app` filled with facts of `other`; what a description says stays whole."""
    if app is None or other is None:
        return app or other
    changes: dict[str, Any] = {}
    for f in fields(StreamsApplication):
        mine = getattr(app, f.name)
        if f.name in _DESCRIBED:
            if not app.described:
                changes[f.name] = getattr(other, f.name) or mine
        elif mine in _NOTHING and not (f.name == "internal" and mine is not None):
            changes[f.name] = getattr(other, f.name)
    return replace(app, **changes)
