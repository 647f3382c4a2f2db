"""A form for evidence: pasted text, files, a folder, or an address; it says at once what it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

import streamlit as st

from headgate.errors import HeadgateError
from headgate.model.version import Version
from headgate.text.numbers import day_and_time, plural, size
from headgate.ui.shared import cached_reads, markup
from headgate.ui.shared.details_panel import plain
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.given_evidence import Given
from headgate.ui.shared.keys import EvidenceKey
from headgate.ui.shared.paste.component import paste_area
from headgate.ui.shared.read_in_background import SMALL, size_of
from headgate.ui.shared.server_paths import allowed, registered
from headgate.ui.shared.upload import as_uploaded, save, save_text
from headgate.usecases.context import Context
from headgate.usecases.evidence.query_rows import QueryRow
from headgate.usecases.evidence.survey_evidence import Survey
from headgate.views.layout.label_size import shorten
from headgate.views.words.evidence import version_words


class How(StrEnum):
    """The ways to put evidence in."""

    PASTE = "paste"
    FILES = "files"
    FOLDER = "folder"
    ADDRESS = "address"


WORDS = {
    How.PASTE: "Paste text",
    How.FILES: "Files",
    How.FOLDER: "Folder",
    How.ADDRESS: "Address",
}
HINTS = {
    How.PASTE: "Spark: paste the output of `explain` (also from a log), or a query plan or query "
    "progress as JSON. Kafka Streams: paste the output of `Topology#describe()`.",
    How.FILES: "Upload explain text, query plans, query progress, event logs, files from "
    "`headgate capture`, or a zipped folder. Several files form one version.",
    How.FOLDER: "Upload a checkpoint, a rolling event log, or several files of one version.",
    How.ADDRESS: "Address of a Spark UI or History Server, such as `http://driver:4040`. "
    "headgate.toml must allow this address: add the address to `evidence` of a pipeline, or add "
    "its host to `allowed_hosts` of [console]. Or choose a checkpoint or other evidence from "
    "headgate.toml.",
}
PLACEHOLDER = (
    "== Physical Plan ==\n*(4) HashAggregate(keys=[city#6], functions=[count(1)])\n"
    "+- StateStoreSave [city#6], …"
)


def evidence_form(context: Context, *, key: str, pipeline: str | None = None) -> Given | None:
    """Show the form and return the evidence; None while there is none that can be read.

    Shows what it is, its queries if there are several, its warnings and every problem.
    """
    how = st.segmented_control(
        "Source of the evidence",
        list(How),
        default=How.PASTE,
        required=True,
        format_func=WORDS.__getitem__,
        key=EvidenceKey.HOW.of(key),
        label_visibility="collapsed",
        width="stretch",
    )
    try:
        evidence = _ASK[how or How.PASTE](context, key, pipeline)
    except HeadgateError as error:
        show_problem(error)
        return None
    st.caption(HINTS[how or How.PASTE])
    return _understood(context, evidence, key) if evidence else None


def _pasted(context: Context, key: str, pipeline: str | None) -> tuple[str, ...]:
    label = "Explain text, query plan or topology"
    return save_text(paste_area(label, key=EvidenceKey.TEXT.of(key), placeholder=PLACEHOLDER))


def _files(context: Context, key: str, pipeline: str | None) -> tuple[str, ...]:
    files = st.file_uploader(
        "Files", accept_multiple_files=True, key=EvidenceKey.FILES.of(key),
        label_visibility="collapsed",
    )  # fmt: skip
    return save(files or [])


def _folder(context: Context, key: str, pipeline: str | None) -> tuple[str, ...]:
    files = st.file_uploader(
        "Folder", accept_multiple_files="directory", key=EvidenceKey.FOLDER.of(key),
        label_visibility="collapsed",
    )  # fmt: skip
    return save(files or [])


def _address(context: Context, key: str, pipeline: str | None) -> tuple[str, ...]:
    place = st.selectbox(
        "Address",
        registered(context, pipeline),
        index=None,
        accept_new_options=True,
        placeholder="http://driver:4040, or choose an address from headgate.toml",
        key=EvidenceKey.ADDRESS.of(key),
        label_visibility="collapsed",
    )
    return (allowed(context, place),) if place else ()


_ASK: dict[How, Callable[[Context, str, str | None], tuple[str, ...]]] = {
    How.PASTE: _pasted,
    How.FILES: _files,
    How.FOLDER: _folder,
    How.ADDRESS: _address,
}


def _understood(context: Context, evidence: tuple[str, ...], key: str) -> Given | None:
    """Say what the pieces are, ask which query is meant, and read it."""
    try:
        with st.spinner(_waiting(evidence), show_time=True):
            found = cached_reads.survey(context, evidence)
            query = choose_query(found.queries, key)
            if query is not None:
                found = cached_reads.survey(context, evidence, query)
    except HeadgateError as error:
        show_problem(error)
        return None
    lines = [f"{as_uploaded(p.location)}: {p.words or 'unknown format'}" for p in found.pieces]
    if found.problem is not None:
        if found.words:
            st.html(markup.pieces(lines))
        show_problem(found.problem)
        return None
    if found.version is None:
        return None
    _show(found.version, found, lines if len(lines) > 1 else [])
    return Given(evidence, query, found.words)


def _waiting(evidence: tuple[str, ...]) -> str:
    total = sum(map(size_of, evidence))
    return f"Reading {size(total)} in the background" if total > SMALL else "Reading"


def _show(version: Version, found: Survey, lines: list[str]) -> None:
    st.html(markup.understood(version_words(version, found.words), lines))
    if remarks := (*found.left_out, *version.warnings):
        warnings_list(remarks)


def warnings_list(warnings: tuple[str, ...]) -> None:
    """Show the parser's warnings, folded if there are many."""
    shown = [as_uploaded(w) for w in warnings]
    with st.expander(
        plural(len(shown), "warning"), expanded=len(shown) <= 3, icon=":material/info:"
    ):
        st.html(markup.bullets(shown))


