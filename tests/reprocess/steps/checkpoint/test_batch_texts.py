"""Texts of checkpoint steps are true of empty logs, and of a query without Kafka."""

from types import SimpleNamespace

import pytest

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.checkpoints import Checkpoint, Proof
from headgate.reprocess.ports.spark_jobs import JobOutcome, JobResult
from headgate.reprocess.steps.checkpoint.create import RehearseNewCheckpoint
from headgate.reprocess.steps.checkpoint.rewind import check_end
from headgate.reprocess.steps.checkpoint.run_bounded import RunBounded
from headgate.reprocess.steps.checkpoint.switch_checkpoint import StartAtCheckpoint
from headgate.reprocess.steps.upgrade.verify_version import VerifyVersion
from support.flat_ports import FlatPorts


class World(FlatPorts):
    """A run whose checkpoint is `found`, and whose programs and rehearsals end as given."""

    run = "r-1"

    def __init__(self, found=None, result=None, rows=None):
        self.found, self.result, self.rows, self.notes = found, result, rows, []

    @property
    def spark_jobs(self):
        return SimpleNamespace(run=lambda _job, _show: self.result)

    def read(self, _location):
        return self.found

    def rehearse(self, _location, _entry_point):
        return Proof(outcome="resumes", rows_in=self.rows)

    def note(self, text):
        self.notes.append(text)


def test_an_empty_log_does_not_end_at_batch_none():
    here = World(Checkpoint(location="/ck", query_id="id", last_offset_batch=3))
    with pytest.raises(StepError, match="but has batch 3 in the offset log, none in the commit"):
        check_end(here, "/ck", 5)


def test_a_query_that_reads_files_reaches_no_offsets():
    facts = {"batches": 1, "first_batch": 4, "last_batch": 4, "records": 9, "reached": {}}
    here = World(result=JobResult(JobOutcome.DONE, facts))
    step = RunBounded(pipeline="q", checkpoint="/ck", query_id="id", entry_point="m:f")
    step.apply(here, {"bounds": "/runs/r-1/bounds.json"})
    assert here.notes[0].endswith("Committed: batch 4 (9 records).")


def test_a_run_that_failed_has_failed_after_some_time():
    facts = {"seconds": 7}
    here = World(result=JobResult(JobOutcome.FAILED, facts, error="no memory"))
    step = RunBounded(pipeline="q", checkpoint="/ck", query_id="id", entry_point="m:f")
    with pytest.raises(StepError, match="q failed: no memory"):
        step.apply(here, {"bounds": "/runs/r-1/bounds.json"})
    assert here.notes == ["q has failed after 7 s. No batch was committed."]


@pytest.mark.parametrize(
    ("rows", "said"),
    [(3, "the query read 3 rows"), (0, "verified only that the query"), (None, "verified only")],
)
def test_a_rehearsal_without_records_says_what_it_verified(rows, said):
    here = World(rows=rows)
    step = RehearseNewCheckpoint(pipeline="q", place="/new", entry_point="m:f", made=True)
    step.apply(here, {})
    assert said in here.notes[-1]


def test_a_query_that_is_only_slow_needs_no_correction():
    slow = Proof(outcome="unknown", message="the batch did not end within the timeout")
    here = World()
    here.rehearse = lambda _location, _entry_point: slow
    step = RehearseNewCheckpoint(pipeline="q", place="/new", entry_point="m:f", made=True)
    with pytest.raises(RefusedError, match=r"timeout\. Correct the cause, then run"):
        step.apply(here, {})
    assert Proof(outcome="refuses", error_class="X").at_fault == "query"


def test_a_rehearsal_that_fails_without_a_word_has_a_reason():
    assert Proof(outcome="unknown").why == "Spark gave no reason"
    assert Proof(outcome="refuses", error_class="X", message="no").why == "X: no"


def test_a_query_on_its_old_checkpoint_without_commits_has_no_batch():
    step = StartAtCheckpoint(
        pipeline="q", command="run", stop=None, has_status=False, checkpoint="/new", old="/ck"
    )
    here = World(Checkpoint(location="/ck", query_id="id", last_offset_batch=0))
    with pytest.raises(RefusedError) as raised:
        step._check_old(here, {"old": [None, None, None]})
    assert str(raised.value) == (
        "q runs on the old checkpoint /ck. Change its start command to pass "
        "${HEADGATE_CHECKPOINT} as checkpointLocation, then run `headgate plan` again"
    )


def test_a_checkpoint_that_is_gone_is_not_called_another_querys():
    step = VerifyVersion(pipeline="q", checkpoint="/ck", query_id="id", kept="/old")
    with pytest.raises(StepError, match="checkpoint /ck no longer exists: another process deleted"):
        step.apply(World(), {})
