"""The graph of one version, and the panel beside it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from headgate.model.version import Version
from headgate.store.rows import VersionRow
from headgate.ui.evidence.capture_form import store_button
from headgate.ui.shared import markup
from headgate.ui.shared.address_state import selected
from headgate.ui.shared.canvas import Beside, canvas_and_panel, closed_boxes
from headgate.ui.shared.details_panel import neighbours, node_heading
from headgate.ui.shared.given_evidence import Given
from headgate.ui.shared.graph.component import room
from headgate.ui.shared.keys import TopologyKey
from headgate.ui.shared.node_facts import show_node
from headgate.ui.shared.schema_panel import topic_schemas_of
from headgate.ui.topology.activity import activity_facts
from headgate.ui.topology.progress_panel import newest_report, newest_values
from headgate.ui.topology.readiness_panel import (
    back_to_all,
    cards_about,
    picked,
    readiness_card,
    readiness_list,
    readiness_of,
)
from headgate.ui.topology.version_facts import version_facts
from headgate.usecases.context import Context
from headgate.views.scene.compose import is_readable, placed
from headgate.views.scene.fold import folded, null_checks
from headgate.views.scene.folded import boxed
from headgate.views.scene.scene import Lens, Sketch
from headgate.views.scene.topology import sketch_topology


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
    whole = boxed(sketch_topology(version, name=chosen.name))
    closed = closed_boxes(whole, query)
    checks = null_checks(version.topology)
    lens = Lens(collapsed=closed.boxes, focus=near, view=room(TopologyKey.GRAPH))
    sketch, scene = whole, placed(whole, lens)
    fold = bool(checks) and is_folded(usual=not is_readable(scene, lens.view))
    if fold:
        sketch = folded(whole, checks)
        scene = placed(sketch, lens)
    values = newest_values(context, chosen.pipeline, chosen.evidence, version)
    beside = Beside(
        lambda: _panel(context, chosen, whole, _Checks(len(checks), fold), values.rows),
        query=query,
        notes=values.notes,
    )
    canvas_and_panel(
        scene, sketch, beside,
        key=TopologyKey.GRAPH, picture=f"{chosen.id} {near} {fold}", closed=closed,
    )  # fmt: skip


def _panel(
    context: Context,
    chosen: Chosen,
    sketch: Sketch,
    checks: _Checks,
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
        if checks.number:
            _fold_toggle(checks)
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


@dataclass(frozen=True, slots=True)
class _Checks:
    """How many filters only drop nulls, and whether the picture leaves them out."""

    number: int
    are_hidden: bool


def _fold_toggle(checks: _Checks) -> None:
    st.toggle(
        f"Hide isnotnull filters ({checks.number})",
        value=checks.are_hidden,
        key="fold_toggle",
        help=(
            "Before joins and aggregations, Spark's optimizer adds filters that only drop nulls. "
            "By default, Headgate hides these filters if the graph doesn't fit the window."
        ),
        on_change=_fold,
    )


def is_folded(*, usual: bool) -> bool:
    """Return whether filters that only drop nulls are hidden: as the address says, or usually."""
    return {"true": True, "false": False}.get(st.query_params.get(TopologyKey.FOLD, ""), usual)


def _fold() -> None:
    st.query_params[TopologyKey.FOLD] = str(st.session_state["fold_toggle"]).lower()
