"""Choose one of several things; the answer is in the address, and the address decides.

Streamlit's own binding writes the label into the address. A link should hold the value: it is
shorter, and stays true when the label changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

T = TypeVar("T")


def choose(
    label: str,
    options: Sequence[T],
    *,
    key: str,
    usual: T,
    shown: Callable[[T], str] = str,
    forgets: Sequence[str] = (),
    noun: str = "",
) -> T:
    """Ask with a list. Another answer drops the query parameters that `forgets` names.

    An address may name what is gone: `usual` is shown then, and a message says so. `noun` is what
    the options are, if `label` isn't.
    """
    _follow_address(key, options, usual)
    if unknown := wrong_address(key, options):
        noun = noun or label
        then = f"The page shows {shown(usual)}." if usual else f"Choose another {noun.lower()}."
        st.warning(f"{noun} {unknown} not found. {then}")
    return st.selectbox(
        label,
        options,
        format_func=shown,
        key=key,
        label_visibility="collapsed",
        on_change=_into_address,
        args=(key, usual, forgets),
    )


def choose_first(
    label: str, options: Sequence[str], *, key: str, forgets: Sequence[str] = ()
) -> None:
    """Ask with a list in which nothing is chosen yet; the answer goes into the address."""
    st.session_state[key] = None
    st.selectbox(
        label,
        options,
        index=None,
        placeholder=f"Choose a {label.lower()}",
        key=key,
        label_visibility="collapsed",
        on_change=_into_address,
        args=(key, None, forgets),
    )


def wrong_address(key: str, options: Sequence[object]) -> str | None:
    """Return what the address names, if that is none of the options."""
    given = st.query_params.get(key)
    return None if given is None or given in map(str, options) else given


def switch(
    label: str, options: Sequence[T], *, key: str, usual: T, shown: Callable[[T], str] = str
) -> T:
    """Ask with buttons side by side."""
    _follow_address(key, options, usual)
    answer = st.segmented_control(
        label,
        options,
        format_func=shown,
        key=key,
        required=True,
        label_visibility="collapsed",
        on_change=_into_address,
        args=(key, usual, ()),
    )
    return usual if answer is None else answer


def _follow_address(key: str, options: Sequence[T], usual: T) -> None:
    values = {str(option): option for option in options}
    wanted = values.get(st.query_params.get(key, ""), usual)
    if st.session_state.get(key) != wanted:
        st.session_state[key] = wanted


def _into_address(key: str, usual: object, forgets: Sequence[str]) -> None:
    for name in forgets:
        st.query_params.pop(name, None)
    answer = st.session_state[key]
    if answer == usual:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = str(answer)
