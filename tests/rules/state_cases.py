"""Operators with state that changed: what makes a rule speak, and what keeps it silent."""

from dataclasses import replace

from headgate.model.state_schema import Field
from headgate.model.topology import Edge, Node, NodeKind
from headgate.model.version import OperatorKind, StatefulOperator, Watermark
from headgate.rules.core.report import Outcome

from .build import (
    COUNT,
    OTHER_TIME,
    PLAIN,
    SUM,
    TIME,
    WINDOW,
    WINDOWED,
    K,
    S,
    aggregate,
    deduplicate,
    files,
    graph,
    join,
    store,
    union_of,
    version,
)

R, U, W, X = (Outcome.RESUMES, Outcome.UNKNOWN, Outcome.SILENTLY_WRONG, Outcome.REFUSES)
CHECK = S + "stateStore.stateSchemaCheck"
STATELESS = version()
TWO_FIELDS = aggregate(functions=("count(1)", "sum(s0.v)"), value=(COUNT, SUM))
NAMELESS = replace(aggregate(), keys=None, functions=None)
TWS = StatefulOperator(kind=OperatorKind.TRANSFORM_WITH_STATE, operator_id=0, node="tws")
GROUPS = StatefulOperator(
    kind=OperatorKind.MAP_GROUPS, operator_id=0, node="m", keys=("s0.k",), stores=(store(),)
)
EVENT_TIME = replace(GROUPS, extra={"timeout": "EventTimeTimeout"})
CLOCK_TIME = replace(GROUPS, extra={"timeout": "ProcessingTimeTimeout"})


def branches(left: str, right: str):
    """Return a union of two counts that differ in their filters only."""
    return version(
        replace(aggregate(), node="agg0"),
        replace(aggregate(operator_id=1), node="agg1"),
        sources=(files(0), files(1)),
        topology=union_of((left, "agg0"), (right, "agg1")),
    )


def limited(rows: int):
    """Return a query that emits so many rows."""
    node = Node("limit", NodeKind.TRANSFORM, "limit", "limit", details={"limit": str(rows)})
    operator = StatefulOperator(
        kind=OperatorKind.LIMIT, operator_id=0, node="limit", extra={"limit": rows}
    )
    drawn = graph(stateful=None)
    return version(
        operator,
        topology=replace(
            drawn,
            nodes=(drawn.nodes[0], node, drawn.nodes[-1]),
            edges=(Edge("source0", "limit"), Edge("limit", "sink")),
        ),
    )


