"""Make one union of unions of unions, as the optimiser does."""

from __future__ import annotations

from dataclasses import replace

from headgate.parse.spark.operators.relation import Query, Relation


def flatten(query: Query) -> Query:
    """Return the query with every union that feeds a union directly taken into it."""
    done: list[Relation] = []
    for relation in query.relations:
        if relation.kind == "union":
            inputs = [i for index in relation.inputs for i in _branches(index, done)]
            exchanges = relation.exchanges if len(inputs) == len(relation.inputs) else ()
            relation = replace(relation, inputs=tuple(inputs), exchanges=exchanges)
        done.append(relation)
    return replace(query, relations=tuple(done))


def _branches(index: int, done: list[Relation]) -> tuple[int, ...]:
    """Return the inputs that stand for one branch; a projection that changes nothing is passed."""
    relation = done[index]
    if relation.kind == "project" and done[relation.inputs[0]].kind == "union":
        below = done[relation.inputs[0]]
        same = [c.id for c in relation.outputs] == [c.id for c in below.outputs]
        return below.inputs if same else (index,)
    return relation.inputs if relation.kind == "union" else (index,)
