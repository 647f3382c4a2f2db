"""A pipeline that needed a twin run and got none isn't called safe."""

import pytest

from headgate.errors import UnreachableError
from headgate.rules.compare.gated import Gated, PipelineChange
from headgate.rules.compare.twin_streams_findings import STREAMS_RULES
from headgate.rules.core.report import Finding, Outcome, Report
from headgate.usecases.gate.run_twins import failed_run

DIED = UnreachableError("running a:b was killed (signal 9)")


def gated(*outcomes):
    findings = tuple(Finding(rule="X", outcome=o, why="x", source="x") for o in outcomes)
    return Gated(pipeline="p", change=PipelineChange.CHANGED, report=Report(findings=findings))


@pytest.mark.parametrize(
    ("outcomes", "whole"),
    [
        ((), Outcome.UNKNOWN),
        ((Outcome.RESUMES,), Outcome.UNKNOWN),
        ((Outcome.SILENTLY_WRONG,), Outcome.SILENTLY_WRONG),
    ],
)
def test_the_outcome_is_unknown_unless_the_rules_found_worse(outcomes, whole):
    found = failed_run(gated(*outcomes), DIED)
    assert found.outcome is whole
    assert "TWN003" in {f.rule for f in found.report.findings}
    assert found.twin_note.startswith("The twin run failed: running a:b was killed")
    question = next(f.question for f in found.report.findings if f.rule == "TWN003")
    assert "--timeout" in question


def test_kafka_streams_has_its_own_rule():
    found = failed_run(gated(), DIED, STREAMS_RULES)
    assert [f.rule for f in found.report.findings] == ["TWN013"]
