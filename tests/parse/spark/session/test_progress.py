"""One progress report: what Spark 4.2 and 3.5 wrote, and what nobody wrote."""

from __future__ import annotations

from typing import Any

import pytest

from headgate.parse.spark.session.query_progress import read_progress
from headgate.text.secrets import MASK


def _report(**changes: Any) -> dict[str, Any]:
    """What Spark 4.2 reported of a count over a topic, shortened by hand."""
    return {
        "id": "f27c3f9c",
        "runId": "a290be17",
        "name": None,
        "timestamp": "2026-11-21T08:48:32.678Z",
        "batchId": 3,
        "batchDuration": 1878,
        "durationMs": {"addBatch": 1189, "triggerExecution": 1876},
        "eventTime": {"watermark": "2024-01-01T00:00:05.000Z"},
        "stateOperators": [
            {
                "operatorName": "stateStoreSave",
                "numRowsTotal": 2,
                "numRowsUpdated": 1,
                "numRowsRemoved": 0,
                "memoryUsedBytes": 1072,
                "numRowsDroppedByWatermark": 4,
                "numShufflePartitions": 2,
                "customMetrics": {"loadedMapCacheHitCount": 7},
            }
        ],
        "sources": [
            {
                "description": "KafkaV2[Subscribe[orders, refunds]]",
                "startOffset": None,
                "endOffset": {"orders": {"0": 3}, "refunds": {"0": 1}},
                "latestOffset": {"orders": {"0": 9}},
                "numInputRows": 4,
                "inputRowsPerSecond": 0.0,
                "processedRowsPerSecond": 1.6,
                "metrics": {"maxOffsetsBehindLatest": "6"},
            }
        ],
        "sink": {"description": "ForeachBatchSink", "numOutputRows": -1},
        **changes,
    }


def test_every_part_of_a_report_is_read():
    batch = read_progress(_report())
    assert (batch.query_id, batch.run_id, batch.batch) == ("f27c3f9c", "a290be17", 3)
    assert (batch.at, batch.name) == ("2026-11-21T08:48:32.678Z", None)
    assert (batch.duration_ms, batch.durations["addBatch"]) == (1878, 1189)
    assert batch.watermark == "2024-01-01T00:00:05.000Z"
    assert batch.sink == "ForeachBatchSink"
    (source,) = batch.sources
    assert source.topics == ("orders", "refunds")
    assert source.end == {"orders": {"0": 3}, "refunds": {"0": 1}}
    assert (source.start, source.latest) == (None, {"orders": {"0": 9}})
    assert (source.input_rows, source.processed_rows_per_second) == (4, 1.6)
    (operator,) = batch.operators
    assert (operator.name, operator.rows_total, operator.memory_bytes) == (
        "stateStoreSave",
        2,
        1072,
    )
    assert (operator.rows_dropped_by_watermark, operator.partitions) == (4, 2)


def test_a_report_of_spark_3_5_has_no_batch_duration():
    report = _report()
    del report["batchDuration"]
    assert read_progress(report).duration_ms == 1876


def test_offsets_are_values_also_where_an_event_log_has_them_as_text():
    source = {"description": "FileStreamSource[/in]", "endOffset": '{"logOffset":0}'}
    assert read_progress(_report(sources=[source])).sources[0].end == {"logOffset": 0}


def test_topics_of_a_pattern_are_those_it_has_offsets_in():
    source = {"description": "KafkaV2[SubscribePattern[or.*]]", "endOffset": {"orders": {"0": 3}}}
    assert read_progress(_report(sources=[source])).sources[0].topics == ("orders",)


@pytest.mark.parametrize("rate", ["NaN", float("nan"), float("inf"), None, True])
def test_a_rate_that_is_no_number_is_unknown(rate: object):
    source = {"description": "x", "inputRowsPerSecond": rate}
    assert read_progress(_report(sources=[source])).sources[0].input_rows_per_second is None


def test_secrets_are_masked():
    source = {
        "description": "Jms[amqp://me:hunter2@host/q]",
        "endOffset": {"url": "https://x/?sig=hunter2", "accessKey": "hunter2"},
    }
    batch = read_progress(_report(sources=[source], sink={"description": "s3://a:hunter2@b"}))
    assert "hunter2" not in repr(batch)
    assert batch.sources[0].end["accessKey"] == MASK


@pytest.mark.parametrize(
    "changes",
    [
        {"sources": "none"},
        {"sources": [3]},
        {"batchId": "three"},
        {"timestamp": None},
        {"stateOperators": {}},
        {"durationMs": []},
        {"sink": "console"},
    ],
)
def test_another_shape_is_refused(changes: dict[str, Any]):
    with pytest.raises(ValueError):
        read_progress(_report(**changes))
    with pytest.raises(ValueError):
        read_progress({})
