"""Turn a printed plan into relations: physical idioms fold into the operator that they serve."""

from __future__ import annotations

from headgate.parse.spark import logical, physical
from headgate.parse.spark.builder import Below, Builder, Lowering
from headgate.parse.spark.leaves import leaf
from headgate.parse.spark.plan import Plan, PlanNode
from headgate.parse.spark.relation import Query, Relation

MISSING = "(missing)"
TRANSPARENT = frozenset(
    [
        "AdaptiveSparkPlan",
        "ResultQueryStage",
        "ShuffleQueryStage",
        "BroadcastQueryStage",
        "AQEShuffleRead",
        "InputAdapter",
        "WholeStageCodegen",
        "ColumnarToRow",
        "BroadcastExchange",
        "SubqueryAlias",
        "View",
        "ResolvedHint",
        "LocalLimit",
        "StreamingLocalLimit",
        "ReturnAnswer",
        "Subquery",
        "StateStoreRestore",
        "SessionWindowStateStoreRestore",
        "UpdatingSessions",
        "StateStoreRestoreExec",
        "CollectMetrics",
        "CollectLimit",
        "TableQueryStage",
        "ReusedExchange",
        "ReusedQueryStage",
        "UnresolvedHint",
    ]
)
LOWERINGS: dict[str, Lowering] = {**logical.LOWERINGS, **physical.LOWERINGS}


def lower(plan: Plan) -> Query:
    """Return the query of one plan; operators of no known name become `unknown` relations."""
    builder = Builder(plan.form)
    done: dict[int, Below] = {}
    for index, node in plan.upwards():
        inputs = [done.pop(child) for child in node.children]
        done[index] = _lower_node(node, inputs, builder)
    if 0 in done:
        builder.settle(done[0])
    return Query(
        form=plan.form,
        relations=tuple(builder.relations),
        sink=builder.sink,
        warnings=(*plan.warnings, *builder.warnings),
    )


def _lower_node(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    if not inputs and node.name not in _WITH_INPUTS:
        return builder.add(leaf(node, builder.form))
    inputs = [*inputs, *_missing(node, inputs, builder)]
    if node.name in TRANSPARENT and len(inputs) == 1:
        return inputs[0]
    known = LOWERINGS.get(node.name, logical.unknown)
    if node.name.endswith(_JOINS) and len(inputs) != 2:
        known = logical.unknown
    return known(node, inputs, builder)


_JOINS = ("Join", "CartesianProduct")
_WITH_INPUTS = (LOWERINGS.keys() | TRANSPARENT) - {"ReusedExchange", "ReusedQueryStage"}


def _missing(node: PlanNode, inputs: list[Below], builder: Builder) -> list[Below]:
    """Return what stands for inputs that a cut plan lacks: never a source that nobody named."""
    wanted = 2 if node.name.endswith(_JOINS) and node.name in LOWERINGS else 1
    if len(inputs) >= wanted:
        return []
    builder.warnings.append(f"line {node.line}: an input of {node.name} is missing")
    absent = Relation(kind="unknown", name=MISSING, line=node.line)
    return [builder.add(absent) for _ in range(wanted - len(inputs))]
