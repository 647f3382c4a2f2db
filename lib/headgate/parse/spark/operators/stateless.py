"""Lower the operators that only work on rows: more, fewer or other rows, and no state."""

from __future__ import annotations

import re
from dataclasses import replace

from headgate.parse.spark.explain.arguments import (
    first_bracket,
    listed,
    named_arguments,
    split,
    whole,
)
from headgate.parse.spark.explain.printed_plan import PlanNode
from headgate.parse.spark.operators.builder import Below, Builder, Lowering, over
from headgate.parse.spark.operators.relation import Column, Exchange, Relation, begins, column

_SNAKE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OF_THIS_JVM = re.compile(r"(?:\$\$Lambda\S*|@[0-9a-f]+)$")
_LAMBDA = re.compile(r"\$\$Lambda\$\d+/0x[0-9a-f]+@[0-9a-f]+")
_ONE_ROW = "OneRowRelation"
# TimeWindow's own name for the column that it adds; another name is given above it.
_WINDOW = "window"
_OUTER = re.compile(r"\bouter\(([^()]*)\)")


def function_name(text: str) -> str:
    """Return what a function is called: without arguments, without what differs in each JVM.

    >>> function_name("golden.Typed$$Lambda$6120/0x00007fc7fe6462e8@16836e25")
    'golden.Typed'
    """
    return _OF_THIS_JVM.sub("", text.split("(")[0].strip()).rstrip("$")


def without_addresses(text: str) -> str:
    """Return an expression without what its Java objects are called in this JVM."""
    return _LAMBDA.sub("", text) if "$$Lambda" in text else text


