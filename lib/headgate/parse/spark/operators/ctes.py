"""Put what `WITH` names in the places that refer to it."""

from __future__ import annotations

from dataclasses import replace

from headgate.parse.spark.explain.printed_plan import Plan, PlanNode

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
    cut = ("what WITH names is drawn in part: its definitions name each other too often",)
    warnings = (*plan.warnings, *(cut if len(nodes) >= _MOST else ()))
    return replace(plan, nodes=tuple(placed), warnings=warnings)
