"""No operator is silently generic: each has its own facts in the details of its node.

An operator counts as read when the facts stand there that Spark's own class for it has. The table
is written from those classes' parameters and from Spark's documentation. Folders are the golden
ones and the cases; HEADGATE_CORPUS names further roots (joined by `:`), such as a whole corpus.
`pytest -s` prints the share by operator.
"""

import os
from collections import Counter
from pathlib import Path

import pytest

from headgate.model.topology import NodeKind
from headgate.usecases.evidence.read_version import read_version

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[2]
ROOTS = [TESTS / "golden" / "spark", TESTS / "cases" / "spark"]
ROOTS += [Path(p) for p in os.environ.get("HEADGATE_CORPUS", "").split(":") if p]
FOLDERS = sorted({f.parent for root in ROOTS for f in root.rglob("explain.txt")})

# Every key must be there; of those joined by `|` one. The class of Spark stands behind.
FACTS = {
    "filter": ["conditions"],  # FilterExec(condition, child)
    "project": ["columns"],  # ProjectExec(projectList, child)
    "sort": ["orders"],  # SortExec(sortOrder, global, ...)
    "exchange": ["keys|partitions", "required"],  # ShuffleExchangeExec(outputPartitioning, ...)
    "coalesce": ["partitions"],  # CoalesceExec(numPartitions, child)
    "observe": ["name", "functions"],  # CollectMetricsExec(name, metricExpressions, ...)
    "watermark": [
        "watermark_column",
        "watermark_delay",
    ],  # EventTimeWatermarkExec(.., eventTime, delay)
    "aggregate": ["keys|functions"],  # BaseAggregateExec(groupingExpressions, aggregateExpressions)
    # MergingSessionsExec(..., groupingExpressions, sessionExpression, aggregateExpressions)
    "session_aggregate": ["keys", "functions", "window", "window_column"],
    "deduplicate": ["keys"],  # StreamingDeduplicateExec(keyExpressions, ...)
    "deduplicate_within_watermark": ["keys", "watermark_column", "watermark_delay"],
    # StreamingSymmetricHashJoinExec(leftKeys, rightKeys, joinType, condition, ...)
    "stream_join": ["join_type", "keys|conditions"],
    # BroadcastHashJoinExec(leftKeys, rightKeys, joinType, buildSide, condition, ...); a cross
    # product has neither keys nor a condition
    "static_join": ["join_type"],
    "limit": ["limit"],  # StreamingGlobalLimitExec(streamLimit, ...)
    # FlatMapGroupsInPandasWithStateExec(functionExpr, groupingAttributes, outAttributes,
    # stateType, ..., outputMode, timeoutConf, ...)
    "map_groups": ["keys", "function", "columns", "timeout", "state_type"],
    # TransformWithStateInPySparkExec(functionExpr, groupingAttributes, output, outputMode,
    # timeMode, ...)
    "transform_with_state": ["keys", "function", "columns", "time_mode", "output_mode"],
    "union": ["inputs"],  # UnionExec(children)
    # GenerateExec(generator, requiredChildOutput, outer, generatorOutput, ...)
    "generate": ["function", "columns"],
    "expand": ["projections", "columns"],  # ExpandExec(projections, output, ...)
    "window": [
        "functions",
        "keys|orders",
    ],  # WindowExec(windowExpression, partitionSpec, orderSpec)
    "map_in_pandas": ["function", "columns"],  # MapInPandasExec(func, output, ...)
    "map_in_arrow": ["function", "columns"],
    "map_elements": ["function", "columns"],  # MapElementsExec(func, outputObjAttr, ...)
    "map_partitions": ["function", "columns"],
    # FlatMapGroupsInPandasExec(groupingAttributes, func, output, ...)
    "flat_map_groups_in_pandas": ["keys", "function", "columns"],
    "flat_map_groups_in_arrow": ["keys", "function", "columns"],
    "script": ["function", "columns"],  # SparkScriptTransformationExec(script, output, ...)
    "state_store": ["store", "operator_id"],
}
# A source says where it reads; these have no place of their own.
WITHOUT_PLACE = {"rate", "rate-micro-batch", "memory", "local", "rows", "ExistingRDD", "cache"}


def missing(node, version):
    """Return the facts that a node lacks; None where nothing is known of its operator."""
    found = node.details
    if node.kind is NodeKind.SOURCE:
        known = (
            {"format"}
            if node.operator in WITHOUT_PLACE
            else {"format", "path|topics|pattern|options"}
        )
        return [k for k in known if not set(k.split("|")) & found.keys()]
    if node.kind is NodeKind.SINK:
        # Before its start a plan shows no sink: a capture, a batch's plan or the progress does.
        told = {e.kind for e in version.evidence} & {"capture", "progress", "checkpoint"}
        return ["format"] if told and not version.capture_error and "format" not in found else []
    if node.operator not in FACTS:
        return None
    wanted = list(FACTS[node.operator])
    if node.id in {o.node for o in version.stateful or ()}:
        wanted.append("operator_id")
        if node.operator == "transform_with_state" and any(
            o.stores and o.stores[0].proven for o in version.stateful or ()
        ):
            wanted.append("variables")
    return [k for k in wanted if not set(k.split("|")) & found.keys()]


@pytest.fixture(scope="module")
def read():
    return [(folder, read_version([str(folder)])) for folder in FOLDERS]


def test_every_operator_has_its_own_facts(read, capsys):
    whole, unread, lacking = Counter(), Counter(), []
    for folder, version in read:
        for node in version.topology.nodes:
            word = node.kind.value if node.kind is NodeKind.SOURCE else node.operator
            whole[word] += 1
            lacks = missing(node, version)
            if lacks is None or lacks:
                unread[word] += 1
                lacking.append((folder.parent.name, folder.name, node.operator, lacks))
    with capsys.disabled():
        print(f"\n{len(read)} folders")
        for word, count in sorted(whole.items()):
            print(f"{word:30} {count:5} read {1 - unread[word] / count:7.1%}")
    assert not lacking
    assert "unknown" not in whole


def test_the_table_is_of_operators_that_were_seen(read):
    """Each row is proved by a recording."""
    seen = {n.operator for _, version in read for n in version.topology.nodes}
    assert not FACTS.keys() - seen


def test_stream_joins_show_the_stores_of_both_sides(read):
    four = {
        f"{side}-{store}"
        for side in ("left", "right")
        for store in ("keyToNumValues", "keyWithIndexToValue")
    }
    joins = 0
    for folder, version in read:
        graph = version.topology
        for node in (n for n in graph.nodes if n.operator == "stream_join"):
            joins += 1
            hung = {e.target for e in graph.edges if e.source == node.id}
            stores = {
                n.details["store"]
                for n in graph.nodes
                if n.id in hung and n.operator == "state_store"
            }
            assert stores == four or (stores and "state_format_3" in str(folder)), folder
    assert joins


EXPLAINED = (
    # What the folder itself lacks or says: each is one kind of true sentence.
    "has an unknown format and was not read",  # query.py, for people
    "logged no progress",  # a continuous query reports none
    "logged only query plans of batches without data",  # the one whose last batch is empty
)


def test_warnings_are_few_and_explained(read):
    unexplained = Counter(
        (w, f"{folder.parent.name}/{folder.name}")
        for folder, version in read
        for w in version.warnings
        if not any(known in w for known in EXPLAINED)
    )
    assert not unexplained
