"""Two outputs: which rows are missing, extra or different, by key and by column."""

from __future__ import annotations

import streamlit as st

from headgate.ui.compare_output.panel import output_panel
from headgate.ui.shared.page import open_page, title


def main() -> None:
    context = open_page(__file__)
    with st.container(key="compare_output"):
        title("Outputs", "Compare the rows of two outputs by key.")
        output_panel(context)


main()
