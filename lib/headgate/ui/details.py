"""The panel beside a graph: what is known of the selected node, and where to go from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from headgate.model.topology import Node
from headgate.model.version import Source, StatefulOperator, StateStore, Version
from headgate.ui import markup
from headgate.ui.markup import Code, Rows
from headgate.ui.state import select
from headgate.views.scene import LOOK_WORDS, Look, Sketch

ICONS = {
    Look.TOPIC: ":material/notes:",
    Look.SOURCE: ":material/first_page:",
    Look.REPARTITION: ":material/swap_horiz:",
    Look.PROJECTION: ":material/code:",
    Look.JOIN: ":material/merge:",
    Look.AGGREGATION: ":material/functions:",
    Look.STORE: ":material/database:",
    Look.SINK: ":material/last_page:",
    Look.GROUP: ":material/grid_view:",
    Look.PIPELINE: ":material/account_tree:",
    Look.READER: ":material/group:",
}
WORDS = {
    "format": "Format", "name": "Name", "topics": "Topics", "pattern": "Pattern", "path": "Path",
    "keys": "Keys", "partitions": "Partitions", "partitioning": "Partitioning",
    "store": "Store", "operator_id": "Operator", "key_schema": "Key schema",
    "value_schema": "Value schema", "provider": "Provider", "watermark_column": "Watermark on",
    "watermark_delay": "Delay", "window": "Window", "slide": "Slide", "target": "Target",
    "output_mode": "Output mode", "condition": "Condition", "functions": "Functions",
    "join_type": "Join type", "expressions": "Expressions", "columns": "Columns",
    "start_offsets": "Started at", "offsets": "Read up to", "options": "Options",
}  # fmt: skip
"""How the contract's detail names are shown; others are shown as they are."""
LONG_LIST = 12


def neighbours(sketch: Sketch, node_id: str, on_pick: Callable[[str], None] = select) -> None:
    """Show what feeds a node and what it feeds, as buttons that select."""
    groups = (
        ("Reads from", sketch.sources_of(node_id)),
        ("Writes to", sketch.targets_of(node_id)),
    )
    with st.container(key="neighbours", gap=None):
        for word, nodes in groups:
            if nodes:
                st.html(markup.section(word))
            for node in nodes:
                st.button(
                    plain(node.label),
                    key=f"neighbour-{word}-{node.id}",
                    type="tertiary",
                    icon=ICONS[node.look],
                    on_click=on_pick,
                    args=(node.id,),
                    width="stretch",
                )


def plain(text: str) -> str:
    """Return text that Streamlit's Markdown leaves as it is."""
    return "".join(f"\\{c}" if c in r"\`*_{}[]()<>#+-.!|~:$&" else c for c in text)


def node_heading(sketch: Sketch, node_id: str) -> None:
    """Show what a node is and its name."""
    node = sketch.node(node_id)
    if node is not None:
        st.html(markup.heading(LOOK_WORDS[node.look], node.label))


def node_facts(version: Version, node: Node) -> str:
    """Return everything that a version says of one of its nodes."""
    rows: list[tuple[str, object]] = [("Sub-topology", node.subtopology)]
    rows += detail_rows(node.details)
    operator = next((o for o in version.stateful or () if o.node == node.id), None)
    source = next((s for s in version.sources or () if s.node == node.id), None)
    store = next((s for o in version.stateful or () for s in o.stores if s.node == node.id), None)
    rows += _operator_rows(operator) if operator else []
    rows += _source_rows(source) if source else []
    rows += _store_rows(store) if store else []
    return markup.facts(dict(rows).items())


def detail_rows(details: dict[str, Any]) -> list[tuple[str, object]]:
    """Return the contract's details as rows, the well known ones first."""
    known = [(word, details[name]) for name, word in WORDS.items() if name in details]
    others = [(name.replace("_", " "), v) for name, v in details.items() if name not in WORDS]
    return [(word, shown(value)) for word, value in (*known, *others)]


def shown(value: Any) -> object:
    """Return a value as the panel shows it: code for everything that is not a number."""
    if isinstance(value, dict):
        lines = [Code(f"{k}: {_short(v)}") for k, v in value.items()]
        return _capped(lines)
    if isinstance(value, list | tuple):
        return _capped([Code(_short(v)) for v in value])
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: None}[value]
    return value if isinstance(value, int | float) else Code(value)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}: {_short(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_short, value))
    return str(value)


def _capped(lines: list[Code]) -> list[Code]:
    if len(lines) <= LONG_LIST:
        return lines
    return [*lines[:LONG_LIST], Code(f"… and {len(lines) - LONG_LIST} more")]


def _operator_rows(operator: StatefulOperator) -> Rows:
    window = operator.window
    yield "Operator", operator.operator_id
    yield "Keys", shown(operator.keys)
    yield "Right keys", shown(operator.right_keys)
    yield "Functions", shown(operator.functions)
    yield "Condition", Code(operator.condition) if operator.condition else None
    yield "Join type", operator.join_type
    if window is not None:
        yield "Window", Code(window.session_gap or _micros(window.size_us))
        yield "Slide", Code(_micros(window.slide_us)) if window.slide_us else None
    yield "Watermark on", Code(operator.watermark_column) if operator.watermark_column else None
    yield "Delay", operator.watermark_delay
    yield "Output mode", operator.output_mode
    for name, value in operator.extra.items():
        yield name.replace("_", " ").capitalize(), shown(value)


def _source_rows(source: Source) -> Rows:
    yield "Position", source.position
    yield "Format", source.format
    yield "Topics", shown(source.topics)
    yield "Columns", shown(source.columns)
    yield "Started at", shown(source.start_offsets)
    yield "Read up to", shown(source.offsets)


def _store_rows(store: StateStore) -> Rows:
    yield "Store", Code(store.store)
    yield "Operator", store.operator_id
    yield "Key schema", _columns(store.key_schema)
    yield "Value schema", _columns(store.value_schema)
    yield "Partitions", store.partitions
    yield "Prefix columns", store.prefix_columns
    yield "Provider", Code(store.provider) if store.provider else None
    yield "Format", store.format
    yield "Encoding", store.encoding
    yield "Known from", "the engine" if store.proven else "the plan"


def _columns(schema: Any) -> object:
    if schema is None:
        return None
    return [Code(text) for text in schema.describe().split(", ") if text]


def _micros(micros: int | None) -> str:
    if micros is None:
        return "unknown"
    for size, word in ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "min"),
                       (1_000_000, "s"), (1000, "ms")):  # fmt: skip
        if micros % size == 0 and micros >= size:
            return f"{micros // size} {word}"
    return f"{micros} µs"
