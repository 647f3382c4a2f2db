"""When two values are the same: Spark expressions for columns, also of different types.

- Null is the same as null and differs from everything else; NaN is the same as NaN, -0.0 as 0.0.
- Numbers are the same if their values are: 1, 1.0 and a decimal 1.00 are. A float is compared as
  the double that it is. With a tolerance, numbers are also the same if |a - b| is at most that.
- A text and another type: the text is read as that type. One that can't be read differs.
- Dates and timestamps are the same if they are the same moment in UTC.
- Structs are compared by field name (one that lacks is null), arrays by position, maps by key,
  each with these rules for what they hold.
- Values of other pairs of types differ.
"""

from __future__ import annotations

from decimal import Decimal
from functools import reduce
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
)

_WHOLE = (ByteType, ShortType, IntegerType, LongType)
_FLOATING = (FloatType, DoubleType)
_NUMBER = (*_WHOLE, *_FLOATING, DecimalType)
_MOMENT = (DateType, TimestampType, TimestampNTZType)
_NESTED = (StructType, ArrayType, MapType)
# Wide enough for any long, and for 18 digits after the point.
_EXACT = DecimalType(38, 18)


def same(a: Column, b: Column, kind_a: DataType, kind_b: DataType, tolerance: float) -> Column:
    """Return whether two values are the same: true or false, never null."""
    if isinstance(kind_a, NullType) or isinstance(kind_b, NullType):
        return a.isNull() & b.isNull()
    if isinstance(kind_a, StructType) and isinstance(kind_b, StructType):
        return _same_structs(a, b, kind_a, kind_b, tolerance)
    if isinstance(kind_a, ArrayType) and isinstance(kind_b, ArrayType):
        return _same_arrays(a, b, kind_a, kind_b, tolerance)
    if isinstance(kind_a, MapType) and isinstance(kind_b, MapType):
        return _same_maps(a, b, kind_a, kind_b, tolerance)
    if isinstance(kind_a, VariantType) and isinstance(kind_b, VariantType):
        return F.to_json(a).eqNullSafe(F.to_json(b))
    if isinstance(kind_a, _NUMBER) and isinstance(kind_b, _NUMBER):
        return _same_numbers(a, b, kind_a, kind_b, tolerance)
    if isinstance(kind_a, _MOMENT) and isinstance(kind_b, _MOMENT):
        if type(kind_a) is type(kind_b):
            return a.eqNullSafe(b)
        return a.cast("timestamp").eqNullSafe(b.cast("timestamp"))
    if type(kind_a) is type(kind_b) and not isinstance(kind_a, _NESTED):
        return a.eqNullSafe(b)
    return _same_as_text(a, b, kind_a, kind_b, tolerance)


def _same_as_text(
    a: Column, b: Column, kind_a: DataType, kind_b: DataType, tolerance: float
) -> Column:
    """Compare a text with another type; what else differs in type differs."""
    if isinstance(kind_b, StringType) and not isinstance(kind_a, StringType):
        a, b, kind_a, kind_b = b, a, kind_b, kind_a
    if not isinstance(kind_a, StringType) or isinstance(kind_b, (*_NESTED, VariantType)):
        return a.isNull() & b.isNull()
    if isinstance(kind_b, BinaryType):
        return a.cast("binary").eqNullSafe(b)
    read = _EXACT if isinstance(kind_b, (*_WHOLE, DecimalType)) else kind_b
    value = a.try_cast(read)
    return a.isNull().eqNullSafe(value.isNull()) & same(value, b, read, kind_b, tolerance)


def _same_numbers(
    a: Column, b: Column, kind_a: DataType, kind_b: DataType, tolerance: float
) -> Column:
    floating = isinstance(kind_a, _FLOATING), isinstance(kind_b, _FLOATING)
    if any(floating):
        equal = a.cast("double").eqNullSafe(b.cast("double"))
        # A double has 53 bits: whole numbers above them are compared as such, too.
        if not all(floating):
            whole, other = (b, a) if floating[0] else (a, b)
            kind = kind_b if floating[0] else kind_a
            equal = equal & whole.eqNullSafe(other.try_cast(kind))
    else:
        equal = a.eqNullSafe(b)
    if not tolerance:
        return equal
    near = F.abs(a.cast("double") - b.cast("double")) <= F.lit(float(tolerance))
    if not any(floating):
        allowed = Decimal(repr(tolerance))
        exact = F.try_subtract(a.try_cast(_EXACT), b.try_cast(_EXACT))
        near = F.coalesce(exact.between(F.lit(-allowed), F.lit(allowed)), near)
    return equal | F.coalesce(near, F.lit(False))


def _both(a: Column, b: Column, inner: Column) -> Column:
    """Return true for two nulls, `inner` for two values, else false."""
    return (a.isNull() & b.isNull()) | (
        a.isNotNull() & b.isNotNull() & F.coalesce(inner, F.lit(False))
    )


def _same_structs(
    a: Column, b: Column, kind_a: StructType, kind_b: StructType, tolerance: float
) -> Column:
    if _is_plain(kind_a, kind_b, tolerance):
        return a.eqNullSafe(b)
    names = dict.fromkeys((*kind_a.fieldNames(), *kind_b.fieldNames()))
    parts = [_same_field(a, b, kind_a, kind_b, name, tolerance) for name in names]
    return _both(a, b, reduce(Column.__and__, parts, F.lit(True)))


