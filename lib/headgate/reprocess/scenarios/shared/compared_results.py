"""The options of scenarios that compare the results of two versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.errors import ScenarioError
from headgate.reprocess.scenario import Kind, Option, PlanRequest
from headgate.text.numbers import name_list

KEYS = Option(
    name="keys",
    ask="Key columns",
    help="Column that identifies a row of the results. Can be repeated.",
    kind=Kind.MANY,
    metavar="COLUMN",
    required=True,
)
TOLERANCE = Option(
    name="tolerance",
    ask="Tolerance of numbers",
    help="Largest difference of two numbers that counts as equal (default 0).",
    metavar="NUMBER",
)
IGNORE = Option(
    name="ignore",
    ask="Ignored columns",
    help="Column to leave out of the comparison. Can be repeated.",
    kind=Kind.MANY,
    metavar="COLUMN",
)


def column_blockers(request: PlanRequest) -> list[str]:
    """Refuse key columns that the pipeline's own results lack, as far as its version shows them.

    The columns of the other version are known only when its function runs.
    """
    keys, ignored = request.options["keys"], request.options.get("ignore", ())
    found = [
        f"--ignore: {key} is also in --keys, and a key can't be left out. Pass it only once"
        for key in keys
        if key in ignored
    ]
    sink = request.version.sink if request.version else None
    names = [column.name for column in sink.schema.fields] if sink and sink.schema else []
    return [
        *found,
        *(
            f"--keys: the results of {request.pipeline.name} have no column {key}. Columns: "
            f"{name_list(names)}. If the query changed, capture it again"
            for key in keys
            if names and key not in names
        ),
    ]


def comparison_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a comparing step takes of the answers; ScenarioError for a wrong tolerance."""
    return {
        "keys": tuple(options["keys"]),
        "tolerance": _tolerance(options.get("tolerance")),
        "ignore": tuple(options.get("ignore", ())),
        "must_match": not options.get("allow-differences", False),
    }


def _tolerance(text: object) -> float:
    try:
        found = float(str(text)) if text is not None else 0.0
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise ScenarioError(f"--tolerance: expected 0 or more, found {text!r}")
    return found
