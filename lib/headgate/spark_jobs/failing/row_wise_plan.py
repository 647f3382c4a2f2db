"""The parts of a logical plan that work on one record of Kafka after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.spark_reflection import companion, elements, kind_of, option

BEGINS = "headgate.begins"
"""Option with the original `startingOffsets` of a Kafka source that replaces a stream."""
# What these give for a record doesn't depend on any other record.
_ROW_WISE = frozenset(
    {
        *("Project", "Filter", "SubqueryAlias", "EventTimeWatermark", "CollectMetrics"),
        *("UpdateEventTimeWatermarkColumn", "Generate", "Expand", "Union", "View", "ResolvedHint"),
        *("Repartition", "RepartitionByExpression", "RebalancePartitions", "TypedFilter"),
        *("DeserializeToObject", "SerializeFromObject", "MapElements", "MapPartitions"),
        *("MapInPandas", "MapInArrow", "PythonMapInArrow", "Join"),
    }
)


# What leaves records out for others, or puts them in another order, and adds nothing to them.
_BETWEEN_RECORDS = frozenset(
    {"Deduplicate", "DeduplicateWithinWatermark", "Distinct", "Sort", "GlobalLimit", "LocalLimit"}
)


def without_deduplication(spark: Any, plan: Any) -> Any:
    """Return the plan without operators that choose records: what follows sees each record.

    A record that such an operator left out for an equal one could fail all the same.
    """
    children = elements(plan.children())
    if kind_of(plan) in _BETWEEN_RECORDS:
        return without_deduplication(spark, children[0])
    rebuilt = [without_deduplication(spark, child) for child in children]
    if all(new is old for new, old in zip(rebuilt, children, strict=True)):
        return plan
    return plan.withNewChildren(spark._jvm.PythonUtils.toSeq(rebuilt))


def row_wise(spark: Any, plan: Any) -> list[Any]:
    """Return the largest parts of an analyzed plan that work record by record.

    CaptureError if the records of several Kafka sources are joined: no record of one of them shows
    what the join gives.
    """
    _, parts = _split(spark, plan)
    return parts


def _split(spark: Any, plan: Any) -> tuple[bool, list[Any]]:
    """Return whether a plan with a Kafka source is row-wise as a whole, and its row-wise parts."""
    kind = kind_of(plan)
    fed = [child for child in elements(plan.children()) if kafka_leaves(child)]
    if not fed:
        return True, [plan]
    if kind == "Join" and len(fed) > 1:
        raise CaptureError(
            "the query joins records of two Kafka sources, so Headgate can't find the failing "
            "records. Omit --failing-to in the plan, or --failing if you started this program "
            "yourself"
        )
    below = [_split(spark, child) for child in fed]
    if kind in _ROW_WISE and all(is_whole for is_whole, _ in below):
        return True, [plan]
    if kind in _ROW_WISE:
        return False, [part for _, parts in below for part in parts]
    found: list[Any] = []
    for child, (is_whole, parts) in zip(fed, below, strict=True):
        found += [_taken_of(spark, plan, child)] if is_whole else parts
    return False, found


def _taken_of(spark: Any, plan: Any, child: Any) -> Any:
    """Return the plan of what an operator takes from each record of its input."""
    if kind_of(plan) != "Aggregate":
        return child
    taken = list(_taken(plan))
    return _selected(spark, child, taken) if taken else child


def _taken(aggregate: Any) -> Iterator[Any]:
    """Yield what an aggregation computes of each record: its groups, and its functions' input."""
    yield from elements(aggregate.groupingExpressions())
    for expression in elements(aggregate.aggregateExpressions()):
        yield from _function_inputs(expression)


def _function_inputs(expression: Any) -> Iterator[Any]:
    kind = kind_of(expression)
    if kind == "AggregateExpression":
        yield from elements(expression.aggregateFunction().children())
        if (condition := option(expression.filter())) is not None:
            yield condition
    elif kind == "PythonUDAF":
        yield from elements(expression.children())
    else:
        for child in elements(expression.children()):
            yield from _function_inputs(child)


def _selected(spark: Any, child: Any, expressions: list[Any]) -> Any:
    """Return the plan that computes the expressions of each row."""
    jvm = spark._jvm
    dataset = jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, child)
    column = companion(jvm, "org.apache.spark.sql.classic.ExpressionUtils").column
    columns = spark.sparkContext._gateway.new_array(
        jvm.org.apache.spark.sql.Column, len(expressions)
    )
    for number, expression in enumerate(expressions):
        columns[number] = column(expression).alias(f"headgate_{number}")
    return dataset.select(columns).queryExecution().analyzed()


def kafka_leaves(plan: Any) -> list[Any]:
    """Return the Kafka sources of a logical plan that replace a stream."""
    return [
        leaf
        for leaf in elements(plan.collectLeaves())
        if kind_of(leaf) == "DataSourceV2Relation" and leaf.options().containsKey(BEGINS)
    ]
