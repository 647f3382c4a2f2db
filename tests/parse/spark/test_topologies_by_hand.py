"""What representative queries look like, written from the queries (`golden/spark/making`)."""

from collections import Counter
from itertools import pairwise

import pytest

from headgate.usecases.evidence.read_version import read_version
from support.spark_golden import ROOT

# By query: what flows into what, upstream first, by operator. A store hangs on its operator.
EXPECTED = {
    "source_json": ["json > filter > project > parquet"],
    "source_kafka_subscribe": ["kafka > project > kafka"],
    "aggregate_by_key": [
        "json > exchange > aggregate > foreachBatch",
        "aggregate > state_store",
    ],
    "aggregate_rollup": [
        "json > expand > exchange > aggregate > foreachBatch",
        "aggregate > state_store",
    ],
    "aggregate_sorted": [
        "json > exchange > aggregate > exchange > sort > foreachBatch",
        "aggregate > state_store",
    ],
    "deduplicate_within_watermark": [
        "json > watermark > exchange > deduplicate_within_watermark > foreachBatch",
        "deduplicate_within_watermark > state_store",
    ],
    "stream_join_left": [
        "json > watermark > exchange > stream_join > foreachBatch",
        "json > filter > watermark > filter > exchange > stream_join",
        *["stream_join > state_store"] * 4,
    ],
    "static_join_broadcast": [
        "json > filter > static_join > foreachBatch",
        "json > filter > static_join",
    ],
    "static_side_aggregate": [
        "json > filter > static_join > foreachBatch",
        "json > filter > exchange > aggregate > static_join",
    ],
    "union_two": ["json > union > foreachBatch", "json > union"],
    "generate_explode": ["json > generate > foreachBatch"],
    "repartition_by_key": ["json > exchange > foreachBatch"],
    "coalesce_one": ["json > coalesce > foreachBatch"],
    "limit_five": ["json > exchange > limit > foreachBatch", "limit > state_store"],
    "map_in_pandas": ["json > map_in_pandas > foreachBatch"],
    "subquery_in": [
        "json > static_join > foreachBatch",
        "json > filter > static_join",
    ],
    "flat_map_groups_with_state": [
        "json > project > exchange > map_groups > foreachBatch",
        "map_groups > state_store",
    ],
    "trigger_continuous": ["rate > filter > project > console"],
    "trigger_real_time": ["kafka > project > kafka"],
}
KINDS = {
    "exchange": "repartition",
    "state_store": "state_store",
    **dict.fromkeys(("json", "rate"), "source"),
    **dict.fromkeys(("parquet", "foreachBatch", "console"), "sink"),
}


def pairs(chains):
    """Return the edges of chains `a > b > c`, by operator."""
    words = [chain.split(" > ") for chain in chains]
    return Counter(pair for chain in words for pair in pairwise(chain))


@pytest.mark.parametrize("side", ["capture", "run"])
@pytest.mark.parametrize("query", EXPECTED)
def test_topology_is_as_the_query_was_written(query, side):
    graph = read_version([str(ROOT / "4.2.0" / query / side)]).topology
    word = {n.id: n.operator for n in graph.nodes}
    assert Counter((word[e.source], word[e.target]) for e in graph.edges) == pairs(EXPECTED[query])
    for node in graph.nodes:
        if node.operator != "kafka":
            assert node.kind.value == KINDS.get(node.operator, "transform")


def details(query, operator, side="run"):
    graph = read_version([str(ROOT / "4.2.0" / query / side)]).topology
    return next(n.details for n in graph.nodes if operator in (n.operator, n.id))


