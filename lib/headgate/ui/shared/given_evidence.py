"""Evidence that somebody put into a page: kept for as long as the session lasts."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from headgate.ui.shared.upload import as_uploaded

GIVEN = "given"
"""Entry for pasted or uploaded evidence in the list of versions."""


@dataclass(frozen=True, slots=True)
class Given:
    """What to read, and of which of its queries; `words` says what it is."""

    evidence: tuple[str, ...]
    query: str | None = None
    words: str = ""

    def name(self) -> str:
        """Return what people call it: what it is, else the names of its files."""
        return self.words or ", ".join(as_uploaded(e) for e in self.evidence)


def given(key: str) -> Given | None:
    """Return what was put in under that key."""
    found = st.session_state.get(key)
    return found if isinstance(found, Given) else None


def keep(key: str, what: Given | None) -> None:
    """Keep what was put in, or forget it."""
    st.session_state[key] = what
