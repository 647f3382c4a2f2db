"""Turn a printed plan into relations: physical idioms fold into the operator that they serve."""

from __future__ import annotations

from dataclasses import replace

from headgate.parse.spark.explain.printed_plan import Plan, PlanNode
from headgate.parse.spark.operators import logical, physical
from headgate.parse.spark.operators.builder import Below, Builder, Lowering
from headgate.parse.spark.operators.relation import Query, Relation, reached
from headgate.parse.spark.operators.scans import leaf, with_range_columns
from headgate.parse.spark.operators.subqueries import filtered_by_subqueries, note_tables

# Definitions that name each other twice double with each: what is beyond stays a reference.
_MOST = 20_000


def with_ctes_in_place(plan: Plan) -> Plan:
    """Return the plan with each `CTERelationRef` above a copy of its definition.

    `WithCTE` has the definitions first and the query last. A reference to none stays a leaf.
    """
    if not any(n.name == "WithCTE" for n in plan.nodes):
        return plan
    definitions = {
        node.detail.partition(",")[0].strip(): node.children[0]
        for node in plan.nodes
        if node.name == "CTERelationDef" and node.children
    }
    nodes: list[PlanNode] = []
    parents: list[list[int]] = []
    stack: list[tuple[int, int | None, frozenset[str]]] = [(0, None, frozenset())]
    while stack:
        index, parent, within = stack.pop()
        node = plan.nodes[index]
        if node.name == "WithCTE" and node.children:
            stack.append((node.children[-1], parent, within))
            continue
        if parent is not None:
            parents[parent].append(len(nodes))
        below, inside = list(node.children), within
        name = node.detail.partition(",")[0].strip()
        is_known = node.name == "CTERelationRef" and name in definitions
        if is_known and name not in within and len(nodes) < _MOST:
            below, inside = [definitions[name]], within | {name}
        stack.extend((child, len(nodes), inside) for child in reversed(below))
        nodes.append(node)
        parents.append([])
    placed = (replace(n, children=tuple(c)) for n, c in zip(nodes, parents, strict=True))
    cut = (
        (
            "the graph lacks a part of the WITH definitions: with all of them, the query plan "
            f"would have more than {_MOST:,} operators"
        ),
    )
    warnings = (*plan.warnings, *(cut if len(nodes) >= _MOST else ()))
    return replace(plan, nodes=tuple(placed), warnings=warnings)


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
        "PipeOperator",
        "View",
        "ResolvedHint",
        "LocalLimit",
        "StreamingLocalLimit",
        "ReturnAnswer",
        "Subquery",
        "SessionWindowStateStoreRestore",
        "UpdatingSessions",
        "CollectLimit",
        "TableCacheQueryStage",
        "InMemoryTableScan",
        "PlanLater",
        "WindowGroupLimit",
        "SubqueryBroadcast",
        "ReusedSubquery",
        "ReusedExchange",
        "ReusedQueryStage",
        "UnresolvedHint",
    ]
)
LOWERINGS: dict[str, Lowering] = {**logical.LOWERINGS, **physical.LOWERINGS}


def lower(plan: Plan) -> Query:
    """Return the query of one plan; operators of no known name become `unknown` relations."""
    plan = with_ctes_in_place(plan)
    builder = Builder(plan.form)
    done: dict[int, Below] = {}
    for index, node in plan.upwards():
        inputs = [done.pop(child) for child in node.children]
        done[index] = _lower_node(node, inputs, builder)
    root = builder.settle(done[0]).relation if 0 in done else -1
    return Query(
        form=plan.form,
        relations=_distinguished(with_range_columns(reached(builder.relations, root)), plan),
        sink=builder.sink,
        warnings=(*plan.warnings, *builder.warnings),
    )


def _distinguished(relations: tuple[Relation, ...], plan: Plan) -> tuple[Relation, ...]:
    """Before its start every stream of a physical plan is a `StreamingRelation`: scans are not."""
    if not plan.is_physical or not any(n.name == "StreamingRelation" for n in plan.nodes):
        return relations
    return tuple(
        replace(r, streaming=False, kind="static")
        if r.kind == "source" and r.streaming is None
        else r
        for r in relations
    )


def _lower_node(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    if not inputs and node.name not in _WITH_INPUTS:
        return builder.add(leaf(node, builder.form))
    inputs = [*inputs, *_missing(node, inputs, builder)]
    own = inputs[-_arity(node, len(inputs)) :]
    subqueries = inputs[: len(inputs) - len(own)]
    if node.name in TRANSPARENT and len(own) == 1:
        return own[0]
    if node.name == "LateralJoin":
        return LOWERINGS[node.name](node, inputs, builder)
    if subqueries and node.name == "Filter":
        return filtered_by_subqueries(node, subqueries, own[0], builder)
    known = LOWERINGS.get(node.name, logical.unknown)
    if node.name.endswith(_JOINS) and len(own) != 2:
        known = logical.unknown
    lowered = known(node, own, builder)
    note_tables(lowered, subqueries, builder)
    return lowered


_JOINS = ("Join", "CartesianProduct")
_LEAVES_TOO = {
    "ReusedExchange",
    "ReusedQueryStage",
    "InMemoryRelation",
    "InMemoryTableScan",
    "CTERelationRef",
    "PlanLater",
}
_WITH_INPUTS = (LOWERINGS.keys() | TRANSPARENT) - _LEAVES_TOO


def _missing(node: PlanNode, inputs: list[Below], builder: Builder) -> list[Below]:
    """Return what stands for inputs that a cut plan lacks: never a source that nobody named."""
    given = len(inputs)
    if given > 1:
        return []
    wanted = 2 if node.name.endswith(_JOINS) and node.name in LOWERINGS else 1
    if given >= wanted:
        return []
    builder.warnings.append(f"line {node.line}: an input of {node.name} is missing")
    absent = Relation(kind="unknown", name=MISSING, line=node.line)
    return [builder.add(absent) for _ in range(wanted - given)]


def _arity(node: PlanNode, given: int) -> int:
    """Return how many children are inputs; subqueries, which come before them, are none.

    Operators of no known name keep all that they have.
    """
    most = _TAKES.get(node.name, given)
    return most if most < given else given


_TWO = ("Join", "CartesianProduct", "CoGroup", "InPandas", "InArrow", "InPySpark")
_MANY = frozenset(
    (
        "Union",
        "SequentialStreamingUnion",
        "FlatMapGroupsInPandasWithState",
        "FlatMapGroupsWithState",
        "TransformWithState",
    )
)
_TAKES = {
    name: 2 if name.endswith(_TWO) else 1 for name in (LOWERINGS.keys() | TRANSPARENT) - _MANY
}
