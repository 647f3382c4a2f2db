"""`headgate report`: numbers of a run's programs, and none that nobody counted."""

import json
from contextlib import closing

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.reprocess.plan import Plan, dump_plan
from headgate.reprocess.steps.outputs.compare_results import CompareResults
from headgate.reprocess.steps.outputs.process_records import DeleteResults
from headgate.store import open_store
from headgate.store.rows import Event, NewRun, RunState

FACTS = {"read": 1200, "written": 7, "seconds": 12.0, "startup_seconds": 4.0,
         "processing_seconds": 8.0}  # fmt: skip
SAME = {"equal": False, "rows_a": 7, "rows_b": 6, "missing": 1, "extra": 0, "different": 2}


@pytest.fixture
def report(tmp_path):
    """Return the function that stores a run with documents and prints its report."""
    (tmp_path / "headgate.toml").write_text("", "utf-8")

    def make(documents, form="json", state=RunState.DONE):
        steps = (
            DeleteResults(folder="/data/old_results"),
            CompareResults(before="/data/a", after="/data/b", keys=("city",)),
        )
        plan = Plan(scenario="ab", pipeline="orders", steps=steps)
        new = NewRun(scenario="ab", pipeline="orders", plan_hash=plan.hash, plan=dump_plan(plan),
                     resources=())  # fmt: skip
        with closing(open_store(f"sqlite:///{tmp_path}/.headgate/headgate.db")) as store:
            run = store.runs.enqueue(new, by="ann", action="apply")
            store.runs.claim("slot-0")
            for position in range(2):
                store.journal.add(run, position, Event.BEGUN, {"was": {}})
                store.journal.add(run, position, Event.DONE)
            for position, attempt, name, document in documents:
                store.step_documents.put(run, position, attempt, name, {"old": 1})
                store.step_documents.put(run, position, attempt, name, document)
            store.runs.finish(run, state)
        arguments = ["--config", str(tmp_path / "headgate.toml"), "report", run, "--format", form]
        found = CliRunner().invoke(headgate, arguments)
        assert found.exit_code == 0, found.output
        return json.loads(found.output) if form == "json" else found.output

    return make


def job(facts, outcome="done"):
    return {"program": "replay_query", "outcome": outcome, "facts": facts}


def test_numbers_are_those_of_the_newest_attempt_and_others_are_missing(report):
    documents = [(0, 1, "job", job({"read": 5}, "failed")), (0, 2, "job", job(FACTS)),
                 (1, 2, "comparison", SAME)]  # fmt: skip
    found = report(documents)
    assert (found["schema"], found["state"], found["attempts"]) == (1, "done", 1)
    assert found["totals"] == {"read": 1200, "written": 7, "compared": SAME}
    assert found["rate"] == 150.0
    first, second = found["steps"]
    assert (first["read"], first["written"], first["rate"]) == (1200, 7, 150.0)
    assert first["notes"] == ["the step ran in 2 attempts. The times are from the last attempt"]
    assert second["compared"] == SAME
    assert not {"late", "failed", "dropped_by_watermark", "seconds"} & second.keys()


def test_a_run_that_counted_nothing_has_no_numbers(report):
    found = report([])
    assert found["totals"] == {} and "rate" not in found
    assert [step["action"] for step in found["steps"]] == ["delete_results", "compare_results"]


def test_late_records_and_those_of_a_failed_program_are_told(report):
    facts = {"read": 9, "late": 4, "repeated": 1, "in_input": 2, "written": 3, "replaced": 2}
    found = report([(0, 1, "job", job(facts, "failed"))], state=RunState.FAILED)
    assert found["totals"] == {
        "read": 9, "late": 4, "duplicates": 3, "written": 3, "replaced": 2
    }  # fmt: skip
    assert found["steps"][0]["notes"] == ["the Spark program of the step failed before its end"]


def test_text_and_markdown_say_the_same(report):
    documents = [(0, 1, "job", job({**FACTS, "dropped_by_watermark": 0})),
                 (1, 1, "comparison", SAME)]  # fmt: skip
    text = report(documents, "text")
    assert "Records read: 1\u202f200" in text
    assert "Rows dropped by the watermark: 0" in text
    assert "Rate: 150 records/s, excluding start-up time" in text
    assert "Compared: different: 7 rows in A, 6 rows in B, 1 missing" in text
    assert "Late records" not in text
    assert "Step 1 (done): delete the results in /data/old_results" in text
    marked = report(documents, "markdown")
    assert "| Records read | 1\u202f200 |" in marked
    assert "delete the results in /data/old\\_results" in marked
