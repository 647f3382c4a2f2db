"""The graph of one version, and the panel beside it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from headgate.model.version import Version
from headgate.store.versions import VersionRow
from headgate.ui import markup
from headgate.ui.activity import activity_facts
from headgate.ui.canvas import canvas_and_panel
from headgate.ui.capture import store_button
from headgate.ui.details import neighbours, node_heading
from headgate.ui.given import Given
from headgate.ui.graph.component import room
from headgate.ui.keys import TopologyKey
from headgate.ui.node_facts import show_node
from headgate.ui.progress_panel import newest_report, newest_values
from headgate.ui.readiness_panel import (
    back_to_all,
    cards_about,
    picked,
    readiness_card,
    readiness_list,
    readiness_of,
)
from headgate.ui.schema_panel import topic_schemas_of
from headgate.ui.state import collapsed, selected
from headgate.ui.version_facts import version_facts
from headgate.usecases.context import Context
from headgate.views.compose import compose
from headgate.views.scene import Lens, Sketch
from headgate.views.scene_fold import folded, null_checks
from headgate.views.scene_topology import sketch_topology


@dataclass(frozen=True, slots=True)
class Chosen:
    """The version that the page shows; `row` is None where it is not stored.

    `name` is what the graph calls it, `pipeline` the registered one that is chosen, None where
    nothing is registered. `rows` are the pipeline's stored versions, newest first.
    """

    version: Version
    name: str
    pipeline: str | None
    rows: tuple[VersionRow, ...]
    row: VersionRow | None
    evidence: Given

    @property
    def id(self) -> str:
        """Return what the picture is of: pan and zoom last as long as it does."""
        return f"{self.name}@{self.row.number if self.row else self.evidence}"


def graph_view(context: Context, chosen: Chosen, query: str, near: str | None) -> None:
    """Draw the version; the panel shows the selected node, else the version."""
    version = chosen.version
    whole = sketch_topology(version, name=chosen.name)
    checks = null_checks(version.topology)
    fold = bool(checks) and is_folded()
    sketch = folded(whole, checks) if fold else whole
    scene = compose(sketch, Lens(collapsed=collapsed(), focus=near, view=room(TopologyKey.GRAPH)))
    values = newest_values(context, chosen.pipeline, chosen.evidence, version)
    panel = canvas_and_panel(
        scene,
        sketch,
        key=TopologyKey.GRAPH,
        picture=f"{chosen.id} {near} {fold}",
        query=query,
        notes=values.notes,
    )
    with panel:
        _panel(context, chosen, whole, checks, values.rows)


def _panel(
    context: Context,
    chosen: Chosen,
    sketch: Sketch,
    checks: frozenset[str],
    values: dict[str, list[tuple[str, object]]],
) -> None:
    version, node_id = chosen.version, selected()
    newest = newest_report(context, chosen.pipeline, chosen.evidence, version)
    report = readiness_of(context, chosen, newest)
    if node_id is None or sketch.node(node_id) is None:
        if (finding := picked(report)) is not None:
            back_to_all()
            readiness_card(finding)
            return
        # What was put in may be of any query: how the pipeline is says nothing of it.
        if chosen.pipeline is not None and chosen.row is not None:
            activity_facts(context, chosen.pipeline)
        readiness_list(report, sketch)
        version_facts(version, chosen.row, chosen.evidence.words)
        if chosen.row is None and chosen.pipeline is not None:
            store_button(context, chosen.evidence, chosen.pipeline)
        if checks:
            _fold_toggle(len(checks))
        return
    if picked(report) is not None:
        back_to_all()
    node_heading(sketch, node_id)
    cards_about(report, node_id)
    if (node := version.topology.node(node_id)) is not None:
        if node_id in values:
            st.html(markup.section("Newest batch") + markup.facts(values[node_id]))
        show_node(version, node)
        topic_schemas_of(context, version, node)
    neighbours(sketch, node_id)


def _fold_toggle(number: int) -> None:
    word = "1 filter that only drops" if number == 1 else f"{number} filters that only drop"
    st.toggle(
        f"Hide {word} nulls",
        value=is_folded(),
        key="fold_toggle",
        help="The optimiser adds them before joins and aggregations, whether or not the query"
        " asks for it.",
        on_change=_fold,
    )


def is_folded() -> bool:
    """Return whether filters that only drop nulls are hidden; the address says so."""
    return TopologyKey.FOLD in st.query_params


def _fold() -> None:
    if st.session_state["fold_toggle"]:
        st.query_params[TopologyKey.FOLD] = "true"
    else:
        st.query_params.pop(TopologyKey.FOLD, None)
