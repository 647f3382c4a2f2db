"""Say what went wrong in one sentence, whatever names it repeats."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from headgate.errors import HeadgateError, next_step_of
from headgate.text.secrets import mask_text
from headgate.ui.shared.details_panel import plain
from headgate.ui.shared.upload import as_uploaded


def show_problem(error: Exception | str) -> None:
    """Show the sentence; uploads by their own names, nothing in it read as Markdown.

    A next step follows if the sentence names none. What it lists on lines of its own, such as the
    queries to choose from, becomes a list.
    """
    said, *listed = as_uploaded(mask_text(str(error))).splitlines() or [""]
    lines = "".join(f"\n- {sentence(line)}" for line in listed)
    step = next_step_of(error)
    if step and not lines:
        said = f"{said.rstrip('.')}. {step}"
    below = f"\n{lines}" + (f"\n\n{sentence(step)}" if step else "") if lines else ""
    st.error(sentence(said) + below, icon=":material/error:")


def act(action: Callable[[], object]) -> None:
    """Do something and redraw the page; an error is shown instead."""
    try:
        action()
    except HeadgateError as error:
        show_problem(error)
        return
    st.rerun()


def sentence(text: str) -> str:
    """Return Markdown that shows `text` as it is, text in backticks as code."""
    line = " ".join(text.split())
    parts = line.split("`")
    if len(parts) % 2 == 0:
        return plain(line)
    return "".join(
        f"`{part}`" if number % 2 and part else plain(part) for number, part in enumerate(parts)
    )