FEW = 8
"""With more queries than this, a search field is shown."""


def choose_query(rows: Sequence[QueryRow], key: str) -> str | None:
    """Return the id of the query that is meant: the only one, else the one that was chosen."""
    if len(rows) < 2:
        return None
    st.html(f'<div class="hg-section">{len(rows)} queries: choose one</div>')
    shown = _found(rows, key) if len(rows) > FEW else list(rows)
    if not shown:
        st.caption("No query matches this name, id or state.")
        return None
    with st.container(height=300 if len(shown) > 5 else "content", border=len(shown) > 5):
        by_id = {row.id: row for row in shown}
        chosen = st.radio(
            "Query",
            list(by_id),
            index=None,
            format_func=lambda i: plain(_title(by_id[i])),
            captions=[plain(_caption(r)) for r in shown],
            key=EvidenceKey.QUERY.of(key),
            label_visibility="collapsed",
        )
    return chosen


def _found(rows: Sequence[QueryRow], key: str) -> list[QueryRow]:
    words = st.text_input(
        "Find a query", key=EvidenceKey.FIND.of(key), placeholder="Find by name, id or state",
        icon=":material/search:", label_visibility="collapsed", live=True,
    )  # fmt: skip
    wanted = (words or "").casefold().split()
    return [r for r in rows if all(w in f"{r.name} {r.id} {r.state}".casefold() for w in wanted)]


def _title(row: QueryRow) -> str:
    return shorten(row.name, 60) if row.name else row.id


def _caption(row: QueryRow) -> str:
    parts = [str(row.state), plural(row.runs, "run")]
    if row.batches is not None:
        parts.append(plural(row.batches, "batch"))
    parts.append(_when(row))
    if row.name:
        parts.append(row.id)
    return " · ".join(filter(None, parts))


def _when(row: QueryRow) -> str:
    first, last = (day_and_time(t) for t in (row.first_seen, row.last_seen))
    return first if first == last else f"{first} to {last}"
