"""The panel beside the landscape: an overview, or what is known of the selected node."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from headgate.landscape.landscape import (
    Landscape,
    LandscapeGroup,
    LandscapeNode,
    LandscapePipeline,
    LandscapeTopic,
    PartitionLag,
)
from headgate.landscape.paths import Reach, downstream, ids_of, path_between, upstream
from headgate.text.numbers import ago, count, duration, exact, plural, up_to
from headgate.ui.shared import markup
from headgate.ui.shared.address_state import select, selected
from headgate.ui.shared.choose_one import choose, switch
from headgate.ui.shared.cluster_poll import ClusterSnapshot
from headgate.ui.shared.details_panel import detail_rows, neighbours, plain
from headgate.ui.shared.keys import LandscapeKey
from headgate.ui.shared.markup import Code, Rows
from headgate.ui.shared.schema_panel import topic_schema
from headgate.usecases.context import Context
from headgate.views.charts.figure import lag_figure
from headgate.views.reports.lag_words import pipeline_lag
from headgate.views.scene.highlight import Trace
from headgate.views.scene.landscape import PIPELINE
from headgate.views.scene.scene import LOOK_WORDS, Look, Sketch

LISTED = 40
LISTED_NAMES = 12
SHOWN_PARTITIONS = 60
"""Maximum number of bars that can be distinguished in the panel."""


def landscape_panel(
    context: Context,
    landscape: Landscape,
    sketch: Sketch,
    seen: ClusterSnapshot,
    *,
    trace: Trace = Trace.NONE,
    closed: bool = False,
) -> None:
    """Show what the selection is about; an overview where nothing is selected.

    `closed` says that there are too many internals to draw them all.
    """
    node_id = selected()
    shown = sketch.node(node_id)
    if node_id is None or shown is None:
        _overview(landscape, sketch, seen, closed)
        return
    st.html(markup.heading(_kind(landscape, node_id, shown.look), shown.label))
    node = landscape.node(node_id)
    pipeline = _pipeline_of(landscape, node_id, node)
    if topic := _topic_of(landscape, node_id):
        _topic(topic)
        topic_schema(context, topic.name)
    elif (group := _group_of(landscape, node_id)) and pipeline is None:
        _group(group)
    elif pipeline is not None:
        _node_of_pipeline(pipeline, node, landscape.at)
    _trace(landscape, sketch, node_id, trace)
    neighbours(sketch, node_id)


def _kind(landscape: Landscape, node_id: str, look: Look) -> str:
    node = landscape.node(node_id)
    if node_id.startswith(PIPELINE) or (node is not None and node.kind == "pipeline"):
        return "Pipeline"
    return LOOK_WORDS[look]


def _overview(landscape: Landscape, sketch: Sketch, seen: ClusterSnapshot, closed: bool) -> None:
    ids = {n.id for n in sketch.nodes}
    drawn = [(p, first) for p in landscape.pipelines if (first := _drawn_as(ids, p))]
    st.html(markup.heading("Select a node to show its details", "Pipelines"))
    if seen.problem:
        st.html(markup.say(seen.problem, "unknown"))
    elif seen.cluster is None:
        st.html(markup.quiet("Kafka has not responded yet, so lags and topic sizes are missing."))
    if closed:
        st.html(
            markup.quiet(
                "The graph has too many nodes, so the internals of pipelines are hidden. Narrow "
                "the selector, or show the internals of one pipeline."
            )
        )
    with st.container(key="neighbours", gap=None):
        for pipeline, first in drawn[:LISTED]:
            _overview_row(pipeline, first)
    if len(drawn) > LISTED:
        st.html(
            markup.quiet(
                f"And {plural(len(drawn) - LISTED, 'more pipeline')}. To list them, narrow the "
                "selector."
            )
        )
    if landscape.at:
        st.html(markup.quiet(f"Kafka cluster state read {ago(landscape.at)}."))
    if notes := [w for w in landscape.warnings if w != seen.problem]:
        more = [f"And {plural(len(notes) - LISTED, 'more note')}."] if len(notes) > LISTED else []
        st.html(markup.section("Notes") + markup.bullets([*notes[:LISTED], *more]))


def _drawn_as(drawn: Collection[str], pipeline: LandscapePipeline) -> str | None:
    """The node that stands for a pipeline in the picture, or its first one there."""
    candidates = (PIPELINE + pipeline.name, *pipeline.nodes, f"{pipeline.name}/pipeline")
    return next((c for c in candidates if c in drawn), None)


def _overview_row(pipeline: LandscapePipeline, first: str) -> None:
    st.button(
        plain(pipeline.name),
        key=f"overview-{pipeline.name}",
        type="tertiary",
        icon=":material/account_tree:",
        on_click=select,
        args=(first,),
        width="stretch",
    )
    lag = f"lag {count(pipeline.lag)}" if pipeline.lag is not None else pipeline.note
    st.html(
        markup.beneath(
            " · ".join(filter(None, (pipeline.engine, pipeline.owner, pipeline.status, lag)))
        )
    )


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
        ("In Kafka", {True: None, False: "topic not found", None: "not read"}[topic.exists]),
        ("Partitions", topic.partitions),
        (
            "Records",
            up_to(topic.records, exact(topic.records)) if topic.records is not None else None,
        ),
        ("Retention", duration(topic.retention_ms) if topic.retention_ms is not None else None),
        ("Cleanup policy", topic.cleanup_policy),
        ("Owned by", topic.owner),
        ("Written by", topic.writers),
        ("Read by", readers),
    ]
    st.html(markup.facts(rows))
    if topic.is_unused:
        st.html(markup.quiet("No known pipeline or group writes or reads this topic."))


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


def _node_of_pipeline(
    pipeline: LandscapePipeline, node: LandscapeNode | None, read_at: str | None
) -> None:
    if node is not None and node.details:
        st.html(markup.facts(detail_rows(node.details)))
        st.html(markup.section("Pipeline"))
    rows: Rows = [
        ("Name", pipeline.name if node is not None else None),
        ("Owner", pipeline.owner),
        ("Description", pipeline.description),
        ("Engine", pipeline.engine.value),
        ("Status", _status(pipeline)),
        ("Group", Code(pipeline.group) if pipeline.group else None),
        ("State stores", pipeline.stores or None),
        ("Lag", pipeline_lag(pipeline, read_at)),
        ("Captured", ago(pipeline.captured_at) if pipeline.captured_at else None),
        ("Note", pipeline.note),
    ]
    st.html(markup.facts(rows))
    if node is None:
        _open_internals(pipeline)
    for page, label, icon in (
        ("topology", "Open topology", ":material/hub:"),
        ("compare", "Compare versions", ":material/difference:"),
        ("reprocess", "Reprocess pipeline", ":material/replay:"),
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


def _status(pipeline: LandscapePipeline) -> list[str] | None:
    words = (pipeline.status, pipeline.status_why)
    return [w for w in words if w] or None


def _open_internals(pipeline: LandscapePipeline) -> None:
    """Show one pipeline's operators in the picture, or close them again."""
    opened = st.query_params.get_all(LandscapeKey.OPENED)
    is_open = pipeline.name in opened
    st.button(
        "Hide internals" if is_open else "Show internals",
        key="landscape_internals",
        icon=":material/unfold_more:",
        type="tertiary",
        on_click=_toggle_internals,
        args=(pipeline.name,),
    )


