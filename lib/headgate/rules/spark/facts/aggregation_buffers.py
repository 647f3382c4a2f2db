"""What an aggregate function stores, and whether another function can take it over.

Source: `aggBufferAttributes` of Spark's aggregate functions; measured restarts on 4.2.0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from headgate.rules.spark.facts.expressions import (
    call,
    pairwise_related,
    split_arguments,
    with_first_names,
    without_casts,
    without_names,
)

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
# What the first stored the second would have stored of other rows: a set is a list without repeats.
_WITHIN = {("collect_set", "collect_list")}
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
_BINARY = {
    "collect_list",
    "collect_set",
    "percentile",
    "percentile_approx",
    "approx_percentile",
    "median",
    "mode",
    "percentile_cont",
    "percentile_disc",
    "histogram_numeric",
    "hll_sketch_agg",
    "listagg",
    "string_agg",
    "approx_top_k",
    "bitmap_construct_agg",
}
# What a plan's JSON calls every aggregator that is written in Scala: the name is lost there.
_TYPED = "typedaggregator"
_UNSCALED = "unscaledvalue("
_SCALE = re.compile(r"decimal\(\d+,\s*(\d+)\)")
_DECIMAL = re.compile(r"decimal\(\d+,\s*\d+\)")
_COUNTS = {"count", "count_if"}


@dataclass(frozen=True, slots=True)
class Buffer:
    """One stored part of an aggregate: `sum` of `s0.v`, whichever function asked for it.

    `type` is the argument's, None where nobody knows it.
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
    UNKNOWN = "unknown"


def buffers(
    functions: Sequence[str] | None, types: Sequence[str | None] = ()
) -> tuple[Buffer, ...] | None:
    """Return what functions store, in order; None where the functions are not known.

    `types` are the types of the functions' first arguments, as far as they are known.
    """
    if functions is None:
        return None
    told = [*types, *[None] * len(functions)]
    return tuple(b for f, t in zip(functions, told, strict=False) for b in _stored(f, t))


def _stored(function: str, kind: str | None) -> tuple[Buffer, ...]:
    name, argument = call(with_first_names(without_names(function)))
    argument = argument.replace("UnscaledValue(", _UNSCALED)
    if name not in _BINARY:
        argument = ", ".join(map(without_casts, split_arguments(argument)))
    return tuple(Buffer(part, argument, kind) for part in _PARTS.get(name, (name,)))


def carry(before: Buffer, after: Buffer) -> Carry:
    """Say what the new function makes of the old one's stored value, given equal types."""
    if _TYPED in (before.name, after.name) and before.name != after.name:
        return Carry.UNKNOWN
    if before.name != after.name:
        both = {before.name, after.name}
        alike = (before.name, after.name) in _EXACT or any(both <= family for family in _ALIKE)
        if alike and before.argument == after.argument:
            return Carry.EXACT
        if both <= _TALLIES and _tallied(before) == _tallied(after) is not None:
            return Carry.EXACT
        if (before.name, after.name) in _WITHIN and before.argument == after.argument:
            return Carry.MIXED
        opaque = before.name in _BINARY and after.name in _BINARY
        return Carry.OPAQUE if opaque else Carry.REINTERPRETED
    if _is_unscaled(before) != _is_unscaled(after):
        # The other one's numbers have their point: what is stored is read a hundredfold.
        return Carry.REINTERPRETED
    if before.argument == after.argument:
        return Carry.EXACT
    if before.name in _BINARY:
        return _binary(before, after)
    if _UNSCALED in before.argument and _UNSCALED in after.argument:
        return _unscaled(before, after)
    return Carry.MIXED if _related(before, after) else Carry.REINTERPRETED


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
    if old != new:
        return Carry.REINTERPRETED
    same = _DECIMAL.sub("", before.argument) == _DECIMAL.sub("", after.argument)
    return Carry.EXACT if same else Carry.MIXED


def _is_unscaled(buffer: Buffer) -> bool:
    """Whether decimals with a fraction are stored as whole numbers."""
    scales = _SCALE.findall(buffer.argument)
    return _UNSCALED in buffer.argument and scales[-1:] != ["0"]


def _related(before: Buffer, after: Buffer) -> bool:
    """A count stays a count; anything else must still read, in each place, a column of before."""
    if before.name in _COUNTS:
        return True
    return pairwise_related(before.argument, after.argument)
