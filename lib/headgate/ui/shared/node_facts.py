"""Everything that a version says of one node: its own facts first, then who said so."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

import streamlit as st

from headgate.model.evidence_kinds import HAVE_OFFSETS, HAVE_OPERATORS, HAVE_STATE
from headgate.model.state_schema import Schema, type_text
from headgate.model.topology import Node, NodeKind
from headgate.model.version import Source, StatefulOperator, StateStore, Version
from headgate.text.numbers import exact, plural
from headgate.ui.shared import markup
from headgate.ui.shared.details_panel import detail_rows, shown
from headgate.ui.shared.markup import Code, Rows
from headgate.ui.shared.upload import as_uploaded
from headgate.views.scene.limit_nodes import limits_at

SCHEMAS = ("key_schema", "value_schema")
OFFSETS = ("start_offsets", "offsets")
APART = frozenset((*SCHEMAS, *OFFSETS))
"""Details that are shown in separate tables."""
MANY_PARTITIONS = 24


def show_node(version: Version, node: Node) -> None:
    """Show facts, schemas, positions, what is not known, and the details as they were read."""
    st.html(facts(version, node))
    for sentence in limits_at(version, node):
        st.html(markup.unknown(sentence))
    said = "".join(markup.section(w) + markup.bullets(p) for w, p in provenance(version, node))
    if said:
        st.html(said)
    if node.details:
        with st.expander("Evidence"):
            st.code(_raw(node), language="json", wrap_lines=True)


def facts(version: Version, node: Node) -> str:
    """Return the facts of a node as HTML, its own first, then its columns and positions."""
    operator, source, store = _typed(version, node)
    rows: dict[str, object] = {}
    for name, value in _rows(node, operator, source, store):
        if value not in (None, "", (), [], {}):
            rows.setdefault(name, value)
    rows["Sub-topology"] = node.subtopology
    return markup.facts(rows.items()) + "".join(_tables(node, source, store))


def _typed(
    version: Version, node: Node
) -> tuple[StatefulOperator | None, Source | None, StateStore | None]:
    operators = version.stateful or ()
    return (
        next((o for o in operators if o.node == node.id), None),
        next((s for s in version.sources or () if s.node == node.id), None),
        next((s for o in operators for s in o.stores if s.node == node.id), None),
    )


def _rows(
    node: Node, operator: StatefulOperator | None, source: Source | None, store: StateStore | None
) -> Iterator[tuple[str, object]]:
    """Yield names and values; what the typed facts say comes before the details."""
    yield from _operator_rows(operator) if operator else ()
    yield from _source_rows(source) if source else ()
    yield from _store_rows(store) if store else ()
    yield from detail_rows({k: v for k, v in node.details.items() if k not in APART})


def _operator_rows(operator: StatefulOperator) -> Rows:
    window = operator.window
    yield "Keys", shown(operator.keys)
    yield "Right keys", shown(operator.right_keys)
    yield "Functions", shown(operator.functions)
    yield "Condition", Code(operator.condition) if operator.condition else None
    yield "Join type", operator.join_type
    if window is not None:
        yield "Window", Code(window.session_gap or _micros(window.size_us))
        slides = window.slide_us is not None and window.slide_us != window.size_us
        yield "Slide", Code(_micros(window.slide_us)) if slides else None
    yield "Watermark column", Code(operator.watermark_column) if operator.watermark_column else None
    yield "Watermark delay", operator.watermark_delay
    yield "Output mode", operator.output_mode
    yield "Operator id", operator.operator_id
    for name, value in operator.extra.items():
        yield name.replace("_", " ").capitalize(), shown(value)


def _source_rows(source: Source) -> Rows:
    yield "Topics", shown(source.topics)
    yield "Pattern", Code(source.pattern) if source.pattern else None
    yield "Format", source.format
    yield "Columns", shown(source.columns)
    yield "Source number", source.position
    for name in OFFSETS:
        if (offsets := getattr(source, name)) and not _is_kafka(offsets):
            yield {"offsets": "End offset"}.get(name, "Start offset"), shown(offsets)


def _store_rows(store: StateStore) -> Rows:
    yield "Store", Code(store.store)
    yield "Operator id", store.operator_id
    yield "Partitions", store.partitions
    yield "Provider", Code(store.provider) if store.provider else None
    yield "State format version", store.format
    yield "Encoding", store.encoding
    yield "Prefix columns", store.prefix_columns


def _tables(node: Node, source: Source | None, store: StateStore | None) -> Iterator[str]:
    """Yield the columns of a store and the positions of a source as tables."""
    typed = {
        "key_schema": store.key_schema if store else None,
        "value_schema": store.value_schema if store else None,
    }
    for name, word in zip(SCHEMAS, ("Key", "Value"), strict=True):
        if rows := list(columns(typed[name], node.details.get(name))):
            head = (f"{word} column", "Type", "Note")
            yield markup.section(f"{word} of the state") + markup.table(head, rows)
    positions = source.offsets if source else node.details.get("offsets")
    begun = source.start_offsets if source else node.details.get("start_offsets")
    if _is_kafka(positions) or _is_kafka(begun):
        yield _positions(begun, positions)


def columns(schema: Schema | None, detail: Any) -> Iterator[tuple[object, ...]]:
    """Yield name, type and nullability of each column, of the typed schema or the detail."""
    fields: Iterable[tuple[Any, Any, Any]] = ()
    if schema is not None:
        fields = [(f.name, f.type, f.nullable) for f in schema.fields]
    elif isinstance(detail, list | tuple) and all(isinstance(f, Mapping) for f in detail):
        fields = [(f.get("name"), f.get("type"), f.get("nullable")) for f in detail]
    for name, kind, nullable in fields:
        known = {True: "nullable", False: "not null", None: "?"}[nullable]
        yield Code(name), Code(type_text(kind)), known


def _is_kafka(offsets: Any) -> bool:
    return isinstance(offsets, Mapping) and all(isinstance(v, Mapping) for v in offsets.values())


def _positions(begun: Any, now: Any) -> str:
    begun, now = (o if _is_kafka(o) else {} for o in (begun, now))
    pairs = sorted(
        {(t, p) for found in (begun, now) for t, row in found.items() for p in row},
        key=lambda pair: (pair[0], int(pair[1]) if str(pair[1]).isdecimal() else 0),
    )
    rows = [
        (Code(f"{t}[{p}]"), _offset(begun, t, p), _offset(now, t, p))
        for t, p in pairs[:MANY_PARTITIONS]
    ]
    more = len(pairs) - MANY_PARTITIONS
    rest = markup.quiet(f"and {plural(more, 'more partition')}") if more > 0 else ""
    return markup.section("Offsets") + (
        markup.table(("Partition", "Start offset", "End offset"), rows, numbers=2) + rest
    )


def _offset(found: Mapping[str, Any], topic: str, partition: str) -> str:
    offset = found.get(topic, {}).get(partition)
    return exact(offset) if isinstance(offset, int) else ("" if offset is None else str(offset))


def provenance(version: Version, node: Node) -> Iterator[tuple[str, list[str]]]:
    """Yield which evidence can have said what: a heading and the names of the pieces."""
    _, source, store = _typed(version, node)
    if found := _of_kinds(version, HAVE_OPERATORS):
        yield "Evidence for the operator", found
    if store is not None or node.kind is NodeKind.STATE_STORE:
        if store is not None and not store.proven:
            yield "Evidence for the columns", ["the query plan (not confirmed by a state store)"]
        elif found := _of_kinds(version, HAVE_STATE):
            yield "Evidence for the state", found
    if source is not None and source.offsets and (found := _of_kinds(version, HAVE_OFFSETS)):
        yield "Evidence for the offsets", found


def _of_kinds(version: Version, kinds: Set[str]) -> list[str]:
    words = [f"{e.kind} `{as_uploaded(e.path)}`" for e in version.evidence if e.kind in kinds]
    return list(dict.fromkeys(words))


def _raw(node: Node) -> str:
    return json.dumps(node.details, indent=2, ensure_ascii=False, default=str)


def _micros(micros: int | None) -> str:
    if micros is None:
        return "unknown"
    for size, word in ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "min"),
                       (1_000_000, "s"), (1000, "ms")):  # fmt: skip
        if micros % size == 0 and micros >= size:
            return f"{micros // size} {word}"
    return f"{micros} µs"
