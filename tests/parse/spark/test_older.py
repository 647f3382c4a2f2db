"""Plan text of versions that were never run here: own samples, after what people published."""

import pytest

from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise

COUNT = """== Physical Plan ==
{sink}{star}HashAggregate(keys=[k#5], functions=[count(1)])
{i}+- StateStoreSave [k#5], {state}, Append, 0{format}
{i}   +- {star}HashAggregate(keys=[k#5], functions=[merge_count(1)])
{i}      +- StateStoreRestore [k#5], {state}{format}
{i}         +- {star}HashAggregate(keys=[k#5], functions=[merge_count(1)])
{i}            +- Exchange hashpartitioning(k#5, 7){exchange}
{i}               +- {star}HashAggregate(keys=[k#5], functions=[partial_count(1)])
{i}                  +- EventTimeWatermark ts#2: timestamp, {delay}
{i}                     +- {star}Project [cast(value#3 as string) AS k#5, ts#2]
{i}                        +- {source}
"""
INFO = "state info [ checkpoint = <unknown>, runId = 8c0a, opId = 0, ver = 0, numPartitions = 7]"
VERSIONS = {
    "2.1": {"state": "OperatorStateId(<unknown>,0,0)", "star": "*"},
    "2.2": {"state": "StatefulOperatorStateInfo(<unknown>,3585583b,0,0)", "star": "*"},
    "2.4": {"state": INFO, "star": "*(1) ", "format": ", 2"},
    "3.0": {"exchange": ", true, [id=#13]", "delay": "10 seconds"},
    "3.1": {"exchange": ", ENSURE_REQUIREMENTS, [id=#13]", "delay": "10 seconds"},
    "3.4": {"exchange": ", ENSURE_REQUIREMENTS, [plan_id=13]", "delay": "10 seconds"},
}
DEFAULT = {
    "state": INFO,
    "star": "*(1) ",
    "format": ", 2",
    "exchange": "",
    "delay": "interval 10 seconds",
    "source": "StreamingRelation kafka, [value#3, ts#2]",
    "sink": "",
    "i": "",
}
SCANS = {
    "ScanV2 kafka[value#3, ts#2] (Options: [subscribe=t,kafka.bootstrap.servers=b:9092])": "kafka",
    "MicroBatchScan[value#3, ts#2] class org.apache.spark.sql.kafka010.KafkaSourceProvider"
    "$KafkaScan": "kafka",
}


def version_of(text):
    return assemble(Gathered(pieces=[recognise(text.encode(), path="x")]))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_windowless_count(version):
    found = version_of(COUNT.format(**(DEFAULT | VERSIONS[version])))
    operators = [n.operator for n in found.topology.nodes]
    assert operators == [
        "kafka",
        "project",
        "watermark",
        "exchange",
        "aggregate",
        "state_store",
        "sink",
    ]
    (operator,) = found.stateful
    assert (operator.keys, operator.functions) == (("cast(s0.value as string)",), ("count(1)",))
    assert (operator.operator_id, operator.watermark_delay) == (0, "10 seconds")
    assert not found.warnings


@pytest.mark.parametrize("scan", SCANS)
def test_a_batch_of_a_newer_source_below_its_sink(scan):
    sink = "WriteToDataSourceV2 org.apache.spark.sql.execution.streaming.MicroBatchWriter@1\n+- "
    found = version_of(COUNT.format(**(DEFAULT | {"source": scan, "sink": sink, "i": "   "})))
    assert [s.format for s in found.sources] == [SCANS[scan]]
    assert not found.warnings


@pytest.mark.parametrize(
    "line",
    [
        "Streaming RelationV2 kafka[key#28, value#29] (Options: [subscribe=t])",
        "StreamingDataSourceV2Relation [key#7, value#8], org.apache.spark.sql.kafka010."
        'KafkaSourceProvider$KafkaScan@56bd, KafkaV2[Subscribe[t]], {"t":{"0":13}}, {"t":{"0":14}}',
    ],
)
def test_a_logical_source(line):
    found = version_of(f"== Optimized Logical Plan ==\nProject [value#8]\n+- {line}\n")
    assert [s.format for s in found.sources] == ["kafka"]
