"""How the code of an operator sets the exact name of its state store, if it can."""

from __future__ import annotations

from headgate.model.kafka_streams import StreamsStore
from headgate.rules.kafka_streams.facts.flow import UNREAD, Flow

TABLE = 'Use Materialized.as("{old}").'
PROCESSOR = (
    "For a processor, set the name {old} in the store's builder. For an operator of the DSL, use "
    'Materialized.as("{old}").'
)
THIS_SIDE = "Pass a store supplier with the name {old} to StreamJoined.withThisStoreSupplier."
OTHER_SIDE = "Pass a store supplier with the name {old} to StreamJoined.withOtherStoreSupplier."
JOIN = 'Use StreamJoined.withStoreName("{base}").'
SUPPRESS = 'Use Suppressed.withName("{base}").'
FOREIGN_KEY = 'Use TableJoined.as("{base}").'
GRACE = 'Use Joined.as("{base}").'
WAYS = (TABLE, PROCESSOR, THIS_SIDE, OTHER_SIDE, JOIN, SUPPRESS, FOREIGN_KEY, GRACE)

_PROCESSORS = UNREAD | {
    "process",
    "process_values",
    "transform",
    "transform_values",
    "flat_transform",
    "flat_transform_values",
}
_ENDINGS = {
    "-outer-this-join-store": JOIN,
    "-outer-other-join-store": JOIN,
    "-left-shared-join-store": JOIN,
    "-outer-shared-join-store": JOIN,
    "-this-join-store": JOIN,
    "-other-join-store": JOIN,
    "-subscription-store": FOREIGN_KEY,
    "-Buffer": GRACE,
}
"""What Kafka Streams 4.3.1 adds to the name that the code gives to an operator."""
_GENERATED = {
    "OUTERTHIS": ("-outer-this-join-store",),
    "OUTEROTHER": ("-outer-other-join-store",),
    "OUTERSHARED": ("-left-shared-join-store", "-outer-shared-join-store"),
    "JOINTHIS": ("-this-join-store",),
    "JOINOTHER": ("-other-join-store",),
    "FK-JOIN-SUBSCRIPTION": ("-subscription-store",),
    "-Buffer": ("-Buffer",),
}
"""The endings that a generated name's operator would get with a name."""


def way_to_name(flow: Flow, store: StreamsStore, old: str) -> str | None:
    """Return the sentence that says how to give `store` the name `old`; None if no code can."""
    operators = [flow.nodes[k].operator for k in flow.users(store)]
    if "suppress" in operators:
        base = old.removesuffix("-store")
        is_set = old.endswith("-store") and not old.startswith("KTABLE-SUPPRESS-")
        return SUPPRESS.format(base=base) if is_set else None
    endings = _endings(store)
    for ending in endings:
        if old.endswith(ending) and old != ending:
            return _ENDINGS[ending].format(base=old.removesuffix(ending))
    if endings:
        side = _side(endings)
        return side.format(old=old) if side else None
    return (PROCESSOR if {*operators[:1]} & _PROCESSORS else TABLE).format(old=old)


def _endings(store: StreamsStore) -> tuple[str, ...]:
    if store.is_generated:
        return next((e for word, e in _GENERATED.items() if word in store.name), ())
    found = next((e for e in _ENDINGS if store.name.endswith(e)), None)
    return (found,) if found else ()


def _side(endings: tuple[str, ...]) -> str | None:
    """Return how a supplier sets the name; a store that both sides share has no supplier."""
    if "-this-join-store" in endings[0]:
        return THIS_SIDE
    return OTHER_SIDE if "-other-join-store" in endings[0] else None


def is_same_kind_of_name(was: StreamsStore, now: StreamsStore) -> bool:
    """Say whether two generated names differ only in their numbers."""
    digits = str.maketrans("", "", "0123456789")
    same = was.name.translate(digits) == now.name.translate(digits)
    return was.is_generated and now.is_generated and same
