"""Lower the operators of logical plans, and those that logical and physical plans share."""

from __future__ import annotations

import re
from dataclasses import replace

from headgate.parse.spark.explain.arguments import first_bracket, listed, split, whole
from headgate.parse.spark.explain.odd_names import decode
from headgate.parse.spark.explain.printed_plan import PlanNode
from headgate.parse.spark.operators.builder import Below, Builder, Lowering, over
from headgate.parse.spark.operators.relation import Column, Exchange, ambiguous, begins, column
from headgate.parse.spark.operators.stateless import LOWERINGS as ROW_OPERATORS
from headgate.parse.spark.operators.stateless import coalesce, function_name, without_addresses

UNKNOWN_DELAY = "?"
MODES = frozenset(("Append", "Update", "Complete"))
TIMEOUTS = frozenset(("NoTimeout", "ProcessingTimeTimeout", "EventTimeTimeout"))
TIME_MODES = frozenset(("NoTime", "ProcessingTime", "EventTime"))
INTERFACES = {"pandas": "pandas", "python_row": "row"}
_LONGEST_NAME = 100
_OBJECT = re.compile(r"^(?P<column>obj#\d+): ")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_INSTANCE = re.compile(r"^[\w.$]+@[0-9a-f]+$")
_WATERMARK = re.compile(r"(?P<column>\S+#\d+\S*): [\w<>:,]+, (?P<delay>.+)$")


