"""Declare on the page that a removed and an added node are the same, under a new name."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from headgate.model.version import Version
from headgate.rules.core.declared_renames import RenameKind, things
from headgate.ui.shared import markup
from headgate.ui.shared.cached_reads import Comparison
from headgate.ui.shared.details_panel import plain
from headgate.ui.shared.keys import CompareKey, Param

HELP = "Declare that a removed node and an added node are the same node with a new name."
WIDTH = 440
"""Width in pixels. Generated names differ only at the end, so they must fit completely."""
_KINDS = {
    RenameKind.SOURCE: "Source",
    RenameKind.STORE: "State store",
    RenameKind.OPERATOR: "Operator",
}


def renames() -> tuple[str, ...]:
    """Return what the address declares, as `headgate diff --rename` takes it."""
    return tuple(dict.fromkeys(st.query_params.get_all(Param.RENAME)))


def forget_rename(text: str | None = None) -> None:
    """Drop one declared rename from the address, or all."""
    left = [r for r in renames() if text is not None and r != text]
    if left:
        st.query_params[Param.RENAME] = left
    else:
        st.query_params.pop(Param.RENAME, None)
    st.query_params.pop(Param.FINDING, None)


def rename_form(found: Comparison) -> None:
    """Offer the form; declared renames are in the address, so that a link has them, too."""
    given = renames()
    label = f"Rename ({len(given)})" if given else "Rename"
    with st.popover(label, help=HELP, key="rename_menu"), st.container(width=WIDTH):
        st.html(markup.heading("Renames", "Declare a rename"))
        for text in given:
            st.button(
                plain(text), key=f"forget-{text}", icon=":material/close:", type="tertiary",
                help="Remove rename", on_click=forget_rename, args=(text,),
            )  # fmt: skip
        _ask(found)


def _ask(found: Comparison) -> None:
    kinds = [k for k in RenameKind if things(found.before, k) and things(found.after, k)]
    if not kinds:
        st.html(
            markup.quiet(
                "No rename is possible. Both versions need a named node of the same kind: a "
                "source, a state store or an operator."
            )
        )
        return
    usual = next((k for k in kinds if _is_open(found, k)), kinds[0])
    kind = st.segmented_control(
        "Kind", kinds, default=usual, required=True, format_func=_KINDS.__getitem__,
        key=CompareKey.RENAME_KIND, label_visibility="collapsed",
    )  # fmt: skip
    kind = kind or usual
    matches = found.report.matches
    old = _choose("Old name", found.before, kind, matches.keys())
    new = _choose("New name", found.after, kind, set(matches.values()))
    st.button(
        "Compare with this rename", key=CompareKey.RENAME_TAKE, type="primary",
        on_click=_take, args=(f"{kind}:{old}={new}",), disabled=old is None or new is None,
    )  # fmt: skip


def _is_open(found: Comparison, kind: RenameKind) -> bool:
    """Say whether something of a kind has no counterpart on either side."""
    olds, news = found.report.matches.keys(), set(found.report.matches.values())
    gone = any(t.node not in olds for t in things(found.before, kind))
    return gone and any(t.node not in news for t in things(found.after, kind))


def _choose(label: str, version: Version, kind: RenameKind, matched: Collection[str]) -> str | None:
    """Show a choice of names; what has no counterpart yet comes first."""
    known = sorted(things(version, kind), key=lambda t: t.node in matched)
    labels = {n.id: n.label for n in version.topology.nodes}
    names = {t.name: _called(t.name, labels.get(t.node or "")) for t in known}
    key = CompareKey.RENAME_OLD if label.startswith("Old") else CompareKey.RENAME_NEW
    return st.selectbox(label, list(names), format_func=names.__getitem__, key=f"{key}_{kind}")


def _called(name: str, label: str | None) -> str:
    return f"{label} ({name})" if label and label != name else name


def _take(text: str) -> None:
    st.query_params[Param.RENAME] = [*renames(), text]
    for name in (Param.FINDING, Param.NODE):
        st.query_params.pop(name, None)
