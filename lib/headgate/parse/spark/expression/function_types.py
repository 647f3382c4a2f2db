"""The types of Spark's functions, and when they give null.

Measured on 4.2.0: each function over columns with and without nulls, with ANSI mode on and off.
Names are in small letters without `_`, as plans print one function in several ways: `CEIL`,
`array_max` and, in JSON, the class `ArrayMax`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from headgate.parse.spark.explain.printed_plan import TypedColumn

Nullable = bool | None


def words(text: str) -> frozenset[str]:
    """Return the words of a table that is written as one text."""
    return frozenset(text.split())


def plain(name: str) -> str:
    """Return a function's name as the tables have it."""
    return name.lower().replace("_", "")


_OF_TYPE = {
    "binary": "encode unbase64 unhex",
    "boolean": "arraycontains arrayexists arrayforall arraysoverlap between contains endswith "
    "equalnull exists forall ilike isnan isnotnull isnull isvalidutf8 luhncheck mapcontainskey not "
    "rlike startswith",
    "byte": "bitget bitwiseget getbit",
    "date": "addmonths currentdate dateadd datefromunixdate datesub lastday makedate nextday "
    "todate trunc trytodate",
    "double": "acos asin atan atan2 cbrt cos cosh cot degrees exp expm1 hypot ln log log10 log1p "
    "log2 logarithm monthsbetween pi pow power radians rint sign signum sin sinh sqrt tan tanh "
    "todegrees toradians",
    "integer": "arraysize ascii bitcount bitlength bitwisecount cardinality characterlength "
    "charlength datediff datepart day dayofmonth dayofweek dayofyear findinset hash hour instr "
    "jsonarraylength len length lengthofjsonarray levenshtein locate minute month octetlength "
    "position quarter regexpcount regexpinstr second size stringinstr stringlocate unixdate "
    "weekday weekofyear year",
    "long": "arrayposition crc32 factorial timestampdiff tounixtimestamp unixmicros unixmillis "
    "unixseconds unixtimestamp unscaledvalue widthbucket xxhash64",
    "string": "arrayjoin base64 bin btrim char chr concatws conv dateformat dayname elt "
    "formatnumber formatstring fromunixtime getjsonobject hex initcap lcase left lower lpad ltrim "
    "mask md5 monthname overlay parseurl printf regexpextract regexpreplace regexpsubstr repeat "
    "replace right rpad rtrim schemaofjson sha sha1 sha2 soundex space splitpart stringrepeat "
    "stringspace stringtranslate stringtrimboth substr substring substringindex tochar tocharacter "
    "tocsv tojson translate trim typeof ucase upper urldecode urlencode uuid",
    "time(6)": "currenttime maketime totime trytotime",
    "timestamp": "currenttimestamp datetrunc fromutctimestamp maketimestamp microstotimestamp "
    "millistotimestamp now secondstotimestamp timestampadd timestampmicros timestampmillis "
    "timestampseconds totimestamp toutctimestamp trytotimestamp",
}
_RESULT: dict[str, Any] = {
    name: kind for kind, names in _OF_TYPE.items() for name in names.split()
} | {
    "split": {"type": "array", "elementType": "string", "containsNull": False},
    "regexpextractall": {"type": "array", "elementType": "string", "containsNull": True},
}
# One of the first argument's type, whether that is a number or an array.
_AS_FIRST = words(
    "- + abs arraydistinct arrayfilter arrayremove arraysort bitwisenot coalesce filter greatest "
    "ifnull knownfloatingpointnormalized knownnotnull knownnullable least mapfilter mod nanvl "
    "negative normalizenanandzero nullif nullifzero nvl pmod positive promoteprecision shiftleft "
    "shiftright shuffle slice sortarray tryadd trymultiply trysubtract unarypositive"
)
_ELEMENT = words("arraymax arraymin elementat get getarrayitem getmapvalue tryelementat")
_NEVER_NULL = words(
    "array currentdate currenttime currenttimestamp equalnull hash isnan isnotnull isnull "
    "knownnotnull map namedstruct now pi struct typeof uuid xxhash64 zeroifnull"
)
_ALWAYS_NULLABLE = words(
    "acos arraycontains arrayexists arrayforall arraymax arraymin arraysoverlap asin atan bround "
    "cbrt ceil ceiling conv cos cosh cot datetrunc degrees elementat elt encode exists exp expm1 "
    "factorial floor forall formatnumber fromunixtime get getarrayitem getjsonobject getmapvalue "
    "isvalidutf8 jsonarraylength knownnullable lengthofjsonarray ln log log10 log1p log2 logarithm "
    "luhncheck mapcontainskey mask mod nextday nullif nullifzero parseurl pmod radians "
    "regexpsubstr right rint round sha2 sign signum sin sinh splitpart sqrt tan tanh tocsv "
    "todegrees tojson toradians trunc tryadd trydivide tryelementat trymultiply trysubtract "
    "trytodate trytotime trytotimestamp unhex urldecode urlencode widthbucket"
)
# Nullable unless ANSI mode is on, or if the text has another form: a plan's text may not say it.
_BY_MODE = words("makedate maketimestamp todate totimestamp tounixtimestamp unixtimestamp")
# Their other arguments may be null: those are left out, or printed.
_NULL_AS_FIRST = words("concatws formatstring printf")
_ALL_NULL = words("coalesce greatest ifnull least nvl zeroifnull")
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_NUMBERS = words("byte short integer long")


