"""A Kafka Streams application as large as one likes, as `Topology#describe()` prints it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

_NODES = 10
"""How many nodes each part has, on both sides of its repartition topic."""


def description(nodes: int, *, edit: bool = False) -> str:
    """Return parts that group and count, every other store with a generated name.

    With `edit` every seventh part has an operator more before it, which moves all later numbers.
    """
    numbers = count()
    parts = (_part(i, numbers, edit and i % 7 == 0) for i in range(nodes // _NODES))
    return "Topologies:\n" + "".join(line + "\n" for part in parts for line in part)


def _part(place: int, numbers: Iterator[int], more: bool) -> Iterator[str]:
    def name(word: str) -> str:
        return f"{word}-{next(numbers):010d}"

    source = name("KSTREAM-SOURCE")
    above = [name("KSTREAM-FILTER")] if more else []
    above += [name("KSTREAM-KEY-SELECT"), name("KSTREAM-MAPVALUES")]
    generated = name("KSTREAM-AGGREGATE-STATE-STORE")
    store = f"counts-{place}" if place % 2 else generated
    above.append(f"{store}-repartition-filter")
    writes, reads = name("KSTREAM-SINK"), name("KSTREAM-SOURCE")
    below = [name("KSTREAM-AGGREGATE"), name("KTABLE-TOSTREAM")]
    topic = f"{store}-repartition"
    yield f"   Sub-topology: {2 * place}"
    yield from _chain((source, f"in-{place}"), above, (writes, topic), "")
    yield f"   Sub-topology: {2 * place + 1}"
    yield from _chain((reads, topic), below, (name("KSTREAM-SINK"), f"out-{place}"), store)


def _chain(
    source: tuple[str, str], names: list[str], sink: tuple[str, str], store: str
) -> Iterator[str]:
    """Yield one line after the other; the first operator has the store."""
    row = [source[0], *names, sink[0]]
    yield f"    Source: {source[0]} (topics: [{source[1]}])\n      --> {row[1]}"
    for at, name in enumerate(names, start=1):
        stores = f"[{store}]" if at == 1 else "[]"
        yield f"    Processor: {name} (stores: {stores})"
        yield f"      --> {row[at + 1]}\n      <-- {row[at - 1]}"
    yield f"    Sink: {sink[0]} (topic: {sink[1]})\n      <-- {row[-2]}\n"
