"""What a version says as a whole: shown while no node is selected."""

from __future__ import annotations

import streamlit as st

from headgate.model.version import Version
from headgate.store.versions import VersionRow
from headgate.ui import markup
from headgate.ui.details import shown
from headgate.ui.markup import Code, Rows
from headgate.views.numbers import plural, short_time


def version_facts(version: Version, row: VersionRow | None = None) -> None:
    """Show engine, state, pinned configuration, progress, evidence and warnings."""
    name = f"Version {row.number}" if row else version.name or "Version"
    st.html(markup.heading("Select a node for its details", name))
    st.html(markup.facts(_rows(version, row)))
    if version.pinned:
        st.html(markup.section("Pinned by the checkpoint") + _pinned(version.pinned))
    if version.warnings:
        st.html(markup.section("Remarks") + markup.bullets(version.warnings))
    if version.evidence:
        lines = [f"{e.kind} `{e.path}`" for e in version.evidence]
        st.html(markup.section("Read from") + markup.bullets(lines))


def _rows(version: Version, row: VersionRow | None) -> Rows:
    progress, sink = version.progress, version.sink
    yield "Captured", short_time(row.captured_at if row else version.captured_at)
    yield "Engine", " ".join(filter(None, (version.engine.value, version.engine_version)))
    yield "Output mode", version.output_mode or (sink.output_mode if sink else None)
    if version.stateful is not None:
        operators = plural(len(version.stateful), "operator")
        yield "State", f"{operators}, {plural(_stores(version), 'store')}"
    yield "Watermark", [f"`{w.column}`, {w.delay}" for w in version.watermarks]
    if progress is not None:
        yield "Last batch", progress.last_commit_batch
        yield "Oldest batch", progress.first_retained_batch
    yield "Query", Code(version.query_id) if version.query_id else None


def _stores(version: Version) -> int:
    return sum(len(operator.stores) for operator in version.stateful or ())


def _pinned(settings: dict[str, str]) -> str:
    short = {name.removeprefix("spark.sql."): value for name, value in settings.items()}
    return markup.table(("spark.sql.", ""), [(Code(n), shown(v)) for n, v in sorted(short.items())])
