"""The panel beside the landscape: an overview, or what is known of the selected node."""

from __future__ import annotations

import streamlit as st

from headgate.landscape.landscape import (
    Landscape,
    LandscapeGroup,
    LandscapeNode,
    LandscapePipeline,
    LandscapeTopic,
    PartitionLag,
)
from headgate.landscape.paths import downstream
from headgate.ui import markup
from headgate.ui.details import detail_rows, neighbours, plain
from headgate.ui.markup import Code, Rows
from headgate.ui.state import select, selected
from headgate.ui.watch import Seen
from headgate.usecases.context import Context
from headgate.views.figure import lag_figure
from headgate.views.numbers import ago, count, duration, exact
from headgate.views.scene import LOOK_WORDS, Look, Sketch
from headgate.views.scene_landscape import PIPELINE

SHOWN_PARTITIONS = 60
"""More bars than this cannot be told apart in the panel."""


def landscape_panel(context: Context, landscape: Landscape, sketch: Sketch, seen: Seen) -> None:
    """Show what the selection is about; an overview where nothing is selected."""
    node_id = selected()
    shown = sketch.node(node_id)
    if node_id is None or shown is None:
        _overview(landscape, seen)
        return
    st.html(markup.heading(_kind(landscape, node_id, shown.look), shown.label))
    node = landscape.node(node_id)
    pipeline = _pipeline_of(landscape, node_id, node)
    if topic := _topic_of(landscape, node_id):
        _topic(topic)
    elif (group := _group_of(landscape, node_id)) and pipeline is None:
        _group(group)
    elif pipeline is not None:
        _node_of_pipeline(pipeline, node)
    _downstream(landscape, node_id)
    neighbours(sketch, node_id)


def _kind(landscape: Landscape, node_id: str, look: Look) -> str:
    node = landscape.node(node_id)
    if node_id.startswith(PIPELINE) or (node is not None and node.kind == "pipeline"):
        return "Pipeline"
    return LOOK_WORDS[look]


def _overview(landscape: Landscape, seen: Seen) -> None:
    st.html(markup.heading("Select a node for its details", "Pipelines"))
    if seen.problem:
        st.html(markup.say(seen.problem, "unknown"))
    elif seen.cluster is None:
        st.html(markup.quiet("Kafka has not answered yet."))
    with st.container(key="neighbours", gap=None):
        for pipeline in landscape.pipelines:
            _overview_row(pipeline)
    if landscape.at:
        st.html(markup.quiet(f"Kafka was read {ago(landscape.at)}."))
    if remarks := [w for w in landscape.warnings if w != seen.problem]:
        st.html(markup.section("Remarks") + markup.bullets(remarks))


def _overview_row(pipeline: LandscapePipeline) -> None:
    first = next(iter(pipeline.nodes), f"{pipeline.name}/pipeline")
    st.button(
        plain(pipeline.name), key=f"overview-{pipeline.name}", type="tertiary",
        icon=":material/account_tree:", on_click=select, args=(first,), width="stretch",
    )  # fmt: skip
    lag = f"lag {count(pipeline.lag)}" if pipeline.lag is not None else pipeline.note
    st.html(markup.beneath(" · ".join(filter(None, (pipeline.engine, pipeline.owner, lag)))))


def _pipeline_of(
    landscape: Landscape, node_id: str, node: LandscapeNode | None
) -> LandscapePipeline | None:
    if node_id.startswith(PIPELINE):
        return landscape.pipeline(node_id.removeprefix(PIPELINE))
    return landscape.pipeline(node.pipeline) if node and node.pipeline else None


def _topic_of(landscape: Landscape, node_id: str) -> LandscapeTopic | None:
    return next((t for t in landscape.topics if t.id == node_id), None)


def _group_of(landscape: Landscape, node_id: str) -> LandscapeGroup | None:
    return next((g for g in landscape.groups if g.node == node_id), None)


def _topic(topic: LandscapeTopic) -> None:
    lags = dict(topic.lags)
    readers = [
        f"{reader.removeprefix('group:')}, lag {count(lags.get(reader))}"
        for reader in topic.readers
    ]
    rows: Rows = [
        ("In Kafka", {True: None, False: "no such topic", None: "not read"}[topic.exists]),
        ("Partitions", topic.partitions),
        ("Records", exact(topic.records) if topic.records is not None else None),
        ("Retention", duration(topic.retention_ms) if topic.retention_ms is not None else None),
        ("Clean-up", topic.cleanup_policy),
        ("Owned by", topic.owner),
        ("Written by", topic.writers),
        ("Read by", readers),
    ]
    st.html(markup.facts(rows))
    if topic.is_unused:
        st.html(markup.quiet("Nobody is known to write or read it."))


def _group(group: LandscapeGroup) -> None:
    st.html(
        markup.facts(
            [
                ("Type", group.type.value),
                ("State", group.state),
                ("Members", "unknown" if group.members is None else group.members),
                ("Lag", exact(group.lag)),
            ]
        )
    )
    _lag(group.positions)


def _node_of_pipeline(pipeline: LandscapePipeline, node: LandscapeNode | None) -> None:
    if node is not None and node.details:
        st.html(markup.facts(detail_rows(node.details)))
        st.html(markup.section("Pipeline"))
    rows: Rows = [
        ("Name", pipeline.name if node is not None else None),
        ("Owner", pipeline.owner),
        ("What it does", pipeline.description),
        ("Engine", pipeline.engine.value),
        ("Group", Code(pipeline.group) if pipeline.group else None),
        ("State stores", pipeline.stores or None),
        ("Lag", exact(pipeline.lag) if pipeline.lag is not None else None),
        ("Captured", ago(pipeline.captured_at) if pipeline.captured_at else None),
        ("Remark", pipeline.note),
    ]
    st.html(markup.facts(rows))
    for page, label, icon in (
        ("topology", "Open its topology", ":material/hub:"),
        ("reprocess", "Reprocess it", ":material/replay:"),
    ):
        st.page_link(
            f"pages/{page}.py", label=label, icon=icon, query_params={"pipeline": pipeline.name}
        )
    if node is None or node.kind in ("source", "pipeline"):
        _lag(pipeline.positions)


def _lag(positions: tuple[PartitionLag, ...]) -> None:
    known = [p for p in positions if p.lag is not None]
    if known and len(known) <= SHOWN_PARTITIONS:
        st.html(markup.section("Lag by partition"))
        st.plotly_chart(
            lag_figure(known), width="stretch", config={"displayModeBar": False}, key="lag"
        )


def _downstream(landscape: Landscape, node_id: str) -> None:
    """Say who is affected: pipelines and groups that data flows to from here."""
    reach = downstream(landscape, node_id)
    if names := (*reach.pipelines, *reach.groups):
        st.html(markup.section("Feeds, directly or not") + markup.bullets(names))
