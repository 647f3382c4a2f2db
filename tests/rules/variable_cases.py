"""State variables and functions' bodies: versions for the tests of their rules.

The Avro cases and the kinds of variables are restarts that were measured on Spark 4.2.0.
"""

from dataclasses import replace

from headgate.model.state_schema import Field, Schema
from headgate.model.version import Function, OperatorKind, StatefulOperator, StateStore
from headgate.rules.core.report import Outcome

from .build import K, version

R, W, U, OK = Outcome.REFUSES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES
N, T = Field("n", "integer", True), Field("t", "string", True)
LONG, TOO = replace(N, type="long"), replace(T, name="too")


def processor(code="a" * 64):
    return Function(kind="stateful_processor", name="Counter", hash=code)


def variables(encoding="unsaferow", code="a" * 64, **fields):
    """Return a version with value variables of these fields; a name ending in _list is a list."""
    stores, told = [], {}
    for name, value in fields.items():
        kind = "ListState" if name.endswith("_list") else "ValueState"
        name = name.removesuffix("_list")
        told[name] = {"type": kind, "ttl": False}
        schema = Schema(tuple(value))
        stores.append(
            StateStore(store=name, key_schema=Schema((K,)), value_schema=schema, encoding=encoding)
        )
    operator = StatefulOperator(
        kind=OperatorKind.TRANSFORM_WITH_STATE,
        operator_id=0,
        node="tws",
        keys=("s0.k",),
        stores=tuple(stores),
        extra={"variables": told, "time_mode": "NoTime"},
    )
    return version(operator, functions=(processor(code),))


def avro(*fields):
    return variables("avro", c=fields)


def remembering(made, **told):
    """Return a version whose checkpoint remembers more of its operator."""
    (operator,) = made.stateful
    return replace(made, stateful=(replace(operator, extra={**operator.extra, **told}),))


def fields(*found):
    return [{"name": f.name, "type": f.type, "nullable": f.nullable} for f in found]


def older(*value):
    """Return a schema that was valid before, as the reader of a checkpoint tells it."""
    return {"key": fields(K), "value": fields(*value)}


def with_beginning(made, function):
    return remembering(made, function=function)


SAME = variables(c=(N,))
BOTH = avro(N, T)
CASES = {
    "TWS001": (SAME, variables(c_list=(N,)), R, SAME),
    "TWS002": (SAME, variables(d=(N,)), W, SAME),
    "TWS003": (SAME, variables(c=(N,), d=(N,)), OK, SAME),
    "TWS004": (BOTH, avro(replace(N, type="string"), T), R, BOTH),
    "TWS006": (remembering(SAME, past={"d": [older(T)]}), variables(c=(N,), d=(N,)), R, SAME),
    "TWS007": (
        remembering(BOTH, past={"c": [older(LONG)]}),
        avro(N, T, replace(T, name="u")),
        R,
        BOTH,
    ),
    "TWS008": (remembering(SAME, schema_files=128), variables(c=(N,), d=(N,)), R, SAME),
    "TWS009": (
        with_beginning(SAME, "transformWithStateUDF"),
        with_beginning(SAME, "transformWithStateWithInitStateUDF"),
        Outcome.NO_EFFECT,
        with_beginning(SAME, "transformWithStateUDF"),
    ),
    "TWS010": (variables(c=(T, TOO)), variables(c=(TOO, T)), W, variables(c=(T, TOO))),
    "TWS005": (BOTH, avro(replace(N, name="m"), T), W, avro(T, N)),
}