FACTS = [
    # query, operator, facts as the query has them
    ("aggregate_filter_clause", "aggregate", {"keys": ["s0.k"]}),
    ("aggregate_sorted", "sort", {"orders": ["op0.count(1) DESC"]}),
    ("aggregate_top_two", "limit", {"limit": "2"}),
    ("deduplicate_keys", "deduplicate", {"keys": ["s0.k", "s0.d"]}),
    ("limit_five", "limit", {"limit": "5"}),
    ("window_session", "session_aggregate", {"window": "30 seconds", "window_column": "s0.ts"}),
    (
        "window_sliding",
        "aggregate",
        {"window": 60_000_000, "slide": 30_000_000, "watermark_delay": "10 seconds"},
    ),
    ("stream_join_right", "stream_join", {"join_type": "RightOuter", "keys": ["s0.k"]}),
    ("stream_join_full", "stream_join", {"join_type": "FullOuter", "right_keys": ["s1.k"]}),
    ("stream_join_semi", "stream_join", {"join_type": "LeftSemi"}),
    ("static_join_anti", "static_join", {"join_type": "LeftAnti"}),
    ("generate_posexplode_outer", "generate", {"columns": ["at", "word"], "outer": True}),
    ("python_udtf", "generate", {"function": "words(s0.d)", "columns": ["word", "size"]}),
    ("unpivot", "expand", {"projections": ["[v, s0.v]", "[w, (s0.v * 2)]"]}),
    ("static_side_window", "window", {"functions": ["row_number()"], "keys": ["static0.k"]}),
    ("map_in_pandas", "map_in_pandas", {"function": "doubled", "columns": ["k", "v"]}),
    ("map_in_arrow", "map_in_arrow", {"function": "as_arrow"}),
    ("apply_in_pandas", "flat_map_groups_in_pandas", {"function": "first_rows", "keys": ["s0.k"]}),
    ("python_udf", "project", {"columns": {"w": "twice(s0.v)"}, "user_functions": ["twice"]}),
    ("pandas_udf", "project", {"columns": {"w": "halved(s0.v)"}, "user_functions": ["halved"]}),
    ("rdd_script", "script", {"function": "cat", "columns": ["k", "v"]}),
    ("observe_metrics", "observe", {"name": "seen", "functions": ["count(1)"]}),
    ("repartition_by_key", "exchange", {"partitions": 3, "required": False}),
    ("coalesce_one", "coalesce", {"partitions": 1}),
    (
        "apply_in_pandas_with_state",
        "map_groups",
        {
            "function": "counted",
            "timeout": "ProcessingTimeTimeout",
            "state_type": [{"name": "n", "type": "LongType"}],
            "columns": ["k", "n"],
        },
    ),
    (
        "transform_with_state_pandas",
        "transform_with_state",
        {
            "time_mode": "ProcessingTime",
            "interface": "pandas",
            "timers": "processing time",
            "variables": {
                "total": {"type": "ValueState", "ttl": True},
                "seen": {"type": "ListState", "ttl": False},
                "times": {"type": "MapState", "ttl": False},
            },
        },
    ),
    (
        "transform_with_state_event_time",
        "transform_with_state",
        {"time_mode": "EventTime", "interface": "row", "timers": "event time"},
    ),
    ("transform_with_state_typed", "transform_with_state", {"function": "golden.Typed$Counter"}),
    ("subquery_scalar", "filter", {"subquery_reads": ["json"]}),
    ("sink_foreach_batch", "foreachBatch", {"function": "save_batch", "output_mode": "Append"}),
    ("sink_foreach", "foreach", {"function": "RowWriter"}),
    ("sink_table", "parquet", {"target": "totals"}),
    ("sink_file_partitioned", "sink", {"partition_by": ["k"]}),
    ("source_kafka_pattern", "kafka", {"pattern": "(orders|returns)"}),
    ("source_kafka_assign", "kafka", {"topics": ["orders"]}),
]


@pytest.mark.parametrize(("query", "operator", "facts"), FACTS, ids=lambda v: str(v)[:40])
def test_details_are_as_the_query_was_written(query, operator, facts):
    found = details(query, operator)
    assert {k: found.get(k) for k in facts} == facts


def test_a_filter_clause_is_kept_by_the_final_aggregation():
    functions = details("aggregate_filter_clause", "aggregate")["functions"]
    assert "count(1) FILTER (WHERE (s0.v > 1))" in functions


def test_filters_that_nobody_wrote_say_so():
    assert details("static_join_broadcast", "filter")["inferred"] is True
    assert "inferred" not in details("source_json", "filter")
