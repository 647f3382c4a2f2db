"""The batches that a query can rewind to, as a table; a click on a row chooses the batch."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from headgate.errors import HeadgateError
from headgate.model.registered_pipelines import Pipeline
from headgate.reprocess.scenario import Scenario
from headgate.text.numbers import exact, short_time
from headgate.ui.reprocess.scenario_form import choice_key, option_key
from headgate.ui.shared import markup
from headgate.ui.shared.keys import ReprocessKey
from headgate.usecases.context import Context
from headgate.usecases.reprocess.list_batches import BatchRow, list_batches

BATCH = "batch"
_FRESH = 15.0
_ROWS, _HEIGHT = 6, 260


def choose_batch(context: Context, pipeline: Pipeline, scenario: Scenario) -> None:
    """Show what was in each batch if the scenario needs one; nothing otherwise."""
    asked = scenario.option(BATCH)
    if asked is None or pipeline.engine not in asked.engines or not pipeline.checkpoint:
        return
    try:
        rows = _batches((context.registry.path, pipeline.name), context)
    except HeadgateError:
        # The plan says the same in its place.
        return
    if rows:
        with st.expander(f"Contents of batches {rows[-1].number} to {rows[0].number}"):
            _table(rows, scenario)


@st.cache_data(show_spinner="Reading the logs of the checkpoint", ttl=_FRESH, max_entries=8)
def _batches(key: tuple[str | None, str], _context: Context) -> tuple[BatchRow, ...]:
    return list_batches(_context, key[1])


def _table(rows: Sequence[BatchRow], scenario: Scenario) -> None:
    st.html(markup.quiet("Click the last batch to keep. Times are in UTC."))
    key = f"{ReprocessKey.BATCHES}_{rows[0].number}"
    st.dataframe(
        frame(rows),
        key=key,
        hide_index=True,
        height="content" if len(rows) <= _ROWS else _HEIGHT,
        on_select=lambda: _chosen(key, rows, scenario),
        selection_mode="single-row",
    )


def frame(rows: Sequence[BatchRow]) -> pd.DataFrame:
    """Return the rows, a column for each topic; what the logs don't have stays empty."""
    topics = sorted({topic for row in rows for topic in row.records or {}})
    return pd.DataFrame(
        {
            "Batch": [row.number for row in rows],
            "Planned": [short_time(row.planned_at) for row in rows],
            "Completed": [short_time(row.committed_at) for row in rows],
            "Watermark": [short_time(row.watermark) if row.watermark else "" for row in rows],
            **{f"Records from {topic}": [_of(row, topic) for row in rows] for topic in topics},
        }
    )


def _of(row: BatchRow, topic: str) -> str:
    return exact(row.records.get(topic, 0)) if row.records is not None else ""


def _chosen(key: str, rows: Sequence[BatchRow], scenario: Scenario) -> None:
    picked = st.session_state[key].selection.rows
    if picked:
        st.session_state[choice_key(scenario.name, BATCH)] = BATCH
        st.session_state[option_key(scenario.name, BATCH)] = rows[picked[0]].number
