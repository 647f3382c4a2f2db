"""What a dead letter topic holds: counts by reason and by source, and a few masked records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from headgate.text.numbers import exact
from headgate.ui.shared import markup
from headgate.ui.shared.markup import Code
from headgate.views.words.dead_letters import (
    DECISIONS,
    GROUPS,
    newest_words,
    read_words,
    redrive_words,
)

_HEAD = ("Partition", "Offset", "Source", "Reason", "Message", "Value (masked)")


def dead_letters_panel(impact: Mapping[str, Any]) -> None:
    """Show what the plan counted; nothing for other scenarios."""
    found = impact.get("dead_letters")
    if found is None:
        return
    rows = [(word.capitalize(), exact(found[k])) for k, word in DECISIONS.items() if found.get(k)]
    st.html(
        markup.section("Dead letters")
        + markup.facts(
            [
                ("Read", read_words(found)),
                *rows,
                ("Newest", newest_words(found)),
                ("Redrive", redrive_words(impact)),
            ]
        )
    )
    for key, title in GROUPS.items():
        if counts := impact.get(key):
            st.html(
                markup.table(
                    (title, "Records"), [(n, exact(c)) for n, c in counts.items()], numbers=1
                )
            )
    if samples := impact.get("samples"):
        st.html(
            markup.section("Samples, one for each reason") + markup.table(_HEAD, _rows(samples))
        )


def _rows(samples: Any) -> list[tuple[object, ...]]:
    return [
        (
            str(s["partition"]),
            str(s["offset"]),
            s["source"],
            s["reason"],
            s["message"],
            Code(s["value"]),
        )
        for s in samples
    ]
