"""What an aggregate function stores, and whether another function can restore it.

Source: `aggBufferAttributes` of Spark's aggregate functions; measured restarts on 4.2.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from headgate.rules.spark.facts.expressions import (
    call,
    columns,
    pairwise_related,
    split_arguments,
    with_first_names,
    without_casts,
    without_names,
)
from headgate.rules.spark.facts.stored_bytes import STORE_BYTES, is_read

# Functions that store what others store, buffer by buffer, in their order.
_PARTS = {"avg": ("sum", "count"), "mean": ("sum", "count"), "try_avg": ("sum", "count")}
# The buffer of the first is also what the second would have stored for the same rows.
_EXACT = {
    ("collect_list", "collect_set"),
    ("first", "any_value"),
    ("any_value", "first"),
    ("try_sum", "sum"),
    ("sum", "try_sum"),
}
# They all store number, mean and sum of squared deviations, and differ in the last step only.
_MOMENTS = {
    "stddev",
    "stddev_samp",
    "stddev_pop",
    "std",
    "variance",
    "var_samp",
    "var_pop",
}
# Families whose members store the same of the same arguments, and differ in the last step only.
_ALIKE = (
    _MOMENTS,
    {"covar_samp", "covar_pop"},
    {"regr_slope", "regr_intercept"},
    {"corr", "regr_r2"},
)
# They store how often each value came (TypedAggregateWithHashMapAsBuffer).
_TALLIES = {"mode", "median", "percentile", "percentile_cont", "percentile_disc"}
# They store their values one after another, texts as texts; the others only join or sort them.
_LISTS = {"array_agg", "collect_list", "listagg", "string_agg"}
# What a plan's JSON calls every aggregator that is written in Scala: the name is lost there.
_TYPED = "typedaggregator"
_UNSCALED = "unscaledvalue("
_SCALE = re.compile(r"decimal\(\d+,\s*(\d+)\)")
_DECIMAL = re.compile(r"decimal\(\d+,\s*\d+\)")
_COUNTS = {"count", "count_if"}
_FILTER = ") FILTER (WHERE "
_EVERY_ROW = "true"
_NUMBER = re.compile(r"-?[\d.]+$")
# How a condition reads once its outer cast is gone: a number can't look like that.
_CONDITION = re.compile(r"^(?:NOT |\(.* (?:[<>=]|[<>]=|<=>|AND|OR) .*\)$|is(?:not)?null\()")


@dataclass(frozen=True, slots=True)
class Buffer:
    """One stored part of an aggregate: `sum` of `s0.v`, whichever function needs it.

    `type` is the argument's, None if unknown.
    """

    name: str
    argument: str
    type: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.name}({self.argument})"


class Carry(Enum):
    """What becomes of a stored value under another function."""

    EXACT = "exact"
    MIXED = "mixed"
    REINTERPRETED = "reinterpreted"
    OPAQUE = "opaque"
    UNREADABLE = "unreadable"
    UNKNOWN = "unknown"


def buffers(
    functions: Sequence[str] | None, types: Sequence[str | None] = ()
) -> tuple[Buffer, ...] | None:
    """Return what functions store, in order; None where the functions are not known.

    `types` are the types of the functions' first arguments, as far as they are known.
    """
    if functions is None:
        return None
    padded = [*types, *[None] * len(functions)]
    return tuple(b for f, t in zip(functions, padded, strict=False) for b in _stored(f, t))


def _stored(function: str, kind: str | None) -> tuple[Buffer, ...]:
    name, argument = call(with_first_names(without_names(function)))
    argument = argument.replace("UnscaledValue(", _UNSCALED)
    if name not in STORE_BYTES:
        argument = ", ".join(map(without_casts, split_arguments(argument)))
    return tuple(Buffer(part, argument, kind) for part in _PARTS.get(name, (name,)))


def carried(
    before: Sequence[Buffer], after: Sequence[Buffer]
) -> Iterator[tuple[Buffer, Buffer, Carry]]:
    """Yield stored and new buffers that differ, by position; `before` is as long as `after`.

    A buffer that is stored at another position is restored from the wrong one, however alike both
    are.
    """
    old, new = [_meaning(b) for b in before], [_meaning(a) for a in after]
    for index, (b, a) in enumerate(zip(before, after, strict=True)):
        if b == a:
            continue
        how = carry(b, a)
        left = (o for n, o in zip(new, old, strict=True) if n != o)
        if how in (Carry.MIXED, Carry.UNKNOWN) and old[index] != new[index] in left:
            how = Carry.REINTERPRETED
        yield b, a, how


def _meaning(buffer: Buffer) -> tuple[str, str]:
    """Return what is equal for two buffers that hold the same of the same rows."""
    counted = _counted(buffer)
    return (buffer.name, buffer.argument) if counted is None else ("count", counted)


def _counted(buffer: Buffer) -> str | None:
    """Return the condition of the rows that a buffer counts; None where it counts no rows.

    A sum of ones counts, too: `sum(CASE(c, 1, 0))` stores what `count_if(c)` would.
    """
    argument, _, more = buffer.argument.partition(_FILTER)
    argument = without_casts(argument)
    if buffer.name not in {"sum", *_COUNTS} or "distinct " in argument:
        return None
    if buffer.name == "count_if":
        own: str | None = argument
    else:
        own = _condition_of_ones(argument) if buffer.name == "sum" else _condition(argument)
    conditions = [part for part in (own, more) if part != _EVERY_ROW and part]
    return None if own is None else " AND ".join(sorted(conditions)) or _EVERY_ROW


def _condition_of_ones(argument: str) -> str | None:
    """Return for which rows a summed argument is 1, where it is 0 or null for all others."""
    if argument == "1":
        return _EVERY_ROW
    name, inside = call(argument)
    condition, *values = split_arguments(inside) if name == "case" else [argument]
    if values[:1] == ["1"] and values[1:] in ([], ["0"], ["null"]):
        return condition
    return condition if not values and _CONDITION.match(condition) else None


def _condition(argument: str) -> str:
    """Return for which rows a counted argument is not null."""
    name, inside = call(argument)
    condition, *values = split_arguments(inside) if name == "case" else [argument]
    if values == ["null", condition.removeprefix("NOT ")] and condition != values[1]:
        return values[1]
    if len(values) == 1 or values[1:] == ["null"]:
        return " AND ".join(filter(None, sorted((condition, _not_null(values[0])))))
    return _not_null(argument) or _EVERY_ROW


def _not_null(value: str) -> str:
    """Return when a value is not null: always, where it is a number."""
    return "" if _NUMBER.match(value) else f"isnotnull({value})"


def carry(before: Buffer, after: Buffer) -> Carry:
    """Say what the new function makes of the old one's stored value, given equal types."""
    counted = _counted(before), _counted(after)
    if None not in counted:
        return Carry.EXACT if counted[0] == counted[1] else Carry.MIXED
    if before.name != after.name:
        return _other_function(before, after)
    if _is_unscaled(before) != _is_unscaled(after):
        # The other one's numbers have their point: what is stored is read a hundredfold.
        return Carry.REINTERPRETED
    if before.argument == after.argument:
        return Carry.EXACT
    if before.name in STORE_BYTES:
        return _binary(before, after)
    if _UNSCALED in before.argument and _UNSCALED in after.argument:
        return _unscaled(before, after)
    return Carry.MIXED if _related(before, after) else Carry.REINTERPRETED