def result(name: str, parts: Sequence[TypedColumn]) -> Any:
    """Return the type of a call by its arguments' types, None if it isn't known."""
    if name in _RESULT:
        return _RESULT[name]
    first = parts[0].type if parts else None
    if name in _AS_FIRST:
        return first
    if name in _ELEMENT:
        return element(first)
    make = _MAKERS.get(name)
    return make(parts) if make and parts else None


def nullable(name: str, parts: Sequence[TypedColumn]) -> Nullable:
    """Return whether a call can give null, None if it isn't known."""
    if name in _NEVER_NULL:
        return False
    if name in _ALWAYS_NULLABLE:
        return True
    found = [p.nullable for p in parts]
    if name in _NULL_AS_FIRST:
        return found[0] if found else None
    if name in _ALL_NULL:
        return False if False in found else None if None in found else True
    if name == "nvl2":
        return any_null(found[1:])
    if name in _BY_MODE:
        return any_null(found) or None
    is_known = name in _RESULT or name in _AS_FIRST or name in _MAKERS
    return any_null(found) if is_known else None


def any_null(values: Sequence[Nullable]) -> Nullable:
    """Return whether one of several can be null; None where that hangs on an unknown one."""
    if any(values):
        return True
    return None if None in values else False


def element(collection: Any) -> Any:
    """Return the type of an array's elements or a map's values."""
    if not isinstance(collection, dict):
        return None
    return collection.get("elementType") or collection.get("valueType")


def _array(parts: Sequence[TypedColumn]) -> Any:
    kinds = [p.type for p in parts]
    null = any_null([p.nullable for p in parts])
    if None in kinds or null is None or any(k != kinds[0] for k in kinds):
        return None
    return {"type": "array", "elementType": kinds[0], "containsNull": null}


def _map(parts: Sequence[TypedColumn]) -> Any:
    keys, values = _array(parts[::2]), _array(parts[1::2])
    if not keys or not values:
        return None
    kind, null = values["elementType"], values["containsNull"]
    return {
        "type": "map", "keyType": keys["elementType"], "valueType": kind, "valueContainsNull": null,
    }  # fmt: skip


def _joined(parts: Sequence[TypedColumn]) -> Any:
    """Return the type of texts or arrays that are put together or turned round."""
    kinds = [p.type for p in parts]
    is_array = isinstance(kinds[0], dict) and kinds[0].get("type") == "array"
    if is_array and all(k == kinds[0] for k in kinds):
        return kinds[0]
    # All have one type, as analysis sees to it.
    return "string" if "string" in kinds else None


def _whole(parts: Sequence[TypedColumn]) -> Any:
    """Return the type of `ceil` and `floor`."""
    kind = parts[0].type
    if match := _DECIMAL.fullmatch(str(kind)):
        return f"decimal({int(match[1]) - int(match[2]) + 1},0)"
    return "long" if kind in _NUMBERS or kind in ("float", "double") else None


def _keys(parts: Sequence[TypedColumn]) -> Any:
    kind = parts[0].type
    key = kind.get("keyType") if isinstance(kind, dict) else None
    return key and {"type": "array", "elementType": key, "containsNull": True}


def _values(parts: Sequence[TypedColumn]) -> Any:
    kind = parts[0].type
    if not isinstance(kind, dict) or kind.get("type") != "map":
        return None
    null = kind["valueContainsNull"]
    return {"type": "array", "elementType": kind["valueType"], "containsNull": null}


def _quotient(parts: Sequence[TypedColumn]) -> Any:
    return "double" if all(p.type in (*_NUMBERS, "float", "double") for p in parts) else None


_MAKERS: dict[str, Callable[[Sequence[TypedColumn]], Any]] = {
    "array": _array,
    "bround": lambda parts: parts[0].type,
    "ceil": _whole,
    "ceiling": _whole,
    "concat": _joined,
    "floor": _whole,
    "map": _map,
    "mapkeys": _keys,
    "mapvalues": _values,
    "nvl2": lambda parts: parts[1].type if len(parts) > 1 else None,
    "reverse": _joined,
    "round": lambda parts: parts[0].type,
    "trydivide": _quotient,
    "zeroifnull": lambda parts: parts[0].type,
}
