"""What a skip says of the sink before an undo repeats batch numbers."""

import pytest

from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.skip_records.sink import check_sink


@pytest.mark.parametrize("sink", ["delta", "hudi"])
def test_a_restore_of_a_delta_table_is_not_advised_because_it_keeps_batch_numbers(sink):
    pipeline = Pipeline(name="q", engine=Engine.SPARK)
    request = PlanRequest(
        scenario="skip-records", pipeline=pipeline, inspector=None, options={"sink": sink}
    )
    (risk,) = check_sink(request, 3, None).risks
    assert ("rewind q with --new-query-id after the undo" in risk) is (sink == "delta")
    assert ("restore the table to its version" in risk) is (sink != "delta")
