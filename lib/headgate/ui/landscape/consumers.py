"""Consumers and their lag: groups and Spark queries side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from headgate.landscape.consumers import Consumer, consumers
from headgate.landscape.landscape import Landscape, PositionState
from headgate.model.cluster import GroupType
from headgate.model.version import Engine
from headgate.text.numbers import ago, count, exact, plural
from headgate.ui.shared import markup
from headgate.ui.shared.export_menu import theme
from headgate.ui.shared.keys import LandscapeKey
from headgate.views.charts.consumer_lag import lags_figure, partitions_figure
from headgate.views.reports.landscape_terminal import REMARKS, note

KINDS: Mapping[str, str] = {
    Engine.SPARK: f"{Engine.SPARK.words} query",
    Engine.KAFKA_STREAMS: Engine.KAFKA_STREAMS.words,
    Engine.CONSUMER_GROUP: "Consumer group",
    GroupType.CLASSIC: "Group (classic)",
    GroupType.CONSUMER: "Group (consumer)",
    GroupType.SHARE: "Share group",
    GroupType.STREAMS: "Streams group",
    GroupType.UNKNOWN: "Group",
}
"""What a consumer's `kind` is called."""
FEW = 12
"""Maximum number of rows that fit into any window. Longer tables scroll."""
SOURCES = {"group": "committed offsets", "checkpoint": "checkpoint", "progress": "progress"}
STATES = {
    PositionState.OK: "in range",
    PositionState.NO_OFFSET: "no stored offset",
    PositionState.DATA_LOST: "records lost",
    PositionState.BEYOND_END: "after the latest offset",
    PositionState.NOT_LISTED: "partition not in Kafka",
    PositionState.UNKNOWN: "unknown",
}


def landscape_consumers(landscape: Landscape) -> None:
    """Show the table of consumers, and the partitions of the one that is selected."""
    found = consumers(landscape)
    left, right = st.columns((3.2, 2.6), gap="small")
    with left.container(border=True, key="consumers"):
        chosen = _table(found)
    with right.container(border=True, key="details", gap="xsmall"):
        if chosen is None:
            _overview(landscape, found)
        else:
            _detail(chosen)


def _table(found: Sequence[Consumer]) -> Consumer | None:
    """Show one row per consumer and topic; the selected one is in the address."""
    names = [f"{c.name} {c.topic}" for c in found]
    wanted = st.query_params.get(LandscapeKey.READER, "")
    if not found:
        st.html(
            markup.quiet(
                "No known consumers. Register pipelines in headgate.toml, or set bootstrap_servers "
                "under [kafka]."
            )
        )
        return None
    st.dataframe(
        pd.DataFrame(
            {
                "Consumer": [c.name for c in found],
                "Kind": [KINDS.get(c.kind, c.kind) for c in found],
                "Owner": [c.owner or ("undeclared" if not c.declared else "") for c in found],
                "Topic": [c.topic for c in found],
                "Partitions": [len(c.positions) or None for c in found],
                "Lag": pd.array([c.lag for c in found], dtype="Int64"),
                "Note": [_note(c) for c in found],
            }
        ),
        hide_index=True,
        height="stretch" if len(found) > FEW else "auto",
        row_height=34,
        placeholder="–",
        key=LandscapeKey.CONSUMERS,
        on_select=lambda: _remember(names),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [names.index(wanted)]}}
        if wanted in names
        else None,
        column_config={
            "Lag": st.column_config.NumberColumn(
                format="localized",
                help="Latest offset minus committed offset (Spark: offset in the checkpoint). At "
                "most this many records are unread.",
            ),
            "Partitions": st.column_config.NumberColumn(width="small"),
        },
    )
    return found[names.index(wanted)] if wanted in names else None


def _note(consumer: Consumer) -> str:
    said = note(consumer)
    if consumer.lost:
        deleted = REMARKS[PositionState.DATA_LOST]
        offsets = plural(consumer.lost, "offset", count(consumer.lost))
        said = said.replace(deleted, f"{deleted} ({offsets})")
    return f"⚠ {said}" if consumer.wrong else said


def _remember(names: Sequence[str]) -> None:
    rows = st.session_state[LandscapeKey.CONSUMERS]["selection"]["rows"]
    if rows and rows[0] < len(names):
        st.query_params[LandscapeKey.READER] = names[rows[0]]
    else:
        st.query_params.pop(LandscapeKey.READER, None)


def _overview(landscape: Landscape, found: Sequence[Consumer]) -> None:
    st.html(markup.heading("Select a row to show its partitions", "Highest consumer lag"))
    if landscape.at is None:
        st.html(
            markup.say(
                "Headgate has not read the Kafka cluster state. Latest offsets and undeclared "
                "groups are missing. Check bootstrap_servers under [kafka] in headgate.toml.",
                "unknown",
            )
        )
    behind = [c for c in found if c.lag]
    if behind:
        st.plotly_chart(
            lags_figure(behind, theme()),
            config={"displayModeBar": False},
            key="lags",
            width="stretch",
        )
    elif landscape.at is not None:
        known = any(c.lag is not None for c in found)
        said = "No consumer has unread records." if known else "No consumer has a known lag."
        st.html(markup.quiet(said))
    for consumer in found:
        if consumer.wrong:
            st.html(markup.say(_sentence(consumer), "refuses"))


def _sentence(consumer: Consumer) -> str:
    location = f"{consumer.name} on {consumer.topic}"
    if consumer.lost:
        return (
            f"{location}: Kafka deleted unread records "
            f"({plural(consumer.lost, 'offset', exact(consumer.lost))}). Increase the topic's "
            "retention. If you have a copy of the records, write the copy to the topic."
        )
    said = (
        f"{location}: the position is after the latest offset. The topic was probably recreated "
        "or truncated. Check the topic"
    )
    if not consumer.declared:
        return f"{said}. To set new offsets with Headgate, register the group in headgate.toml."
    return f"{said}. Then choose the scenario “From an offset or time” on the Reprocess page."


def _detail(consumer: Consumer) -> None:
    st.html(markup.heading(KINDS.get(consumer.kind, consumer.kind), consumer.name))
    st.html(
        markup.facts(
            [
                ("Topic", consumer.topic),
                ("Owner", consumer.owner),
                ("Lag", exact(consumer.lag)),
                ("Position source", SOURCES.get(consumer.source or "")),
                ("Position read", ago(consumer.at) if consumer.at else None),
                ("Partitions", plural(len(consumer.positions), "partition")),
            ]
        )
    )
    if consumer.wrong:
        st.html(markup.say(_sentence(consumer), "refuses"))
    if not consumer.positions:
        st.html(markup.quiet(_why_nothing(consumer)))
        return
    st.plotly_chart(
        partitions_figure(consumer.positions, theme()), config={"displayModeBar": False},
        key="partitions", width="stretch",
    )  # fmt: skip
    rows = [
        (p.partition, *(exact(n) if n is not None else "–" for n in (p.begin, p.position, p.end)),
         exact(p.lag), STATES[p.state])
        for p in consumer.positions
    ]  # fmt: skip
    st.html(markup.table(("Partition", "Earliest", "Position", "Latest", "Lag", "State"), rows))


def _why_nothing(consumer: Consumer) -> str:
    if consumer.is_static:
        return "The query reads this topic as a static table. Static tables have no offset or lag."
    if consumer.kind == "spark":
        return (
            "The position is unknown: Spark commits no offsets to Kafka, and Headgate has read no "
            "checkpoint or progress of this query. Set or check `checkpoint` of the pipeline in "
            "headgate.toml."
        )
    return "This group has no known committed offset for this topic."
