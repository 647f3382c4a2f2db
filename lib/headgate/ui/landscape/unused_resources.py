"""Unused resources: unused topics, internal topics without an owner, undeclared groups."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from headgate.landscape.landscape import Landscape, LandscapeGroup, LandscapeTopic
from headgate.landscape.unused_resources import undeclared_groups, unowned_topics, unread, unused
from headgate.text.numbers import duration, plural, size
from headgate.ui.shared import markup

NUMBER = st.column_config.NumberColumn(format="localized")


def landscape_unused(landscape: Landscape) -> None:
    """Show the four kinds side by side; each says what it may mean."""
    if landscape.at is None:
        with st.container(key="selector-problem"):
            st.html(
                markup.say(
                    "Headgate has not read the Kafka cluster state. This page shows only topics of "
                    "pipelines: unused topics, groups and sizes are missing. Check "
                    "bootstrap_servers under [kafka] in headgate.toml.",
                    "unknown",
                )
            )
    topics, groups = st.columns(2, gap="small")
    with topics:
        _topics(
            "Topics with neither producers nor consumers",
            unused(landscape),
            "unused",
            "No registered pipeline writes these topics. No pipeline or group reads them.",
        )
        _topics(
            "Topics without consumers",
            unread(landscape),
            "unread",
            "A pipeline writes these topics, but no pipeline or group reads them.",
        )
    with groups:
        _internal(unowned_topics(landscape))
        _groups(undeclared_groups(landscape))


def _head(title: str, number: int, unit: str, about: str) -> None:
    st.html(markup.heading(plural(number, unit), title) + markup.quiet(about))


def _topics(title: str, topics: Sequence[LandscapeTopic], key: str, about: str) -> None:
    with st.container(border=True, key=f"loose_{key}", gap="xsmall"):
        _head(title, len(topics), "topic", about)
        if topics:
            _table(
                {
                    "Topic": [t.name for t in topics],
                    "Written by": [", ".join(t.writers) for t in topics]
                    if key == "unread"
                    else None,
                    "Partitions": [t.partitions for t in topics],
                    "Records": pd.array([t.records for t in topics], dtype="Int64"),
                    "Size": _sizes(topics),
                    "Retention": [
                        duration(t.retention_ms) if t.retention_ms is not None else ""
                        for t in topics
                    ],
                },
                key,
            )


def _sizes(topics: Sequence[LandscapeTopic]) -> list[str] | None:
    """Return the sizes on disk; None where none was read."""
    if all(t.bytes is None for t in topics):
        return None
    return [size(t.bytes) if t.bytes is not None else "" for t in topics]


def _internal(topics: Sequence[LandscapeTopic]) -> None:
    known = [t.bytes for t in topics if t.bytes is not None]
    total = f" Total size: {size(sum(known))}." if known else ""
    with st.container(border=True, key="loose_internal", gap="xsmall"):
        _head(
            "Internal topics without a known owner",
            len(topics),
            "topic",
            "These topics have names of Kafka Streams internal topics, but Headgate doesn't know "
            f"which application owns them.{total}",
        )
        if topics:
            _table(
                {
                    "Topic": [t.name for t in topics],
                    "Size": [size(t.bytes) if t.bytes is not None else "" for t in topics],
                    "Records": pd.array([t.records for t in topics], dtype="Int64"),
                    "Possible owners": [", ".join(t.candidates) for t in topics],
                    "Missing evidence": [t.proof or "" for t in topics],
                },
                "internal",
            )


def _groups(groups: Sequence[LandscapeGroup]) -> None:
    with st.container(border=True, key="loose_groups", gap="xsmall"):
        _head(
            "Undeclared groups",
            len(groups),
            "group",
            "These groups commit offsets to Kafka, but no [[pipeline]] in headgate.toml has their "
            "id as `group`.",
        )
        if groups:
            _table(
                {
                    "Group": [g.id for g in groups],
                    "Type": [g.type.value for g in groups],
                    "State": [g.state for g in groups],
                    "Members": [g.members for g in groups],
                    "Lag": pd.array([g.lag for g in groups], dtype="Int64"),
                    "Topics": [
                        ", ".join(dict.fromkeys(p.topic for p in g.positions)) for g in groups
                    ],
                },
                "groups",
            )


def _table(columns: dict[str, object], key: str) -> None:
    shown = {name: values for name, values in columns.items() if values is not None}
    st.dataframe(
        pd.DataFrame(shown),
        hide_index=True,
        key=f"loose_table_{key}",
        height="stretch",
        row_height=32,
        placeholder="–",
        column_config={"Records": NUMBER, "Lag": NUMBER},
    )
