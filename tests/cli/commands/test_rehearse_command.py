"""`headgate rehearse` without Spark: what is refused before its start, what the answer holds."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.model.rehearsal import (
    Batch,
    BatchKind,
    EngineOutcome,
    EngineVerdict,
    OutputDifference,
    RollbackTrial,
    Stage,
    StateRows,
    Untouched,
)
from headgate.rules.compare.engine_agreement import Agreement, Judged
from headgate.rules.core.report import Report
from headgate.views.reports.rehearsal import facts, headline, rehearsal_json


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--after", "a:b"], 2, "Give --checkpoint (Spark) or --state-dir"),
        (["--checkpoint", "gone", "--after", "a:b"], 2, "checkpoint gone not found"),
        (["--checkpoint", ".", "--after", "a.py"], 2, "a.py isn't a module:function"),
        (["--checkpoint", ".", "--after", "a:b", "--conf", "x"], 2, "expected KEY=VALUE"),
        (["--checkpoint", ".", "--after", "a:b", "--max-records", "0"], 2, "x>=1"),
        (["--checkpoint", ".", "--after", "a:b", "--batch", "all"], 2, "'real', 'none'"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(arguments, code, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(headgate, ["rehearse", *arguments])
    assert done.exit_code == code
    assert said in done.stderr
    assert "Traceback" not in done.output


VERDICT = EngineVerdict(
    outcome=EngineOutcome.RESUMES,
    rows_in=3,
    rows_out=2,
    batches=(Batch(number=7, kind=BatchKind.NEW, rows_in=3, rows_out=2),),
    state=(StateRows(operator_id=0, operator="dedupe", store="default", before=4, after=6),),
    rows=({"k": "a"},),
    sink="rows were collected",
    output=OutputDifference(old=EngineOutcome.RESUMES, same_input=True, equal=2),
    checkpoint=Untouched(location="/ck", files=8, bytes=1690, before="ab" * 32, after="ab" * 32),
)
REFUSED = EngineVerdict(
    outcome=EngineOutcome.REFUSES,
    error_class="KAFKA_DATA_LOSS",
    condition="KAFKA_DATA_LOSS.PARTITIONS_DELETED",
    message="gone",
    stage=Stage.AFTER_OFFSETS,
)


def test_the_json_is_that_of_diff_and_the_engine_s_verdict():
    judged = Judged(Agreement.AGREE, "Both.")
    found = rehearsal_json(Report(), VERDICT, judged)
    assert list(found)[:3] == ["schema", "outcome", "judged_for"]
    assert found["findings"] == found["changes"] == []
    contract = ["outcome", "error_class", "message", "rows_in", "rows_out"]
    assert list(found["engine"])[:5] == contract
    assert found["engine"]["checkpoint"]["unchanged"] is True
    assert found["engine"]["batches"] == [{"number": 7, "kind": "new", "rows_in": 3, "rows_out": 2}]
    assert (found["agreement"], found["why"]) == ("agree", "Both.")
    assert json.loads(json.dumps(found)) == found


def test_a_rollback_is_shown_beside_the_expected_one():
    back = RollbackTrial(
        outcome=EngineOutcome.REFUSES,
        error_class="KAFKA_DATA_LOSS",
        removed=("commits/1", "offsets/1"),
        repaired=EngineOutcome.RESUMES,
    )
    engine = replace(REFUSED, rollback=back)
    found = rehearsal_json(Report(), engine, Judged(Agreement.AGREE, "Both."))["rollback"]
    assert (found["rollback"], found["expected"]) == ("repairable", "safe")
    assert found["agreement"] == "disagree"
    assert found["removed"] == ["commits/1", "offsets/1"]
    told = dict(facts(engine))["Rollback"]
    assert told.startswith("the old version fails with KAFKA_DATA")
    assert "The old version runs after you delete `commits/1`, `offsets/1`. Spark then" in told


def test_the_words_name_the_condition_and_how_far_it_came():
    assert headline(REFUSED).endswith("KAFKA_DATA_LOSS.PARTITIONS_DELETED")
    told = dict(facts(REFUSED))
    assert told["Stage"].startswith("in the batch, after Spark added the batch")
    assert told["Message"] == "gone"


def test_the_words_say_what_was_counted_and_that_the_original_is_unchanged():
    told = dict(facts(VERDICT))
    assert told["Batch 7"] == "3 rows in, 2 rows out (with new rows)"
    assert told["State 0"] == "dedupe default: 4 → 6 rows"
    assert told["Old version"].startswith("with the same input: 2 equal rows, 0 only in the")
    assert told["Original"].startswith("unchanged (8 files")