def project(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`Project [k#1, (v#2 * 2) AS w#3]`."""
    items = listed(node.fields.get("Output") or node.detail)
    outputs = columns(node, items, builder)
    return builder.add(over(node, "project", inputs, builder, outputs=outputs))


def columns(node: PlanNode, items: list[str], builder: Builder) -> tuple[Column, ...]:
    """Return the columns of a list; what may be a piece of a name means nothing that is known."""
    made = [column(item) for item in items]
    unclear = ambiguous(items) if builder.form != "parsed" else []
    if unclear:
        where = decode(", ".join(items[n] for n in unclear))[:_LONGEST_NAME]
        builder.warnings.append(
            f"line {node.line}: the query plan's text is ambiguous: in `{where}`, a column's name "
            "contains characters that also separate columns"
        )
    return tuple(replace(c, text=None) if n in unclear else c for n, c in enumerate(made))


def filtered(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`Filter (v#2 > 3)`."""
    below = inputs[0]
    condition = without_addresses(node.fields.get("Condition") or node.detail)
    added = builder.add(over(node, "filter", inputs, builder, condition=condition))
    added.partial, added.session, added.calls = below.partial, below.session, below.calls
    return added


def watermark(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`EventTimeWatermark [uuid, ]ts#1: timestamp, 10 seconds`."""
    match = _WATERMARK.search(node.argument())
    extra = {"column": match["column"].split(", ")[-1]} if match else {}
    if match and match["delay"] != UNKNOWN_DELAY:
        extra["delay"] = match["delay"].removeprefix("interval ")
    return builder.add(replace(over(node, "watermark", inputs, builder), extra=extra))


def aggregate(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`Aggregate [k#1], [k#1, count(1) AS c#2L]`; without keys their list is not printed."""
    parts = split(node.detail)
    both = parts if len(parts) > 1 else ["", *parts, ""]
    keys, results = listed(both[0]), listed(both[1])
    made = over(node, "aggregate", inputs, builder)
    outputs = columns(node, results, builder)
    return builder.add(replace(made, keys=tuple(keys), outputs=outputs))


def distinct(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`Distinct` is an aggregation by every column."""
    made = over(node, "aggregate", inputs, builder)
    keys = tuple(c.text or f"{c.name}#{c.id}" for c in made.outputs)
    return builder.add(replace(made, keys=keys))


def join(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`Join LeftOuter, ((k#1 = k#2) AND ...)`; a hint may follow."""
    parts = split(node.detail)
    made = over(node, "join", inputs, builder)
    return builder.add(
        replace(
            made,
            join_type=parts[0] if parts else None,
            condition=next((p for p in parts[1:] if "#" in p), None),
            outputs=joined(parts[0] if parts else "", inputs, builder),
        )
    )


def joined(kind: str, inputs: list[Below], builder: Builder) -> tuple[Column, ...]:
    """Return the columns of a join: only those of the left side if it is semi or anti."""
    sides = inputs[:1] if kind in ("LeftSemi", "LeftAnti") else inputs
    first, *others = (builder.outputs(side) for side in sides)
    return first if not others else first + others[0]


def union(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`Union false, false`."""
    return builder.add(over(node, "union", inputs, builder))


def deduplicate(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`Deduplicate [k#1]` and `DeduplicateWithinWatermark [k#1]`."""
    within = "Within" in node.name
    kind = "deduplicate_within_watermark" if within else "deduplicate"
    _, keys, _ = first_bracket(node.detail)
    return builder.add(replace(over(node, kind, inputs, builder), keys=tuple(split(keys))))


def limit(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`GlobalLimit 4`; the local one beneath belongs to it."""
    made = over(node, "limit", inputs, builder)
    return builder.add(replace(made, extra={"limit": node.detail.strip()}))


def map_groups(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`FlatMapGroupsInPandasWithState f(...), [k#1], [out#2], [StructField(...)], Update, ...`.

    The typed one makes an object: `FlatMapGroupsWithState f, ..., [k#1], [v#2], obj#3: Long, ...`.
    """
    parts = split(node.argument())
    lists = [p for p in parts if p.startswith("[")]
    extra = {"function": function_name(parts[0])} if parts and parts[0] else {}
    if timeout := next((p for p in parts if p in TIMEOUTS), None):
        extra["timeout"] = timeout
    if mode := next((p for p in parts if p in MODES), None):
        extra["output_mode"] = mode
    if states := next((p for p in lists if "StructField(" in p), None):
        extra["state_type"] = states
    elif typed := next((p for p in parts if p.startswith("class[")), None):
        extra["state_type"] = typed.removeprefix("class")
    made = over(node, "map_groups", _with_rows(parts, inputs, builder), builder)
    outputs = _object(parts) or (tuple(map(begins, listed(lists[1]))) if len(lists) > 1 else ())
    keys = tuple(listed(lists[0])) if lists else ()
    return builder.add(replace(made, keys=keys, outputs=outputs or made.outputs, extra=extra))


def _with_rows(parts: list[str], inputs: list[Below], builder: Builder) -> list[Below]:
    """Return the inputs without an initial state that nobody gave: an empty local relation."""
    if len(inputs) < 2 or "no initial state" in parts:
        return inputs[:1]
    extra = builder.relations[inputs[1].relation].extra
    return inputs[:1] if extra.keys() & {"empty", "empty_batch", "no_columns"} else inputs


def _object(parts: list[str]) -> tuple[Column, ...]:
    """Return the object that a typed operator makes of `obj#3: scala.Tuple2`."""
    return tuple(begins(m["column"]) for p in parts if (m := _OBJECT.match(p)))


def transform_with_state(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`TransformWithStateInPySpark udf, 1, [k#1, c#2L], Update, NoTime, pandas, ...`.

    A logical plan says how many of the first input columns are keys, a physical one lists them.
    An initial state that is absent shows as a second input without columns. The typed one is
    `TransformWithState ..., [k#1], [v#2], Counter@1f, NoTime, Update, ..., obj#3: Long`.
    """
    parts = split(node.argument())
    lists = [p for p in parts if p.startswith("[")]
    outputs = _object(parts)
    called = parts[0] if parts else ""
    if outputs:
        called = next((p for p in parts if _INSTANCE.match(p)), "")
    extra = {"function": function_name(called)} if called else {}
    if mode := next((p for p in parts if p in MODES), None):
        extra["output_mode"] = mode
    if time := next((p for p in parts if p in TIME_MODES), None):
        extra["time_mode"] = time
    if rows := next((p for p in parts if p in INTERFACES), None):
        extra["interface"] = INTERFACES[rows]
    made = over(node, "transform_with_state", _with_rows(parts, inputs, builder), builder)
    if len(parts) > 1 and (grouped := whole(parts[1])) is not None:
        given = builder.outputs(inputs[0])[:grouped]
        keys = tuple(f"{c.name}#{c.id}" for c in given)
        lists = ["", *lists]
    else:
        keys = tuple(listed(lists[0])) if lists else ()
    columns = outputs or tuple(map(begins, listed(lists[1]))) if len(lists) > 1 else outputs
    return builder.add(replace(made, keys=keys, outputs=columns or made.outputs, extra=extra))


def repartition(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`RepartitionByExpression [k#1], 5`, `Repartition 5, true`: a repartition by the user."""
    parts = split(node.detail)
    if node.name == "Repartition" and "false" in parts:
        return coalesce(node, inputs, builder)
    keys = tuple(listed(parts[0])) if parts and parts[0].startswith("[") else ()
    count = next((n for n in map(whole, parts) if n is not None), None)
    made = over(node, "exchange", inputs, builder)
    wanted = Exchange(keys=keys, partitions=count, required=False)
    return builder.add(replace(made, exchanges=(wanted,)))


def python_udf(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`ArrowEvalPython [f(v#1)#2], [pythonUDF0#3], 101`."""
    lists = [p for p in split(node.argument()) if p.startswith("[")]
    made = over(node, "project", inputs, builder)
    if len(lists) < 2:
        return builder.add(made)
    calls, names = listed(lists[0]), map(begins, listed(lists[1]))
    new = tuple(Column(n.id, n.name, c) for n, c in zip(names, calls, strict=False))
    return builder.add(replace(made, outputs=(*made.outputs, *new)))


def sink(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`WriteToMicroBatchDataSourceV1 FileSink[/x], id, [options], Append, 0` and its like.

    A table's name comes before the sink: "`catalog`.`db`.`t`, DeltaSink[/x], id, ...".
    """
    parts = split(node.detail)
    if not builder.sink and node.name.startswith("WriteToMicroBatchDataSource"):
        builder.sink = _described(parts)
        if mode := next((p for p in parts if p in MODES), None):
            builder.sink["output_mode"] = mode
    return inputs[0]


def _described(parts: list[str]) -> dict[str, str]:
    """Return the `table` and the `sink` that a write names; the query's id follows the sink."""
    if not parts or not parts[0].startswith("`"):
        return {"sink": parts[0]} if parts else {}
    found = {"table": parts[0].replace("`", "")}
    return found | {"sink": parts[1]} if _ID.fullmatch("".join(parts[2:3])) else found


def unknown(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """Whatever has no known name becomes a node, never an error."""
    name = node.name[:_LONGEST_NAME]
    builder.warnings.append(f"line {node.line}: unknown operator {name!r}")
    return builder.add(over(node, "unknown", inputs, builder))


LOWERINGS: dict[str, Lowering] = {
    **ROW_OPERATORS,
    "Project": project,
    "Filter": filtered,
    "EventTimeWatermark": watermark,
    "Aggregate": aggregate,
    "Distinct": distinct,
    "Join": join,
    **dict.fromkeys(("Union", "SequentialStreamingUnion"), union),
    **dict.fromkeys(("UpdateEventTimeWatermarkColumn", "UpdateEventTimeColumn"), watermark),
    "Deduplicate": deduplicate,
    "DeduplicateWithinWatermark": deduplicate,
    "GlobalLimit": limit,
    "RepartitionByExpression": repartition,
    "RebalancePartitions": repartition,
    "Repartition": repartition,
    "FlatMapGroupsInPandasWithState": map_groups,
    "FlatMapGroupsWithState": map_groups,
    "TransformWithState": transform_with_state,
    "TransformWithStateInPandas": transform_with_state,
    "TransformWithStateInPySpark": transform_with_state,
    **dict.fromkeys(("ArrowEvalPython", "BatchEvalPython"), python_udf),
    **dict.fromkeys(
        (
            "WriteToMicroBatchDataSourceV1",
            "WriteToMicroBatchDataSource",
            "WriteToStream",
            "WriteToDataSourceV2",
            "WriteToContinuousDataSource",
            "WriteFiles",
        ),
        sink,
    ),
}