def expand(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`Expand [[a, b], [c, d]], [x#1, y#2]`: a row for each projection.

    Spark adds one for sliding windows, which nobody wrote: it becomes a projection to the first
    window. A plan's JSON may leave the projections out; then a new column `window` shows it.
    `functions` holds the projections without the columns that are the same in all of them, `keys`
    the names of those that are not.
    """
    parts = split(node.argument())
    rows = [listed(row) for row in listed(parts[0])] if parts else []
    names = [begins(n) for n in listed(parts[1])] if len(parts) > 1 else []
    first = rows[0] if rows else []
    outputs = tuple(
        Column(n.id, n.name, column(t).text or t) for n, t in zip(names, first, strict=False)
    ) or tuple(names)
    differs = [at for at in range(len(first)) if len({r[at] for r in rows if at < len(r)}) > 1]
    projections = tuple(f"[{', '.join(r[at] for at in differs if at < len(r))}]" for r in rows)
    known = {c.id for c in builder.outputs(inputs[0])}
    left_out = not rows and [n.name for n in names if n.id not in known] == [_WINDOW]
    if left_out or any("precisetimestampconversion(" in first[at] for at in differs):
        made = over(node, "project", inputs, builder)
        return builder.add(replace(made, outputs=outputs, extra={"expand": "true"}))
    made = over(node, "expand", inputs, builder)
    named_ = tuple(f"{names[at].name}#{names[at].id}" for at in differs if at < len(names))
    return builder.add(
        replace(made, outputs=outputs or made.outputs, functions=projections, keys=named_)
    )


def generate(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`Generate explode(x#1), [k#2], false, [col#3]`: more rows, and columns more.

    `ArrowEvalPythonUDTF words(d#1)#2, [k#3], [word#4]` is one, too.
    """
    parts = split(node.argument())
    last = listed(next((p for p in parts[::-1] if p.startswith("[")), ""))
    made = over(node, "generate", inputs, builder)
    new = tuple(map(begins, last))
    extra = {"outer": "true"} if "true" in parts[1:] else {}
    call = parts[0] if parts else None
    return builder.add(
        replace(made, outputs=(*made.outputs, *new), condition=call, keys=tuple(last), extra=extra)
    )


def lateral(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`LateralJoin lateral-subquery#1 [d#2], Inner` over only a table function is a generator.

    The subquery comes first; a projection in it names columns, as `explode(a) AS t(c)` does. One
    of only expressions is a projection (`OptimizeOneRowRelationSubquery`). Any other is a join.
    """
    *under, left = inputs
    inner = builder.relations[under[0].relation] if under else None
    named: list[Relation] = []
    while inner is not None and inner.kind == "project" and inner.inputs:
        named.append(inner)
        inner = builder.relations[inner.inputs[0]]
    is_bare = inner is not None and [builder.relations[i].name for i in inner.inputs] == [_ONE_ROW]
    made = over(node, "generate", [left], builder)
    if inner is not None and inner.name == _ONE_ROW and named:
        joined = left
    elif inner is not None and inner.kind == "generate" and is_bare:
        call = _OUTER.sub(r"\1", inner.condition or "")
        joined = builder.add(
            replace(
                made,
                outputs=(*made.outputs, *inner.outputs),
                condition=call,
                keys=inner.keys,
                extra=inner.extra,
            )
        )
    else:
        made = over(node, "join", [left, *under], builder)
        return builder.add(replace(made, join_type=split(node.detail)[-1]))
    for project in reversed(named):
        columns = [replace(c, text=c.text and _OUTER.sub(r"\1", c.text)) for c in project.outputs]
        above = over(node, "project", [joined], builder, (*made.outputs, *columns))
        joined = builder.add(above)
    return joined


def sort(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`Sort [k#1 ASC NULLS FIRST], true`."""
    parts = split(node.argument())
    keys = tuple(listed(parts[0])) if parts else ()
    return builder.add(replace(over(node, "sort", inputs, builder), keys=keys))


def top(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`TakeOrderedAndProject(limit=2, orderBy=[...], output=[...])`: sort, limit and project."""
    found = named_arguments(node.detail)
    parts = split(node.fields.get("Arguments", ""))
    limit, order, output = (
        parts[:3] if len(parts) > 2 else (found.get(k, "") for k in ("limit", "orderBy", "output"))
    )
    sorted_ = builder.add(replace(over(node, "sort", inputs, builder), keys=tuple(listed(order))))
    limited = builder.add(
        replace(over(node, "limit", [sorted_], builder), name="GlobalLimit", extra={"limit": limit})
    )
    columns = tuple(map(column, listed(output)))
    if not any(c.is_computed for c in columns):
        return limited
    return builder.add(replace(over(node, "project", [limited], builder), outputs=columns))


def window(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`Window [rank(...) windowspecdefinition(...) AS r#1], [k#2], [v#3 ASC NULLS FIRST]`."""
    lists = [listed(p) for p in split(node.argument()) if p.startswith("[")]
    calls, keys, order = (*lists, [], [], [])[:3]
    new = tuple(map(column, calls))
    made = over(node, "window", inputs, builder)
    return builder.add(
        replace(
            made,
            outputs=(*made.outputs, *new),
            keys=tuple(keys),
            right_keys=tuple(order),
            functions=tuple(c.text or c.name for c in new),
        )
    )


def map_rows(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """Operators that run a function over rows, or over those of a group: all columns are new.

    `MapInPandas f(k#1), [k#2], false`, `FlatMapGroupsInPandas [k#1], f(k#1)#2, [k#3]`,
    `MapElements golden.Typed$$Lambda..., ..., obj#1: java.lang.Long`.
    """
    parts = split(node.argument())
    lists = [p for p in parts if p.startswith("[")]
    kind = _SNAKE.sub("_", node.name.removeprefix("Python")).lower()
    grouped = bool(parts) and parts[0].startswith("[") and "Group" in node.name
    called = next((p for p in parts if not p.startswith("[")), "")
    objects = [p.partition(": ")[0] for p in parts if re.match(r"^obj#\d+: ", p)]
    outputs = objects or (listed(lists[-1]) if lists else [])
    made = over(node, kind, inputs, builder)
    return builder.add(
        replace(
            made,
            outputs=tuple(map(begins, outputs)) or made.outputs,
            keys=tuple(listed(lists[0])) if grouped else (),
            extra={"function": function_name(called)} if called else {},
        )
    )


def to_objects(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """Between rows and objects: `DeserializeToObject`, `SerializeFromObject`, `AppendColumns`."""
    parts = split(node.argument())
    made = over(node, _SNAKE.sub("_", node.name).lower(), inputs, builder)
    lists = [p for p in parts if p.startswith("[")]
    new = [p.partition(": ")[0] for p in parts if re.match(r"^obj#\d+: ", p)] or (
        listed(lists[-1]) if lists else []
    )
    kept = made.outputs if node.name.startswith("Append") else ()
    return builder.add(replace(made, outputs=(*kept, *map(begins, new))))


def typed_filter(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`TypedFilter golden.Typed$$Lambda..., class scala.Tuple2, ...`: a filter by a function."""
    name = function_name((split(node.argument()) or [""])[0])
    return builder.add(replace(over(node, "filter", inputs, builder), condition=f"{name}()"))


def script(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`ScriptTransformation cat, [k#1], ...`: another program makes the rows."""
    parts = split(node.argument())
    lists = [p for p in parts if p.startswith("[")]
    made = over(node, "script", inputs, builder)
    outputs = tuple(map(begins, listed(lists[0]))) if lists else made.outputs
    extra = {"function": parts[0]} if parts else {}
    return builder.add(replace(made, outputs=outputs, extra=extra))


def observe(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`CollectMetrics seen, [count(1) AS rows#1L], 7`: numbers beside the rows."""
    parts = split(node.argument())
    lists = [p for p in parts if p.startswith("[")]
    calls = tuple(listed(lists[0])) if lists else ()
    made = over(node, "observe", inputs, builder)
    return builder.add(replace(made, functions=calls, extra={"name": parts[0] if parts else ""}))


def coalesce(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`Coalesce 1` and `Repartition 1, false`: fewer partitions, no shuffle."""
    parts = split(node.argument())
    count = next((n for n in map(whole, parts) if n is not None), None)
    made = Exchange(keys=(), partitions=count, required=False, shuffles=False)
    return builder.add(replace(over(node, "exchange", inputs, builder), exchanges=(made,)))


def cached(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`InMemoryRelation [k#1, v#2], ...` names the columns of what was cached, in its order."""
    _, columns, _ = first_bracket(node.fields.get("Arguments", node.detail))
    names = [begins(c) for c in split(node.fields.get("Output", "").strip("[]") or columns)]
    below = builder.outputs(inputs[0])
    if [n.id for n in names] == [c.id for c in below] or len(names) != len(below):
        return inputs[0]
    outputs = tuple(
        Column(n.id, n.name, f"{b.name}#{b.id}") for n, b in zip(names, below, strict=True)
    )
    return builder.add(replace(over(node, "project", inputs, builder), outputs=outputs))


def passed(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """An operator that keeps its input's columns: `Sample`, `Tail`."""
    kind = _SNAKE.sub("_", node.name).lower()
    return builder.add(replace(over(node, kind, inputs, builder), extra={"says": node.argument()}))


LOWERINGS: dict[str, Lowering] = {
    "Expand": expand,
    **dict.fromkeys(("Generate", "ArrowEvalPythonUDTF", "BatchEvalPythonUDTF"), generate),
    "LateralJoin": lateral,
    "Sort": sort,
    "TakeOrderedAndProject": top,
    "Window": window,
    **dict.fromkeys(("ScriptTransformation", "SparkScriptTransformation"), script),
    "CollectMetrics": observe,
    "Coalesce": coalesce,
    "InMemoryRelation": cached,
    "CTERelationRef": cached,
    "TypedFilter": typed_filter,
    **dict.fromkeys(("Sample", "Tail"), passed),
    **dict.fromkeys(
        (
            "DeserializeToObject",
            "SerializeFromObject",
            "AppendColumns",
            "AppendColumnsWithObject",
        ),
        to_objects,
    ),
    **dict.fromkeys(
        (
            "MapInPandas",
            "MapInArrow",
            "PythonMapInArrow",
            "MapPartitions",
            "MapElements",
            "FlatMapGroupsInPandas",
            "FlatMapGroupsInArrow",
            "FlatMapCoGroupsInPandas",
            "FlatMapCoGroupsInArrow",
            "MapGroups",
            "CoGroup",
        ),
        map_rows,
    ),
}
