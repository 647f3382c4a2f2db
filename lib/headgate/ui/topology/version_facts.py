"""What a version says as a whole: shown while no node is selected."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from headgate.model.version import Version
from headgate.parse.evidence.limits import limits_of
from headgate.store.rows import VersionRow
from headgate.text.numbers import plural, short_time
from headgate.ui.shared import markup
from headgate.ui.shared.details_panel import shown
from headgate.ui.shared.markup import Code, Rows
from headgate.ui.shared.upload import as_uploaded
from headgate.ui.topology.streams_facts import streams_rows

FEW = 2
"""Lines shown without a click."""


def version_facts(version: Version, row: VersionRow | None = None, name: str = "") -> None:
    """Show engine, state, pinned configuration, progress, evidence and warnings."""
    heading = f"Version {row.number}" if row else name or version.name or "Version"
    st.html(markup.heading("Select a node to show its details", heading))
    st.html(markup.facts(_rows(version, row)))
    if version.warnings:
        lines = [as_uploaded(w) for w in version.warnings]
        _folding("Notes", lines, markup.bullets(lines))
    if open_ := limits_of(version):
        _folding("Missing in this evidence", open_, "".join(map(markup.unknown, open_)))
    if version.pinned:
        st.html(markup.section("Settings stored in the checkpoint") + _pinned(version.pinned))
    if version.evidence:
        lines = [f"{e.kind} `{as_uploaded(e.path)}`" for e in version.evidence]
        st.html(markup.section("Evidence") + markup.bullets(lines))


def _folding(word: str, lines: Sequence[str], body: str) -> None:
    """Show a list that can be long: folded from some length on."""
    with st.expander(f"{word} ({len(lines)})", expanded=len(lines) <= FEW):
        st.html(body)


def _rows(version: Version, row: VersionRow | None) -> Rows:
    progress, sink = version.progress, version.sink
    at = row.captured_at if row else version.captured_at
    yield "Captured", short_time(at) if at else None
    yield "Engine", " ".join(filter(None, (version.engine.value, version.engine_version)))
    yield "Graph", _parts(version)
    yield from streams_rows(version.streams)
    yield "Output mode", version.output_mode or (sink.output_mode if sink else None)
    if version.stateful is not None:
        operators = plural(len(version.stateful), "operator")
        yield "State", f"{operators}, {plural(_stores(version), 'store')}"
    yield "Watermark", [f"`{w.column}`, {w.delay}" for w in version.watermarks]
    if progress is not None:
        # A stored version keeps the batches of its time: the query has continued since.
        then = " at capture" if row else ""
        yield f"Last batch{then}", progress.last_commit_batch
        yield f"Oldest batch{then}", progress.first_retained_batch
    yield "Query", Code(version.query_id) if version.query_id else None


def _parts(version: Version) -> str:
    topology = version.topology
    parts = len(topology.subtopologies())
    word = "sub-topology" if parts == 1 else "sub-topologies"
    return f"{plural(len(topology.nodes), 'node')} in {parts} {word}"


def _stores(version: Version) -> int:
    return sum(len(operator.stores) for operator in version.stateful or ())


def _pinned(settings: dict[str, str]) -> str:
    short = {name.removeprefix("spark.sql."): value for name, value in settings.items()}
    return markup.table(
        ("Setting (spark.sql.)", "Value"), [(Code(n), shown(v)) for n, v in sorted(short.items())]
    )
