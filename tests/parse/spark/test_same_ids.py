"""One query has the same ids before its start, in its batches and in the event log."""

import pytest

from headgate.model.topology import NodeKind
from headgate.usecases.evidence.read_version import read_version
from support.spark_golden import ROOT

pytestmark = pytest.mark.slow

QUERIES = sorted(p.name for p in (ROOT / "4.2.0").iterdir())
# Exchanges are the planner's: these were planned otherwise before the start, for want of sizes or
# because the output mode always reads Append there.
PLANNED_ANEW = {"aggregate_top_two", "static_join_local_rows"}


def nodes(*evidence):
    topology = read_version([str(e) for e in evidence]).topology
    return {n.id: (n.operator, n.kind) for n in topology.nodes}


@pytest.mark.parametrize("query", QUERIES)
def test_capture_run_and_event_log_agree(query):
    folder = ROOT / "4.2.0" / query
    captured, ran = nodes(folder / "capture"), nodes(folder / "run")
    if query in PLANNED_ANEW:
        captured, ran = (
            {k: v for k, v in found.items() if v[1] is not NodeKind.REPARTITION}
            for found in (captured, ran)
        )
    assert captured == ran
    logged = nodes(folder / "run" / "events.jsonl")
    assert logged.keys() <= nodes(folder / "run").keys()


@pytest.mark.parametrize("query", [q for q in QUERIES if q != "empty_last_batch"])
def test_each_form_alone_has_no_other_ids(query):
    """A source of one form is a source in all, whatever it is called there."""
    for side in ("capture", "run"):
        whole = nodes(ROOT / "4.2.0" / query / side)
        for name in ("explain.txt", "formatted.txt", "simple.txt", "cost.txt", "logical.json"):
            file = ROOT / "4.2.0" / query / side / name
            if file.exists():
                found = {
                    k for k, (_, kind) in nodes(file).items() if kind is not NodeKind.STATE_STORE
                }
                assert found <= whole.keys(), (side, name)