def _same_field(
    a: Column, b: Column, kind_a: StructType, kind_b: StructType, name: str, tolerance: float
) -> Column:
    (one, kind_one), (other, kind_other) = _field(a, kind_a, name), _field(b, kind_b, name)
    return same(one, other, kind_one, kind_other, tolerance)


def _field(value: Column, kind: StructType, name: str) -> tuple[Column, DataType]:
    if name not in kind.fieldNames():
        return F.lit(None), NullType()
    return value.getField(name), kind[name].dataType


def _same_arrays(
    a: Column, b: Column, kind_a: ArrayType, kind_b: ArrayType, tolerance: float
) -> Column:
    if _is_plain(kind_a, kind_b, tolerance):
        return a.eqNullSafe(b)

    def pair(one: Column, other: Column) -> Column:
        return same(one, other, kind_a.elementType, kind_b.elementType, tolerance)

    elements = F.forall(F.zip_with(a, b, pair), lambda ok: ok)
    return _both(a, b, (F.size(a) == F.size(b)) & elements)


def _same_maps(a: Column, b: Column, kind_a: MapType, kind_b: MapType, tolerance: float) -> Column:
    if type(kind_a.keyType) is not type(kind_b.keyType):
        return a.isNull() & b.isNull()
    keys_a, keys_b = F.array_sort(F.map_keys(a)), F.array_sort(F.map_keys(b))

    def pair(key: Column) -> Column:
        one, other = F.try_element_at(a, key), F.try_element_at(b, key)
        return same(one, other, kind_a.valueType, kind_b.valueType, tolerance)

    return _both(a, b, keys_a.eqNullSafe(keys_b) & F.forall(keys_a, pair))


def _is_plain(kind_a: DataType, kind_b: DataType, tolerance: float) -> bool:
    """Whether Spark's own equality is ours: same types and names, no maps, no tolerance."""
    return _shape(kind_a) == _shape(kind_b) and not _holds(
        kind_a, (MapType, VariantType, *(_NUMBER if tolerance else ()))
    )


def _shape(kind: DataType) -> object:
    if isinstance(kind, StructType):
        return tuple((f.name, _shape(f.dataType)) for f in kind.fields)
    if isinstance(kind, ArrayType):
        return ("array", _shape(kind.elementType))
    return kind.simpleString()


def _holds(kind: DataType, wanted: tuple[Any, ...]) -> bool:
    if isinstance(kind, StructType):
        return any(_holds(f.dataType, wanted) for f in kind.fields)
    if isinstance(kind, ArrayType):
        return _holds(kind.elementType, wanted)
    return isinstance(kind, wanted)


def key_form(value: Column, kind: DataType, other: DataType) -> Column:
    """Return a key column as it is joined with one of type `other`; None can be no key.

    Numbers by value, dates and timestamps by moment, what else differs in type as text.
    """
    if isinstance(kind, _NUMBER) and isinstance(other, _NUMBER):
        if isinstance(kind, _FLOATING) or isinstance(other, _FLOATING):
            return value.cast("double")
        if isinstance(kind, DecimalType) or isinstance(other, DecimalType):
            return value if _shape(kind) == _shape(other) else value.try_cast(_EXACT)
        return value if type(kind) is type(other) else value.cast("long")
    if isinstance(kind, _MOMENT) and isinstance(other, _MOMENT):
        return value if type(kind) is type(other) else value.cast("timestamp")
    return value if _shape(kind) == _shape(other) else value.cast("string")


def can_be_key(kind: DataType) -> bool:
    """Whether rows can be joined by a column of this type."""
    return not _holds(kind, (MapType, VariantType))


def canonical(value: Column, kind: DataType, other: DataType) -> Column:
    """Return a form that is equal for equal values, and in which rows can be grouped and sorted.

    Of different types, that may miss some pairs; `same` then finds them.
    """
    if isinstance(kind, NullType) and isinstance(other, NullType):
        return value.cast("string")
    if isinstance(kind, NullType):
        return canonical(value.cast(other), other, other)
    if isinstance(other, NullType):
        return canonical(value, kind, kind)
    if isinstance(kind, (*_NESTED, VariantType)) or isinstance(other, (*_NESTED, VariantType)):
        if _is_plain(kind, other, 0.0):
            return value
        return _json(value, kind)
    if isinstance(kind, StringType) != isinstance(other, StringType):
        read = kind if isinstance(other, StringType) else other
        read = _EXACT if isinstance(read, (*_WHOLE, DecimalType)) else read
        return F.coalesce(value.try_cast(read).cast("string"), value.cast("string"))
    return key_form(value, kind, other)


def _json(value: Column, kind: DataType) -> Column:
    """Return a text; the order of a map's entries is none of its value."""
    if isinstance(kind, MapType):
        entries = F.map_entries(value)
        return F.to_json(F.array_sort(F.transform(entries, lambda e: F.to_json(e))))
    return F.to_json(F.struct(value.alias("v")), {"ignoreNullFields": "false"})


def is_floating(kind: DataType) -> bool:
    """Whether a column's values are only nearly equal between runs."""
    return _holds(kind, _FLOATING)
