"""The keys, functions and results of an aggregation, in terms of source columns."""

from __future__ import annotations

from headgate.parse.spark.expression import aggregate_functions
from headgate.parse.spark.expression.term import Term, term
from headgate.parse.spark.operators.column_pruning import Needs
from headgate.parse.spark.operators.facts import Facts, Resolving
from headgate.parse.spark.operators.relation import Relation


def aggregate_facts(
    relation: Relation, state: Resolving, needs: Needs, number: int | None
) -> Facts:
    """Return an aggregation's facts; its results mean themselves from here on (`op0.sum(s0.v)`)."""
    keys = tuple(map(state.parse, relation.keys))
    made = [
        (c, state.parse(c.text))
        for c in relation.outputs
        if c.text is not None and (c.id in needs or relation.functions)
    ]
    named_keys = {k.text for k in keys}
    given = [state.parse(f) for f in relation.functions]
    found = given or [call for _, t in made for call in _calls(t, named_keys)]
    functions = tuple({f.text: f for f in found}.values())
    bare = named_keys | {f.text for f in functions}
    prefix = "static" if number is None else f"op{number}"
    for new, value in made:
        if new.id is not None:
            of_keys = value.text in named_keys or (
                bool(keys) and _only(value, named_keys) and not aggregate_functions.calls(value)
            )
            made_here = term("attribute", f"{prefix}.{value.text}")
            state.terms[new.id] = value if of_keys else made_here
    for opaque in (c for c in relation.outputs if c.text is None and c.id is not None):
        state.terms[opaque.id or 0] = term("attribute", f"{prefix}.{opaque.name}")
    after = tuple((c.name, t) for c, t in made if t.text not in bare and c.id in needs)
    computed = tuple(
        (k.text, k) for k, text in zip(keys, relation.keys, strict=True) if _key_is_made(text)
    )
    return Facts(operator_id=number, keys=keys, functions=functions, after=after, computed=computed)


def _key_is_made(text: str) -> bool:
    return "(" in text or " " in text.strip()


def _calls(found: Term, keys: set[str]) -> list[Term]:
    """Return the aggregate calls of one result; a function of no known name counts itself."""
    if found.text in keys:
        return []
    calls = aggregate_functions.calls(found)
    return calls or ([found] if found.kind == "call" and not _only(found, keys) else [])


def _only(found: Term, keys: set[str]) -> bool:
    """Whether a term is made only of keys and literals."""
    stack = [found]
    while stack:
        current = stack.pop()
        if current.text in keys:
            continue
        if current.kind == "attribute":
            return False
        stack.extend(current.args)
    return True
