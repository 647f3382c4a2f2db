"""A chain is shown as a row for each pipeline, and says which results are not exact."""

from __future__ import annotations

from headgate.reprocess.plan import Plan
from headgate.views.words.chain import chain_lines, chain_rows
from headgate.views.words.impact import impact_lines

SINCE = "2026-11-25T10:00:00.000Z"


def row(name, choice, *, batch=None, is_exact=True, since=None):
    return {
        "pipeline": name, "choice": choice, "batch": batch, "is_exact": is_exact,
        "replaced_since": since,
    }  # fmt: skip


CHAIN = [
    row("first", "rewind", batch=7, since=SINCE),
    row("billing", "skip", is_exact=False),
    row("audit", "nothing", is_exact=False),
]


def test_each_pipeline_is_a_row():
    assert list(chain_rows({"chain": CHAIN})) == [
        ("first", "rewind to batch 7", "exact", SINCE),
        ("billing", "skip to the latest offsets", "records may be missing or count twice", ""),
        ("audit", "no change", "duplicates", ""),
    ]
    assert not list(chain_rows({}))


def test_the_command_line_has_them_first():
    plan = Plan(scenario="chain", pipeline="first", impact={"chain": CHAIN, "records": {}})
    assert impact_lines(plan)[:3] == chain_lines(plan.impact)
    assert impact_lines(plan)[0] == ("Pipeline", "first: rewind to batch 7, results: exact")
