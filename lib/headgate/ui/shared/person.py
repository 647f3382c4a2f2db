"""Requester and approver, where that counts: the logged-in user, else the name that they give."""

from __future__ import annotations

import streamlit as st

from headgate.model.person import unverified
from headgate.ui.shared.page import NOBODY, user

NAME = "person_name"


def ask_name(key: str) -> str | None:
    """Return who is here; without a log-in they enter a name, which is marked as not verified.

    None as long as nothing was given.
    """
    if user() != NOBODY:
        return user()
    given = st.text_input(
        "Your name",
        value=st.session_state.get(NAME, ""),
        key=key,
        help="You are not logged in, so the audit trail marks this name as unverified.",
    ).strip()
    if not given:
        return None
    st.session_state[NAME] = given
    return unverified(given, "entered in the console")
