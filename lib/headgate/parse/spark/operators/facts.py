"""What one operator does in terms of source columns, and what is known on the way there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from headgate.parse.spark.expression.parse import parse
from headgate.parse.spark.expression.term import Term
from headgate.parse.spark.operators.column_pruning import Needs
from headgate.parse.spark.operators.relation import Column, Query

_VARIABLE = re.compile(r"\blambda \w+#(?P<id>\d{1,18})L?")


@dataclass(frozen=True, slots=True)
class Facts:
    """What one operator does, in terms of source columns and of operators beneath.

    `computed` are columns that are more than a pick, `after` those that an aggregation computes
    from its own results. `sides` are a join's conditions on only one input: its number, the
    condition, the attributes; `stored` are the columns that a join keeps of each input.
    `position` is a source's index among the plan's leaves. `orders` are a sort's or a window's.
    """

    operator_id: int | None = None
    position: int | None = None
    keys: tuple[Term, ...] = ()
    right_keys: tuple[Term, ...] = ()
    functions: tuple[Term, ...] = ()
    conditions: tuple[Term, ...] = ()
    column: Term | None = None
    sides: tuple[tuple[int, Term, frozenset[int]], ...] = ()
    stored: tuple[tuple[Term, ...], ...] = ()
    computed: tuple[tuple[str, Term], ...] = ()
    after: tuple[tuple[str, Term], ...] = ()
    orders: tuple[Term, ...] = ()


@dataclass(slots=True)
class Resolving:
    """What is known on the way from the sources to the sink; `terms` are attributes so far.

    `elements` are the names of the fields of arrays of structs, by attribute.
    """

    query: Query
    needs: Sequence[Needs]
    numbers: Mapping[int, int]
    positions: Mapping[int, int]
    settled: bool = True
    terms: dict[int, Term] = field(default_factory=dict)
    elements: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def look(self, number: int, _name: str) -> Term | None:
        """Return what an attribute means, None where that is not known (yet)."""
        return self.terms.get(number)

    def parse(self, text: str) -> Term:
        """Return an expression with every known attribute put in for its number."""
        return parse(_with_plain_variables(text), self.look)

    def columns(self, index: int) -> tuple[Column, ...]:
        """Return what a relation gives."""
        return self.query.relations[index].outputs


def _with_plain_variables(text: str) -> str:
    """Name the variables of each lambda function by their order: `lambda x_3#12348` becomes `λ1`.

    Spark counts them in each session, and a variable isn't a column whose number could be known.
    Functions within another one share its count; no text of a user looks like such a name.
    """
    if "lambda " not in text:
        return text
    parts, at = [], 0
    for start, end in _outermost(text, "lambdafunction("):
        parts += [text[at:start], _numbered(text[start:end])]
        at = end
    return "".join((*parts, text[at:]))


def _numbered(function: str) -> str:
    numbers: dict[str, int] = {}
    return _VARIABLE.sub(lambda m: f"λ{numbers.setdefault(m['id'], len(numbers) + 1)}", function)


def _outermost(text: str, opening: str) -> Iterator[tuple[int, int]]:
    """Yield where each call that is in no other one of its kind begins and ends."""
    start = text.find(opening)
    while start >= 0:
        depth, end = 0, start + len(opening) - 1
        while end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if not depth:
                break
        yield start, end
        start = text.find(opening, end)


def conjuncts(found: Term) -> tuple[Term, ...]:
    """Return the parts that AND joins, in their order."""
    out: list[Term] = []
    stack = [found]
    while stack:
        current = stack.pop()
        if current.kind == "binary" and current.name == "AND":
            stack.extend((current.args[1], current.args[0]))
        elif current.text:
            out.append(current)
    return tuple(out)


def attribute_ids(found: Term) -> frozenset[int]:
    """Return the numbers of the attributes in an unresolved term."""
    out: set[int] = set()
    stack = [found]
    while stack:
        current = stack.pop()
        if current.id is not None:
            out.add(current.id)
        stack.extend(current.args)
    return frozenset(out)
