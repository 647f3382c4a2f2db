"""The restore points of a pipeline, as a table; a click on a row chooses the point."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from headgate.errors import HeadgateError
from headgate.model.registered_pipelines import Pipeline
from headgate.reprocess.scenario import Scenario
from headgate.text.numbers import plural, short_time, size
from headgate.ui.reprocess.scenario_form import choice_key, option_key
from headgate.ui.shared import markup
from headgate.ui.shared.keys import ReprocessKey
from headgate.usecases.context import Context
from headgate.usecases.restore_points.list_points import PointList, PointRow, list_points

POINT = "restore-point"
_FRESH = 15.0
_ROWS, _HEIGHT = 6, 260


def choose_point(context: Context, pipeline: Pipeline, scenario: Scenario) -> None:
    """Show the points where the scenario can start at one; nothing where there are none."""
    asked = scenario.option(POINT)
    if asked is None or pipeline.engine not in asked.engines:
        return
    try:
        found = _points((context.registry.path, pipeline.name), context)
    except HeadgateError:
        # The plan says the same in its place.
        return
    if found.error:
        st.warning(f"The last attempt to make a restore point failed: {found.error}")
    for id, why in found.unreadable.items():
        st.warning(f"Restore point {id} exists, but can't be read: {why}")
    if found.points:
        with st.expander(f"{plural(len(found.points), 'restore point')}, {disk_use(found)}"):
            _table(found.points, scenario)


@st.cache_data(show_spinner="Reading the restore points", ttl=_FRESH, max_entries=8)
def _points(key: tuple[str | None, str], _context: Context) -> PointList:
    return list_points(_context, key[1])


def disk_use(found: PointList) -> str:
    """Return what the points hold on disk, and their limit."""
    if all(row.location is None for row in found.points):
        return "only offsets (they use no disk space)"
    return (
        f"{size(found.held_bytes)} on disk, up to {size(found.bytes)} after Spark deletes their "
        f"files from the checkpoint (max_size: {size(found.max_bytes)})"
    )


def _table(rows: Sequence[PointRow], scenario: Scenario) -> None:
    st.html(markup.quiet("Click a restore point to choose it. Times are in UTC."))
    key = f"{ReprocessKey.POINTS}_{scenario.name}_{rows[0].id}"
    st.dataframe(
        frame(rows),
        key=key,
        hide_index=True,
        height="content" if len(rows) <= _ROWS else _HEIGHT,
        on_select=lambda: _chosen(key, rows, scenario),
        selection_mode="single-row",
    )


def frame(rows: Sequence[PointRow]) -> pd.DataFrame:
    """Return the rows as people read them."""
    return pd.DataFrame(
        {
            "Time": [short_time(row.time) for row in rows],
            "Batch": ["" if row.batch is None else str(row.batch) for row in rows],
            "Size": [size(row.bytes) if row.location else "offsets only" for row in rows],
            "Verified": [_verified(row) for row in rows],
            "Records still in Kafka": [_in_kafka(row) for row in rows],
            "Restore point": [row.id for row in rows],
        }
    )


def _verified(row: PointRow) -> str:
    if row.problem:
        return f"Damaged: {row.problem}"
    if row.verified_at is None:
        return "Not verified" if row.location else ""
    only = "" if row.rows is not None else " (only files, not state)"
    return f"{short_time(row.verified_at)}{only}"


def _in_kafka(row: PointRow) -> str:
    if not row.offsets:
        return "No Kafka offsets"
    said = "Unknown" if row.in_kafka is None else "Yes" if row.in_kafka else "No"
    return f"{said}: {row.kafka}" if row.kafka else said


def _chosen(key: str, rows: Sequence[PointRow], scenario: Scenario) -> None:
    picked = st.session_state[key].selection.rows
    asked = scenario.option(POINT)
    if picked and asked is not None and asked.one_of is not None:
        st.session_state[choice_key(scenario.name, asked.one_of)] = POINT
        st.session_state[option_key(scenario.name, POINT)] = rows[picked[0]].id