def _other_function(before: Buffer, after: Buffer) -> Carry:
    """Say what a function of another name makes of a stored value."""
    if _TYPED in (before.name, after.name):
        return Carry.UNKNOWN
    both = {before.name, after.name}
    alike = (before.name, after.name) in _EXACT or any(both <= family for family in _ALIKE)
    if alike and before.argument == after.argument:
        return Carry.EXACT
    if both <= _TALLIES and _tallied(before) == _tallied(after) is not None:
        return Carry.EXACT
    lists = before.name in {*_LISTS, "collect_set"} and after.name in _LISTS
    if lists and _listed(before) == _listed(after) is not None:
        # A set is a list without repeats, as of other rows.
        return Carry.EXACT if before.name in _LISTS else Carry.MIXED
    if not is_read(before.name, after.name):
        return Carry.UNREADABLE
    return Carry.OPAQUE if both <= STORE_BYTES else Carry.REINTERPRETED


def _listed(buffer: Buffer) -> str | None:
    """Return which values are stored, one after another; None where others are stored with them."""
    value, *rest = split_arguments(buffer.argument)
    others = [part for part in rest if columns(part) and not part.startswith(f"{value} ")]
    return None if others else value


def _tallied(buffer: Buffer) -> str | None:
    """Return whose values are counted, each once; None where a row counts more than once."""
    value, *rest = split_arguments(buffer.argument)
    weighted = buffer.name == "percentile" and rest[1:2] not in ([], ["1"])
    return None if weighted else value


def _binary(before: Buffer, after: Buffer) -> Carry:
    """The bytes hold values of the argument's type, which no schema shows."""
    if not _related(before, after):
        return Carry.REINTERPRETED
    if before.type is None or after.type is None:
        return Carry.UNKNOWN
    return Carry.MIXED if before.type == after.type else Carry.OPAQUE


def _unscaled(before: Buffer, after: Buffer) -> Carry:
    """Small decimals are summed as whole numbers without their point; the scale is not stored."""
    old, new = (_SCALE.findall(b.argument) for b in (before, after))
    if old != new and not _is_branch(before, after) and not _is_branch(after, before):
        return Carry.REINTERPRETED
    same = _DECIMAL.sub("", before.argument) == _DECIMAL.sub("", after.argument)
    return Carry.EXACT if same else Carry.MIXED


def _is_branch(one: Buffer, other: Buffer) -> bool:
    """Whether a value is a branch of the other's CASE as it is: all branches have one type."""
    value, chosen = (_inside_unscaled(b.argument) for b in (one, other))
    name, branches = call(chosen)
    return name == "case" and value in split_arguments(branches)


def _inside_unscaled(argument: str) -> str:
    return argument.removeprefix(_UNSCALED).removesuffix(")")


def _is_unscaled(buffer: Buffer) -> bool:
    """Whether decimals with a fraction are stored as whole numbers."""
    scales = _SCALE.findall(buffer.argument)
    return _UNSCALED in buffer.argument and scales[-1:] != ["0"]


def _related(before: Buffer, after: Buffer) -> bool:
    """A count stays a count; anything else must still read the same column at each position."""
    if before.name in _COUNTS:
        return True
    return pairwise_related(before.argument, after.argument)
