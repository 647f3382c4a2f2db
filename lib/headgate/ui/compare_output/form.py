"""Ask which outputs are compared, by which columns."""

from __future__ import annotations

import streamlit as st

from headgate.errors import HeadgateError
from headgate.gateway.spark.compare_outputs import CompareRequest
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.keys import OutputKey
from headgate.ui.shared.server_paths import comparable
from headgate.usecases.compare_output.compare_outputs import compare_request
from headgate.usecases.context import Context

_ADDRESS = "A path, kafka:TOPIC, kafka:TOPIC@FROM..TO or jdbc:NAME.TABLE"
_FORMS = (
    "`kafka:TOPIC@FROM..TO` reads the records from FROM (an offset or a time) to TO, excluding TO. "
    "`jdbc:NAME.TABLE` reads a table of the database `[jdbc.NAME]` in headgate.toml."
)
_KEYS = "Columns that identify a row, separated by commas."
_IGNORE = "Columns that aren't compared, separated by commas."
_TOLERANCE = "Numbers are equal if they differ by at most this value (absolute)."
_NEWEST = "For a topic that a query writes in update mode: compare only the newest record per key."
_FIELDS = {
    "pass --keys, such as --keys id": "enter them under Keys",
    "--ignore": "“Ignored columns”",
    "--tolerance": "“Tolerance”",
    "--newest": "“Newest record only”",
}
"""What an error calls by an option of the command line, by its field here."""


def ask(context: Context) -> CompareRequest | None:
    """Show the choices; return the request once it is made and allowed."""
    left, right = st.columns(2, gap="medium")
    a, b = (
        side.text_input(
            f"Output {name}", key=key, placeholder=_ADDRESS, help=_FORMS, bind="query-params"
        )
        for side, name, key in ((left, "A", OutputKey.A), (right, "B", OutputKey.B))
    )
    by, without, near, last, go = st.columns(
        [2, 2, 1.1, 1.5, 1.4], gap="small", vertical_alignment="bottom"
    )
    keys = by.text_input("Keys", key=OutputKey.KEYS, help=_KEYS, bind="query-params")
    ignore = without.text_input(
        "Ignored columns", key=OutputKey.IGNORE, help=_IGNORE, bind="query-params"
    )
    tolerance = near.number_input(
        "Tolerance", min_value=0.0, value=0.0, step=0.01, format="%g", key=OutputKey.TOLERANCE,
        help=_TOLERANCE,
    )  # fmt: skip
    newest = last.checkbox("Newest record only", key=OutputKey.NEWEST, help=_NEWEST)
    if not go.button("Compare outputs", key=OutputKey.GO, icon=":material/play_arrow:"):
        return None
    for name, text in (("A", a), ("B", b)):
        if not text.strip():
            show_problem(f"Output {name} is empty. Enter a path, kafka:TOPIC or jdbc:NAME.TABLE")
            return None
    try:
        return compare_request(
            comparable(context, a), comparable(context, b), keys.split(","),
            tolerance=float(tolerance), ignore=ignore.split(","), newest=newest,
        )  # fmt: skip
    except HeadgateError as error:
        said = str(error)
        for option, field in _FIELDS.items():
            said = said.replace(option, field)
        show_problem(said)
        return None