def _toggle_internals(name: str) -> None:
    opened = set(st.query_params.get_all(LandscapeKey.OPENED)) ^ {name}
    if opened:
        st.query_params[LandscapeKey.OPENED] = sorted(opened)
    else:
        st.query_params.pop(LandscapeKey.OPENED, None)


TRACES = {
    Trace.NONE: "Off",
    Trace.DOWNSTREAM: "Down",
    Trace.UPSTREAM: "Up",
    Trace.PATH: "Path",
}


def _trace(landscape: Landscape, sketch: Sketch, node_id: str, trace: Trace) -> None:
    """Ask what to follow from here, and show where it leads and whom to notify."""
    starts = ids_of(landscape, node_id)
    if not starts:
        return
    st.html(markup.section("Follow the data"))
    switch(
        "Follow", list(Trace), key=LandscapeKey.TRACE, usual=Trace.NONE, shown=lambda t: TRACES[t]
    )
    if trace is Trace.PATH:
        _way(landscape, sketch, node_id)
        return
    reach = (upstream if trace is Trace.UPSTREAM else downstream)(landscape, starts)
    _reach(
        reach,
        "Upstream sources" if trace is Trace.UPSTREAM else "Downstream impact",
        tell=trace is not Trace.UPSTREAM,
    )


def _reach(reach: Reach, title: str, *, tell: bool) -> None:
    rows: Rows = [
        ("Pipelines", _some(reach.pipelines)),
        ("Topics", _some(reach.topics)),
        ("State stores", len(reach.stores) or None),
        ("Groups", _some(reach.groups)),
    ]
    facts = markup.facts(rows)
    if not facts:
        st.html(markup.quiet(f"No {title.lower()}."))
        return
    st.html(markup.section(title) + facts)
    if tell:
        owners: Rows = [(owner, _some(names)) for owner, names in reach.owners]
        if listed := markup.facts(owners):
            st.html(markup.section("Owners to notify") + listed)
        if reach.unowned:
            text = f"No owner set: {', '.join(_some(reach.unowned))}. Set `owner` in headgate.toml."
            st.html(markup.say(text, "unknown"))


