"""From text or JSON to the canonical shape of every form that it holds."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.parse.spark.anchors import Shape, shape
from headgate.parse.spark.flatten import flatten
from headgate.parse.spark.lower import lower
from headgate.parse.spark.plan import Plan
from headgate.parse.spark.relation import Query
from headgate.parse.spark.resolve import resolve
from headgate.parse.spark.sections import split_sections
from headgate.parse.spark.streaming import settle_streaming, streaming_attributes
from headgate.parse.spark.tree import read_section

_KNOWING_FIRST = ("json", "analyzed", "formatted", "parsed", "optimized", "physical")


def read_plans(text: str) -> tuple[Plan, ...]:
    """Return every plan in explain text, in its order; none where it is something else.

    Of several `codegen` subtrees the largest is the plan.
    """
    plans = [p for s in split_sections(text) if (p := read_section(s)) is not None]
    best: dict[str, Plan] = {}
    for plan in plans:
        if plan.form not in best or len(plan.nodes) > len(best[plan.form].nodes):
            best[plan.form] = plan
    return tuple(best.values())


def shapes(plans: Sequence[Plan]) -> tuple[Shape, ...]:
    """Return the shape of each plan; what one form knows of a leaf serves the others."""
    queries = {i: flatten(lower(p)) for i, p in enumerate(plans)}
    order = sorted(queries, key=lambda i: _KNOWING_FIRST.index(queries[i].form))
    known: dict[int, bool] = {}
    settled: dict[int, Query] = {}
    for i in order:
        settled[i] = settle_streaming(queries[i], known)
        known = {**streaming_attributes(settled[i]), **known}
    return tuple(shape(resolve(settled[i])) for i in sorted(settled))
