"""Whether a pipeline runs, with the evidence in words; refreshed while the page is open."""

from __future__ import annotations

import streamlit as st

from headgate.errors import HeadgateError
from headgate.model.activity import Activity, ActivityState
from headgate.text.numbers import ago, short_time
from headgate.ui.shared import cached_reads, markup
from headgate.usecases.activity.read_activity import read_activity
from headgate.usecases.context import Context

REFRESH = 15
"""Seconds between two updates; the worker checks every ten seconds."""
_WORDS = {
    ActivityState.RUNNING: ("Running", "added"),
    ActivityState.STOPPED: ("Stopped", "removed"),
    ActivityState.FAILED: ("Failed", "refuses"),
    ActivityState.UNKNOWN: ("Status unknown", "unknown"),
}


@st.fragment(run_every=REFRESH)
def activity_facts(context: Context, pipeline: str) -> None:
    """Show state, reason and evidence of a registered pipeline."""
    try:
        found = read_activity(context, pipeline).get(pipeline)
    except HeadgateError as error:
        st.html(markup.section("Now") + markup.say(str(error), "unknown"))
        return
    if found is not None:
        st.html(markup.section("Now") + _said(found, _lag(context, pipeline)))


def is_running(context: Context, pipeline: str) -> bool:
    """Return whether it is verified that the pipeline runs now."""
    try:
        found = read_activity(context, pipeline).get(pipeline)
    except HeadgateError:
        return False
    return found is not None and found.state is ActivityState.RUNNING


def _lag(context: Context, pipeline: str) -> str | None:
    """Return the lag with its age; None while Kafka wasn't read."""
    try:
        return cached_reads.lag(context, pipeline)
    except HeadgateError:
        # Why nothing can be read is said where the pipeline's state is.
        return None


def _said(found: Activity, lag: str | None) -> str:
    word, tone = _WORDS[found.state]
    facts = markup.facts(
        [
            ("Since", short_time(found.since) if found.since and found.feed else None),
            ("Newest batch", found.batch),
            ("Lag", lag),
            ("Last activity", ago(found.seen_at) if found.seen_at else None),
            ("Checked", ago(found.looked_at) if found.looked_at else None),
        ]
    )
    sentence = markup.say(f"{word}: {found.reason}", tone)
    return sentence + facts + (markup.bullets(found.proof) if found.proof else "")
