"""All pipelines and the topics between them, consumer lag, and unused resources."""

from __future__ import annotations

from enum import StrEnum

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headgate.errors import HeadgateError
from headgate.landscape.landscape import Landscape
from headgate.text.numbers import plural
from headgate.ui.landscape.consumers import landscape_consumers
from headgate.ui.landscape.map import (
    exports,
    landscape_map,
    level_switch,
    more_controls,
    selector_box,
)
from headgate.ui.landscape.unused_resources import landscape_unused
from headgate.ui.shared import cached_reads
from headgate.ui.shared.choose_one import switch
from headgate.ui.shared.cluster_poll import ClusterSnapshot
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.keys import LandscapeKey
from headgate.ui.shared.no_pipelines import no_pipelines
from headgate.ui.shared.page import open_page, title
from headgate.usecases.context import Context

# Seconds between two looks at the cluster.
REFRESH = 5
# Seconds between two questions whether Kafka has answered for the first time.
FIRST_ANSWER = 0.5


class View(StrEnum):
    """What the page shows of the landscape."""

    MAP = "map"
    CONSUMERS = "consumers"
    LOOSE = "unused resources"


def main() -> None:
    context = open_page(__file__)
    if not context.registry.pipelines and not context.registry.bootstrap_servers:
        title("Landscape")
        no_pipelines(context)
        return
    _page(context)
    if cached_reads.cluster(context, 0).is_awaited:
        _await_kafka(context)


@st.fragment(run_every=FIRST_ANSWER)
def _await_kafka(context: Context) -> None:
    """Draw the page once more as soon as Kafka has answered: the first paint does not wait."""
    if not cached_reads.cluster(context, 0).is_awaited:
        st.rerun(scope="app")


@st.fragment(run_every=REFRESH)
def _page(context: Context) -> None:
    try:
        joined = cached_reads.landscape(context)
    except HeadgateError as error:
        show_problem(error)
        return
    landscape, seen = joined.landscape, joined.seen
    head, views, *rest = st.columns(
        [2.7, 2.6, 1.95, 2.6, 0.5, 0.5], vertical_alignment="center", gap="small"
    )
    with views:
        view = switch(
            "View", list(View), key=LandscapeKey.VIEW, usual=View.MAP, shown=str.capitalize
        )
    with head:
        title("Landscape", _summary(landscape))
    if view is View.CONSUMERS:
        landscape_consumers(landscape)
    elif view is View.LOOSE:
        landscape_unused(landscape)
    else:
        _map(context, landscape, seen, *rest)


def _map(
    context: Context, landscape: Landscape, seen: ClusterSnapshot, *places: DeltaGenerator
) -> None:
    levels, box, more, download = places
    with levels:
        level = level_switch(landscape)
    with box:
        expression = selector_box()
    with more:
        asked = more_controls()
    with download:
        exports(context, landscape, level, expression)
    landscape_map(context, landscape, seen, level=level, expression=expression, more=asked)


def _summary(landscape: Landscape) -> str:
    counts = (
        (len(landscape.pipelines), "pipeline"),
        (len(landscape.topics), "topic"),
        (len(landscape.groups), "group"),
    )
    return ", ".join(plural(*c) for c in counts)


main()
