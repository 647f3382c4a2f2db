"""From text or JSON to the canonical shape of every form that it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headgate.parse.spark.explain.printed_names import encode_names
from headgate.parse.spark.explain.printed_plan import Plan
from headgate.parse.spark.explain.rows import refusal
from headgate.parse.spark.explain.sections import Section, split_sections
from headgate.parse.spark.explain.tree import read_section
from headgate.parse.spark.operators.canonical import Shape, shape
from headgate.parse.spark.operators.lower_to_relations import lower
from headgate.parse.spark.operators.relation import Query, same_session
from headgate.parse.spark.operators.resolve_columns import resolve
from headgate.parse.spark.operators.streaming import (
    by_folder,
    is_settled,
    settle_streaming,
    streaming_attributes,
)
from headgate.parse.spark.operators.unions import flatten, push_projections
from headgate.parse.spark.operators.without_garbage_collection import uncollected

_KNOWING_FIRST = ("json", "analyzed", "formatted", "parsed", "optimized", "physical", "executed")


@dataclass(frozen=True, slots=True)
class Explained:
    """The plans in explain text, in their order, and the exceptions printed instead of others."""

    plans: tuple[Plan, ...] = ()
    refusals: tuple[str, ...] = ()


@uncollected
def read_explain(text: str) -> Explained:
    """Return what is in explain text; nothing if it is something else.

    Plans that one call of `explain` printed have one number in `printed`: if a form repeats,
    another call begins. Of several `codegen` subtrees the largest is the plan.
    """
    plans: list[Plan] = []
    refusals: dict[str, None] = {}
    for number, sections in enumerate(_prints(split_sections(encode_names(text)))):
        before, empty = len(plans), False
        for section in sections:
            said, plan = refusal(section), None
            if said:
                refusals[said] = None
            elif plan := read_section(section):
                _add(replace(plan, printed=number), plans)
            empty = not (said or plan)
        if len(plans) > before and (gap := _unfinished(sections[-1], empty)):
            last = plans[-1]
            plans[-1] = replace(last, warnings=(*last.warnings, gap))
    return Explained(tuple(plans), tuple(refusals))


def _prints(sections: Sequence[Section]) -> list[list[Section]]:
    """Return the sections of each `explain`."""
    prints: list[list[Section]] = []
    for section in sections:
        if prints and section.continues(prints[-1][-1]):
            prints[-1].append(section)
        else:
            prints.append([section])
    return prints


def _unfinished(last: Section, empty: bool) -> str | None:
    """Say what is missing below the last section of a print: each `explain` ends physically."""
    if empty:
        return f"the explain text is incomplete: nothing follows the {last.form} plan's heading"
    if last.form != "physical":
        return f"the explain text is incomplete: the text ends after the {last.form} plan"
    return None


def _add(plan: Plan, plans: list[Plan]) -> None:
    """Add a plan; of the same form in one print the larger one stays."""
    last = plans[-1] if plans else None
    if last is None or (last.form, last.printed) != (plan.form, plan.printed):
        plans.append(plan)
    elif len(plan.nodes) > len(last.nodes):
        plans[-1] = plan


def read_plans(text: str) -> tuple[Plan, ...]:
    """Return every plan in explain text, in its order; none where it is something else."""
    return read_explain(text).plans


def shapes(plans: Sequence[Plan], streamed: Sequence[str] | None = None) -> tuple[Shape, ...]:
    """Return the shape of each plan; what one form knows of a leaf serves the others.

    `streamed` are the folders that streams read, if all are known: they distinguish the scans of a
    batch if no plan does.
    """
    queries = {i: push_projections(flatten(lower(p))) for i, p in enumerate(plans)}
    made = _with_streams(queries, {})
    if streamed is not None and not all(map(is_settled, made)):
        known = {k: v for q in queries.values() for k, v in by_folder(q, streamed).items()}
        made = _with_streams(queries, known)
    return tuple(shape(resolve(query, _element_fields(query, plans, made))) for query in made)


def _element_fields(
    query: Query, plans: Sequence[Plan], queries: Sequence[Query]
) -> Mapping[int, tuple[str, ...]]:
    """Return the fields of the arrays of structs by attribute, if a form of the session has types.

    Only `inline` needs them: its columns have the names that the user gave them.
    """
    if not any("inline(" in (r.condition or "") for r in query.relations):
        return {}
    typed = [p.types for p, q in zip(plans, queries, strict=True) if same_session(query, q)]
    found = {number: kind.type for types in typed for number, kind in types.items()}
    elements = {n: t.get("elementType") for n, t in found.items() if isinstance(t, dict)}
    return {
        number: tuple(str(f.get("name")) for f in element["fields"] if isinstance(f, dict))
        for number, element in elements.items()
        if isinstance(element, dict) and isinstance(element.get("fields"), list)
    }


def _with_streams(queries: Mapping[int, Query], known: Mapping[int, bool]) -> list[Query]:
    """Return the queries in their order, each leaf known as a stream or as a static relation."""
    order = sorted(queries, key=lambda i: _KNOWING_FIRST.index(queries[i].form))
    decided: dict[int, Query] = {}
    for i in order:
        decided[i] = settle_streaming(queries[i], known)
        known = {**streaming_attributes(decided[i]), **known}
    return [decided[i] for i in sorted(decided)]
