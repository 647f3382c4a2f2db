"""What a rehearsal says of an old version that failed without an error class."""

from headgate.model.rehearsal import EngineOutcome, OutputDifference, RollbackTrial
from headgate.views.reports.rehearsal import output_words, rollback_words


def test_a_failure_without_a_class_is_only_a_failure():
    output = OutputDifference(old=EngineOutcome.REFUSES, note="no output")
    assert output_words(output) == "the old version fails; no output"
    back = RollbackTrial(outcome=EngineOutcome.REFUSES)
    assert rollback_words(back).startswith("the old version fails on the copy")