# code: (before, after that makes it speak, its outcome, after that keeps it silent)
CASES = {
    "OPS001": (PLAIN, version(deduplicate()), X, PLAIN),
    "OPS002": (STATELESS, PLAIN, X, STATELESS),
    "OPS003": (
        replace(PLAIN, engine_version="3.5.8"),
        replace(STATELESS, engine_version="3.5.8"),
        W,
        replace(PLAIN, engine_version="3.5.8"),
    ),
    "OPS005": (branches("s0.v > 1", "s1.v < 2"), branches("s0.v < 2", "s1.v > 1"), W, PLAIN),
    "OPS006": (limited(4), limited(9), R, limited(4)),
    "OPS004": (PLAIN, replace(PLAIN, stateful=None), U, PLAIN),
    "STA001": (PLAIN, version(aggregate(key=(Field("k", "long", True),))), X, PLAIN),
    "STA002": (PLAIN, version(TWO_FIELDS), X, PLAIN),
    "STA003": (
        PLAIN,
        version(aggregate(functions=("sum(s0.v)",), stores=())),
        U,
        version(aggregate(stores=())),
    ),
    "STA004": (
        PLAIN,
        version(aggregate(value=(Field("c", "double", False),)), settings={CHECK: "false"}),
        W,
        version(aggregate(), settings={CHECK: "false"}),
    ),
    "STA005": (
        version(aggregate(keys=("s0.k",))),
        version(aggregate(keys=("collate(s0.k, UTF8_LCASE)",))),
        X,
        version(aggregate(keys=("collate(s0.k, UTF8_BINARY)",))),
    ),
    "STA006": (
        version(aggregate(), output_mode="complete"),
        version(aggregate(key=(Field("k", "string", False),)), output_mode="complete"),
        U,
        version(aggregate(), output_mode="complete"),
    ),
    "AGG001": (
        version(aggregate(keys=("s0.k", "s0.d"), key=(K, K))),
        version(aggregate(keys=("s0.d", "s0.k"), key=(K, K))),
        W,
        version(aggregate(keys=("s0.k", "s0.d"), key=(K, K))),
    ),
    "AGG002": (
        version(aggregate(functions=("min(s0.v)",))),
        version(aggregate(functions=("max(s0.v)",))),
        W,
        version(aggregate(functions=("min(s0.v)",))),
    ),
    "AGG003": (
        version(aggregate(functions=("sum(s0.v)",))),
        version(aggregate(functions=("sum((s0.v * 10))",))),
        R,
        version(aggregate(functions=("sum(cast(s0.v as bigint))",))),
    ),
    "AGG004": (
        version(aggregate(functions=("avg(s0.v)",))),
        version(aggregate(functions=("sum(cast(s0.v as double))", "count(s0.v)"))),
        R,
        version(aggregate(functions=("avg(s0.v)",))),
    ),
    "AGG005": (PLAIN, version(NAMELESS), U, PLAIN),
    "AGG006": (
        version(aggregate(functions=("collect_list(s0.v)",))),
        version(aggregate(functions=("collect_list(abs(s0.v))",))),
        U,
        version(aggregate(functions=("collect_set(s0.v)",))),
    ),
    "AGG007": (
        version(aggregate(functions=("percentile_approx(s0.v, 0.5)",))),
        version(aggregate(functions=("percentile(s0.v, 0.5)",))),
        X,
        version(aggregate(functions=("percentile_approx(s0.v, 0.9)",))),
    ),
    "WIN001": (
        version(WINDOWED),
        version(replace(WINDOWED, window=replace(WINDOW, size_us=20_000_000))),
        W,
        version(WINDOWED),
    ),
    "WIN002": (
        version(replace(WINDOWED, window=replace(WINDOW, session_gap="10 seconds"))),
        version(replace(WINDOWED, window=replace(WINDOW, session_gap="15 seconds"))),
        W,
        version(replace(WINDOWED, window=replace(WINDOW, session_gap="10 seconds"))),
    ),
    "WIN003": (
        version(WINDOWED),
        version(replace(WINDOWED, window=replace(WINDOW, column="s0.ts2"))),
        W,
        version(WINDOWED),
    ),
    "WIN004": (version(WINDOWED), version(replace(WINDOWED, window=None)), W, version(WINDOWED)),
    "DED001": (
        version(deduplicate()),
        version(deduplicate(keys=("s0.d",))),
        W,
        version(deduplicate()),
    ),
    "DED002": (
        version(deduplicate()),
        version(replace(deduplicate(), keys=None)),
        U,
        version(deduplicate()),
    ),
    "JOI001": (version(join()), version(join(("s0.d",), ("s1.d",))), W, version(join())),
    "JOI002": (version(join()), version(join(("s1.k",), ("s0.k",))), W, version(join())),
    "JOI003": (
        version(join(extra={"left_columns": ("s0.a", "s0.b")})),
        version(join(extra={"left_columns": ("s0.b", "s0.a")})),
        W,
        version(join(extra={"left_columns": ("s0.a", "s0.b")})),
    ),
    "JOI004": (version(join()), version(join(join_type="LeftOuter")), R, version(join())),
    "JOI005": (version(join()), version(join(condition="s0.v > 1")), R, version(join())),
    "JOI006": (version(join()), version(replace(join(), keys=None)), U, version(join())),
    "WMK001": (PLAIN, replace(PLAIN, watermarks=(TIME,)), R, PLAIN),
    "WMK002": (
        replace(PLAIN, watermarks=(TIME,)),
        replace(PLAIN, watermarks=(Watermark(column="s0.ts", delay="1 minutes"),)),
        R,
        replace(PLAIN, watermarks=(TIME,)),
    ),
    "WMK003": (
        version(WINDOWED, watermarks=(TIME,)),
        version(replace(WINDOWED, keys=("window(s0.other)", "s0.k")), watermarks=(OTHER_TIME,)),
        W,
        version(WINDOWED, watermarks=(TIME,)),
    ),
    "WMK004": (
        version(WINDOWED, watermarks=(TIME,)),
        version(WINDOWED),
        U,
        version(WINDOWED, watermarks=(TIME,)),
    ),
    "WMK005": (
        version(WINDOWED, watermarks=(TIME, TIME)),
        version(WINDOWED, watermarks=(TIME,)),
        U,
        version(WINDOWED, watermarks=(TIME, TIME)),
    ),
    "WMK006": (
        version(WINDOWED, watermarks=(TIME,), output_mode="update"),
        version(
            replace(WINDOWED, extra={"keys_carry_watermark": False}),
            watermarks=(TIME,),
            output_mode="update",
        ),
        W,
        version(
            replace(WINDOWED, extra={"keys_carry_watermark": True}),
            watermarks=(TIME,),
            output_mode="update",
        ),
    ),
    "GRP001": (version(GROUPS), version(replace(GROUPS, keys=("s0.v",))), W, version(GROUPS)),
    "GRP002": (version(replace(GROUPS, keys=None)), version(GROUPS), U, version(aggregate())),
    "GRP003": (version(EVENT_TIME), version(CLOCK_TIME), W, version(EVENT_TIME)),
    "FUN001": (version(TWS), version(TWS), U, PLAIN),
    "FUN002": (
        version(replace(GROUPS, extra={"timeout": "NoTimeout"})),
        version(GROUPS),
        U,
        version(replace(GROUPS, extra={"timeout": "EventTimeTimeout"})),
    ),
    "FUN003": (
        PLAIN,
        replace(PLAIN, user_functions=("f",)),
        U,
        PLAIN,
    ),
    "FUN004": (
        version(replace(TWS, extra={"time_mode": "NoTime"})),
        version(replace(TWS, extra={"time_mode": "EventTime"})),
        X,
        version(replace(TWS, extra={"time_mode": "NoTime"})),
    ),
}