def _some(names: tuple[str, ...]) -> list[str]:
    rest = len(names) - LISTED_NAMES
    return [*names[:LISTED_NAMES], *([f"and {rest} more"] if rest > 0 else [])]


def _way(landscape: Landscape, sketch: Sketch, node_id: str) -> None:
    """Let the user choose the other end of a path and list its stops; each is a button."""
    ends = [f"{PIPELINE}{p.name}" for p in landscape.pipelines]
    ends += [n.id for n in landscape.nodes if n.kind in ("topic", "group")]
    end = choose("Destination", ["", *ends], key=LandscapeKey.TO, usual="", shown=_end_word)
    if not end:
        st.html(markup.quiet("Choose a destination."))
        return
    path = path_between(landscape, ids_of(landscape, node_id), end)
    if not path.exists:
        there = _end_word(end)
        said = (
            f"No data flows from this node to {there}. Data flows from {there} to this node:"
            if path.back
            else f"No data flows from this node to {there}, or from {there} to this node."
        )
        st.html(markup.say(said, "unknown"))
    elif path.has_more:
        st.html(markup.quiet("This is the shortest path. Other paths exist."))
    else:
        st.html(markup.quiet("This is the only path."))
    ids = {n.id for n in sketch.nodes}
    with st.container(key="way", gap=None):
        for number, stop in enumerate(path.stops or path.back_stops):
            pipeline = stop.startswith(PIPELINE)
            known = landscape.pipeline(stop.removeprefix(PIPELINE)) if pipeline else None
            target = _drawn_as(ids, known) if known else stop
            st.button(
                plain(_end_word(stop)),
                key=f"way-{number}",
                type="tertiary",
                on_click=select,
                icon=":material/account_tree:" if pipeline else ":material/notes:",
                args=(target,),
                disabled=target == node_id,
                width="stretch",
            )


def _end_word(end: str) -> str:
    """A name with its kind behind it: a topic and a pipeline may share one."""
    if not end:
        return "Choose …"
    kind, _, name = end.partition(":")
    return f"{name} ({kind})" if kind in ("topic", "pipeline", "group") else end
