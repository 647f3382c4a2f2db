"""Put what is computed from a union's columns into its branches, as the optimiser does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from headgate.parse.spark.operators.relation import Column, Query, Relation, reached


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


_ATTRIBUTE = re.compile(r"#(\d{1,18})")
# Attributes that no plan has: each branch makes the columns anew.
_FIRST_OWN = 3_000_000_000


def push_projections(query: Query) -> Query:
    """Return the query with what projections compute above a union computed below it.

    `PushProjectionThroughUnion` does so, and a form from before it shall show the same. Filters
    between the two stay where they are.
    """
    done: list[Relation] = []
    new_index: list[int] = []
    fresh = _FIRST_OWN
    for relation in query.relations:
        inputs = tuple([new_index[i] for i in relation.inputs])
        relinked = relation if inputs == relation.inputs else replace(relation, inputs=inputs)
        way = _way_to_union(relinked, done)
        if way:
            fresh = _push(relinked, way, done, fresh)
        else:
            done.append(relinked)
        new_index.append(len(done) - 1)
    return replace(query, relations=reached(done, len(done) - 1))


def _way_to_union(project: Relation, done: Sequence[Relation]) -> list[int]:
    """Return the filters below a projection and the union below them; nothing where it may stay."""
    if project.kind != "project":
        return []
    way = [project.inputs[0]]
    while done[way[-1]].kind == "filter":
        way.append(done[way[-1]].inputs[0])
    union = done[way[-1]]
    if union.kind != "union" or not any(c.is_computed for c in project.outputs):
        return []
    if any(c.id is None for c in project.outputs):
        return []
    widths = {len(done[i].outputs) for i in union.inputs}
    return way if widths == {len(union.outputs)} else []


def _push(project: Relation, way: list[int], done: list[Relation], fresh: int) -> int:
    """Append the branches' projections and all above them; return the next free attribute."""
    union = done[way[-1]]
    made = [c for c in project.outputs if c.is_computed]
    branches: list[int] = []
    for number, branch in enumerate(union.inputs):
        names = _renamed(union.outputs, done[branch].outputs)
        kept = tuple(replace(c, text=f"{c.name}#{c.id}") for c in done[branch].outputs)
        columns = tuple(_column(c, names) for c in made)
        if number:
            columns = tuple(replace(c, id=fresh + n) for n, c in enumerate(columns))
            fresh += len(columns)
        below = replace(project, inputs=(branch,), outputs=(*kept, *columns), exchanges=())
        done.append(below)
        branches.append(len(done) - 1)
    outputs = (*union.outputs, *done[branches[0]].outputs[len(union.outputs) :])
    done.append(replace(union, inputs=tuple(branches), outputs=outputs, exchanges=()))
    for index in way[-2::-1]:
        done.append(replace(done[index], inputs=(len(done) - 1,), outputs=outputs))
    picks = tuple(replace(c, text=f"{c.name}#{c.id}") if c in made else c for c in project.outputs)
    done.append(replace(project, inputs=(len(done) - 1,), outputs=picks))
    return fresh


def _renamed(outer: Sequence[Column], inner: Sequence[Column]) -> dict[int, int]:
    pairs = zip(outer, inner, strict=True)
    return {o.id: i.id for o, i in pairs if o.id is not None and i.id is not None}


def _column(column: Column, names: dict[int, int]) -> Column:
    def name(match: re.Match[str]) -> str:
        return f"#{names.get(int(match[1]), int(match[1]))}"

    return (
        column if column.text is None else replace(column, text=_ATTRIBUTE.sub(name, column.text))
    )
