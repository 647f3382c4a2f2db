"""What a version says of a Kafka Streams application as a whole."""

from __future__ import annotations

from headgate.model.kafka_streams import StreamsApplication
from headgate.text.numbers import plural
from headgate.ui.shared.markup import Code, Rows


def streams_rows(app: StreamsApplication | None) -> Rows:
    """Return the rows of the panel; none for another engine."""
    if app is None:
        return
    yield "Application id", Code(app.application_id) if app.application_id else "unknown"
    yield "Group protocol", app.protocol
    yield "State", _stores(app)
    if app.repartitions:
        yield (
            "Repartitions",
            f"{len(app.repartitions)}{_generated(sum(r.is_generated for r in app.repartitions))}",
        )
    if app.internal is not None:
        yield "Internal topics", len(app.internal)
    if app.config:
        yield "Settings", [Code(f"{k}: {v}") for k, v in sorted(app.config.items())][:12]


def _stores(app: StreamsApplication) -> str:
    if not app.described and not app.stores:
        return "unknown"
    return (
        f"{plural(len(app.stores), 'store')}{_generated(sum(s.is_generated for s in app.stores))}"
    )


def _generated(count: int) -> str:
    return f", {count} with a generated name" if count else ""
