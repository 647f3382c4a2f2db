"""The panel beside a graph: what is known of the selected node, and where to go from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from headgate.ui.shared import markup
from headgate.ui.shared.address_state import select
from headgate.ui.shared.markup import Code
from headgate.views.scene.scene import LOOK_WORDS, Look, Sketch

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
    Look.UNREAD: ":material/question_mark:",
}
WORDS = {
    "format": "Format", "name": "Name", "topics": "Topics", "pattern": "Pattern", "path": "Path",
    "keys": "Keys", "partitions": "Partitions", "partitioning": "Partitioning",
    "store": "Store", "operator_id": "Operator id", "key_schema": "Key schema",
    "value_schema": "Value schema", "provider": "Provider", "watermark_column": "Watermark column",
    "watermark_delay": "Watermark delay", "window": "Window", "slide": "Slide", "target": "Target",
    "output_mode": "Output mode", "condition": "Condition", "functions": "Functions",
    "join_type": "Join type", "expressions": "Expressions", "columns": "Columns",
    "start_offsets": "Start offset", "offsets": "End offset", "options": "Options",
    "described_as": "Described as", "generated": "Generated name",
    "told_by": "Operator recognized by",
    "stores": "Stores", "extractor": (
        "Topic extractor"
    ), "topic": "Repartition", "purpose": "Purpose",
    "internal_topic": "Internal topic", "restored_from": "Restored from",
    "topic_partitions": "Partitions", "topic_configs": "Topic settings", "used_by": "Used by",
    "written_by": "Written by", "read_by": "Read by", "global": "Global",
    "writes_from": "From sub-topology", "reads_into": "To sub-topology", "read": "Read",
}  # fmt: skip
"""Labels of a node's details by name; names without a label are shown unchanged."""
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


def detail_rows(details: dict[str, Any]) -> list[tuple[str, object]]:
    """Return the contract's details as rows, the well known ones first."""
    known = [(word, details[name]) for name, word in WORDS.items() if name in details]
    others = [
        (name.replace("_", " ").capitalize(), value)
        for name, value in details.items()
        if name not in WORDS
    ]
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
