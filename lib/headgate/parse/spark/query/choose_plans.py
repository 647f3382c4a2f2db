"""Find out which printed plans are of one query, and choose those of the query that is meant.

Plans before a query's start carry no name, and equal attribute numbers aren't evidence: two queries
may read one DataFrame. Plans that name different queries or checkpoints are of different queries.
So are two whole ones of one form with other operators, keys or filters, and two of different forms
from before a start with other operators. All others complete each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from headgate.errors import QueryChoiceError
from headgate.parse.spark.explain.printed_plan import PHYSICAL, Plan
from headgate.parse.spark.explain.query_identity import Identity, identity_of
from headgate.parse.spark.expression.term import Term
from headgate.parse.spark.operators.canonical import SINK, Anchor
from headgate.parse.spark.operators.plan_forms import shapes

_NUMBERS = re.compile(
    r"#\d+|plan_id=\d+|\bver = \d+|runId = [0-9a-f-]+|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\$\$Lambda\S*"
)
_DIGITS = re.compile(r"\d+")
_IS_OF_A_SOURCE = re.compile(r"^(?!.*(?:isnotnull|\bop\d+\.)).*\bs\d+\.", re.S)
_MOST_LISTED = 20
_OF_A_SOURCE = re.compile(r"^s\d+\.(?P<name>.+)$", re.S)
_SAME = {"static": "source", "static_join": "join", "stream_join": "join"}


@dataclass(frozen=True, slots=True)
class Printed:
    """The plans that one `explain` printed, or one plan's JSON, and the path of their file."""

    plans: tuple[Plan, ...]
    path: str

    @property
    def location(self) -> str:
        """Where it begins."""
        return f"{self.path}:{self.plans[0].line}"


def printed(plans: Sequence[Plan], path: str) -> list[Printed]:
    """Return the prints in one file, in their order."""
    groups = groupby(plans, key=lambda plan: plan.printed)
    return [Printed(tuple(group), path) for _, group in groups]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The plans of one query, what they call it, and what was left out."""

    plans: tuple[Plan, ...] = ()
    identity: Identity = Identity()
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Group:
    """Prints of one query in their order; `meanings` are those of their whole shapes."""

    identity: Identity
    prints: list[Printed]
    meanings: list[Any] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


def choose_plans(
    prints: Sequence[Printed], query: str | None = None, others: frozenset[str] = frozenset()
) -> Chosen:
    """Return the plans of one query; EvidenceError where they are of several.

    `query` is a name, an id, or `plan-2` for the second query of those that the error lists.
    `others` are the names and ids that other pieces of the evidence have.
    """
    if not prints:
        return Chosen()
    if len(prints) == 1 and query is None:
        return Chosen(prints[0].plans, identity_of(prints[0].plans))
    groups = _grouped(prints)
    known = groups[0].identity
    single = len(groups) == 1 and (not (known.name or known.query_id) or query in (None, *others))
    group = groups[0] if single else _meant(groups, query, others)
    plans, warnings = _newest(group)
    return Chosen(plans, group.identity, warnings)


def _grouped(prints: Sequence[Printed]) -> list[_Group]:
    """Put prints together; a print that was seen already, but for its numbers, is left out."""
    groups: list[_Group] = []
    known: dict[int, _Group] = {}
    for found in prints:
        key = hash(tuple(_normal(found.plans)))
        identity = identity_of(found.plans)
        same = known.get(key)
        if same is not None and same.identity.agrees(identity) is not False:
            continue
        meaning = _meaning(found)
        group = next((g for g in groups if _belongs(g, identity, meaning)), None)
        if group is None:
            group = _Group(identity, [])
            groups.append(group)
        group.identity = group.identity.joined(identity)
        group.prints.append(found)
        group.meanings.append(meaning)
        known[key] = group
    return groups


def _normal(plans: Sequence[Plan]) -> Iterator[str]:
    for plan in plans:
        yield plan.form
        for node in plan.nodes:
            yield node.name
            yield _NUMBERS.sub("#", node.detail)
            yield from (_NUMBERS.sub("#", value) for value in node.fields.values())


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a print's physical plan shows, or its last logical one: kinds of operators, and keys.

    A lone scan doesn't show whether it streams, nor a join whether it keeps state.
    """

    operators: tuple[tuple[str, ...], ...]
    steps: tuple[str, ...]
    form: str
    is_whole: bool
    is_started: bool

    def differs(self, other: _Meaning) -> bool:
        """Whether both can't be of one query, as far as they are whole.

        A batch without data from one source is planned without it, and every form writes some
        things its own way: of two forms only those from before the start are compared.
        """
        if not (self.is_whole and other.is_whole):
            return False
        if self.form == other.form:
            return (self.operators, self.steps) != (other.operators, other.steps)
        same = (self.form in PHYSICAL) == (other.form in PHYSICAL)
        comparable = same and not (self.is_started or other.is_started)
        return comparable and self.words != other.words

    @property
    def words(self) -> tuple[str, ...]:
        """Only the operators: forms say keys differently."""
        return tuple(word for word, *_ in self.operators)


