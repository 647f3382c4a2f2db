"""The result of a twin run: the outcome, the counterexample side by side, and the coverage."""

from __future__ import annotations

from typing import Any

import streamlit as st

from headgate.model.twin import Counterexample, TwinVerdict
from headgate.rules.compare.twin_findings import location_of
from headgate.rules.core.report import Outcome
from headgate.ui.shared import markup
from headgate.ui.shared.address_state import select
from headgate.ui.shared.keys import CompareKey
from headgate.usecases.rehearsal.twin_kafka_streams import StreamsTwin
from headgate.usecases.rehearsal.twin_spark import TwinRun
from headgate.views.reports.twin import twin_lines
from headgate.views.reports.verdict_line import verdict as verdict_line
from headgate.views.scene.outcome_words import GLYPHS, WORDS


def show_twin(found: TwinRun | StreamsTwin) -> None:
    """Show the whole of it."""
    engine, ours = found.verdict, verdict_line(found.report)
    outcome = Outcome[engine.outcome.upper()]
    left, right = st.columns(2, gap="medium")
    with left:
        word = f"{_release(engine)}: {WORDS[outcome]}"
        st.html(markup.verdict(GLYPHS[outcome], word, _why(engine), engine.outcome))
    with right:
        st.html(
            markup.verdict(
                ours.glyph, f"Outcome of rules and twin run: {ours.word}", ours.sentence, ours.tone
            )
        )
    if engine.counterexample is not None:
        _example(engine.counterexample)
        if node := counterexample_node(found):
            st.button(
                "Select node in graph", key=CompareKey.TWIN_NODE, icon=":material/my_location:",
                on_click=select, args=(node,),
            )  # fmt: skip
    lines = list(twin_lines(engine, found.disagreements))
    st.html(markup.section("Coverage") + markup.bullets(lines[1:]))


def counterexample_node(found: TwinRun | StreamsTwin) -> str | None:
    """Return the node whose state or output differs, as the new version names it."""
    example = found.verdict.counterexample
    if example is None or (example.operator_id is None and example.topic is None):
        return None
    nodes = location_of(found.verdict, *found.versions)
    return nodes.after or nodes.before


def _release(engine: TwinVerdict) -> str:
    if engine.spark_version:
        return f"Spark {engine.spark_version}"
    return f"Kafka Streams {engine.streams_version}".rstrip()


def _why(engine: TwinVerdict) -> str:
    return f"{engine.why[:1].upper()}{engine.why[1:]}."


def _example(example: Counterexample) -> None:
    """Show the values of both versions in one row."""
    st.html(markup.section("Counterexample"))
    before, after = (f" ({name})" if name else "" for name in example.columns)
    heads = ("stored by the old version", "stored by the new version")
    if example.topic is not None:
        heads = ("written after the restart", "written from scratch")
    elif example.kind == "output":
        heads = ("written with the old version's checkpoint", "written with an empty checkpoint")
    row: dict[str, Any] = {name: str(value) for name, value in example.key.items()}
    row |= {
        f"{heads[0]}{before}": str(example.before),
        f"{heads[1]}{after}": str(example.after),
    }
    st.dataframe([row], hide_index=True, width="stretch", height="content")
