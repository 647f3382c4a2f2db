"""Ask for the two sides of a comparison: stored versions, or uploaded files for either."""

from __future__ import annotations

import streamlit as st

from headgate.store.versions import VersionRow
from headgate.ui.ask import choose
from headgate.ui.capture import ACCEPTED
from headgate.ui.keys import CompareKey, Param
from headgate.ui.pick import observed_last, version_label
from headgate.ui.upload import save

FILES = "files"


def pick_side(word: str, rows: tuple[VersionRow, ...], key: CompareKey, usual: str) -> str:
    """Ask for a version's number, or `files`; both as text."""
    labels = {str(row.number): version_label(row).removeprefix("Version ") for row in rows} | {
        FILES: "Uploaded files"
    }
    return choose(
        word,
        list(labels),
        key=key,
        usual=usual,
        shown=lambda option: f"{word}: {labels[option]}",
        forgets=(Param.FINDING,),
    )


def usual_sides(rows: tuple[VersionRow, ...]) -> tuple[str, str]:
    """Return what is compared at first: what runs with what was captured since.

    Without a later capture it is the two newest versions, and files where there are none.
    """
    numbers = [str(row.number) for row in rows]
    if len(numbers) < 2:
        return (numbers[0], FILES) if numbers else (FILES, FILES)
    runs = str(observed_last(rows).number)
    return (numbers[1], numbers[0]) if runs == numbers[0] else (runs, numbers[0])


def evidence(pipeline: str | None, side: str, word: str, key: CompareKey) -> tuple[str, ...]:
    """Return what to read for a side; asks for files where it is to be files."""
    if side != FILES:
        return (f"{pipeline}@{side}",)
    files = st.file_uploader(word, accept_multiple_files=True, key=key, help=ACCEPTED)
    return save(files or [])