def _meaning(found: Printed) -> _Meaning:
    plan = found.plans[-1]
    (seen,) = shapes((plan,))
    query = seen.resolved.query
    anchors = [a for a in seen.anchors.values() if a.word != SINK]
    unknown = any(a.word == "unknown" for a in anchors)
    return _Meaning(
        operators=tuple(sorted(_fact(a) for a in anchors)),
        steps=tuple(sorted(step for a in seen.anchors.values() for step in _steps(a))),
        form=plan.form,
        is_whole=plan.is_whole and not (query.hides_sources or query.has_empty_batch or unknown),
        is_started=not any(n.name.startswith("StreamingRelation") for n in plan.nodes),
    )


def _fact(anchor: Anchor) -> tuple[str, ...]:
    keys = (*anchor.facts.keys, *anchor.facts.right_keys)
    names = sorted({name for key in keys for name in _columns(key)})
    return (_SAME.get(anchor.word, anchor.word), *names)


def _steps(anchor: Anchor) -> Iterator[str]:
    """Yield filters on sources and the user's repartitions; numbers may be a batch's time."""
    for inlet in anchor.inlets:
        yield from (_DIGITS.sub("0", f) for f in inlet.filters if _IS_OF_A_SOURCE.search(f))
        yield from (f"exchange {len(e.keys)} {e.partitions}" for e in inlet.wanted)


def _columns(found: Term) -> Iterator[str]:
    stack = [found]
    while stack:
        term = stack.pop()
        if term.kind == "attribute" and (match := _OF_A_SOURCE.match(term.name)):
            yield match["name"]
        stack.extend(term.args)


def _belongs(group: _Group, identity: Identity, meaning: _Meaning) -> bool:
    agrees = group.identity.agrees(identity)
    if agrees is not None:
        return agrees
    return not any(m.differs(meaning) for m in group.meanings)


def _meant(groups: Sequence[_Group], query: str | None, others: frozenset[str]) -> _Group:
    if query is not None:
        for number, group in enumerate(groups, 1):
            if query in (group.identity.query_id, group.identity.name, f"plan-{number}"):
                return group
    names = [_label(n, g) for n, g in enumerate(groups, 1)]
    listed = names[:_MOST_LISTED]
    if more := len(names) - len(listed):
        listed.append(f"and {more} more")
    if query is None or query in others:
        exception = "" if query is None else f", but none with the name or id {query}"
        count = "1 query" if len(groups) == 1 else f"{len(groups)} queries"
        plans = f"the evidence has query plans of {count}{exception}"
        sentence = f"{plans}: choose one with --query"
        raise QueryChoiceError(sentence, listed, of_plans=True)
    sentence = f"the evidence has no query {query!r}, only query plans of"
    raise QueryChoiceError(sentence, listed, of_plans=True)


def _label(number: int, group: _Group) -> str:
    first = group.prints[0]
    identity = group.identity
    called = identity.name or identity.query_id or f"plan-{number}"
    plan = first.plans[-1]
    what = ", ".join(dict.fromkeys(n.name for n in plan.nodes[:1] + plan.nodes[-1:]))
    return f"{called} ({first.location}, {what})"


def _newest(group: _Group) -> tuple[tuple[Plan, ...], tuple[str, ...]]:
    """Return the plans that go with the last print, and say that others were left out."""
    last = group.meanings[-1]
    kept: list[Printed] = []
    left: list[Printed] = []
    for found, meaning in zip(group.prints, group.meanings, strict=True):
        (left if _changed(meaning, last) else kept).append(found)
    plans = tuple(plan for found in kept for plan in found.plans)
    if not left:
        return plans, ()
    locations = ", ".join(f"{p.location}" for p in left[:5])
    more = f" and {len(left) - 5} more" if len(left) > 5 else ""
    return plans, (
        "the evidence has several different query plans of this query. Headgate uses only the "
        f"last one and ignores those at {locations}{more}",
    )


def _changed(earlier: _Meaning, last: _Meaning) -> bool:
    """Whether one query was planned otherwise before."""
    return earlier.form == last.form and earlier.differs(last)
