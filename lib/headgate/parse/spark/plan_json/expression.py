"""Write expressions of a plan's JSON as explain text prints them, and collect attribute types."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from headgate.parse.spark.explain.odd_names import OddNames, encode, encoded_type, is_odd
from headgate.parse.spark.explain.printed_plan import TypedColumn
from headgate.parse.spark.expression.type_names import interval_text, scala_type, sql_type
from headgate.parse.spark.plan_json.class_names import NAMES, OPERATORS, SAFE_TEXT

_SUBQUERIES = {
    "ListQuery": "list",
    "ScalarSubquery": "scalar-subquery",
    "Exists": "exists",
    "LateralSubquery": "lateral-subquery",
}
Types = dict[int, TypedColumn]
Part = tuple[str, Any]


def collect_types(found: Any, types: Types) -> None:
    """Note type and nullability of every attribute reference anywhere in `found`.

    The deepest one counts, where the attribute begins: above an outer join it may be nullable.
    """
    stack = [found]
    while stack:
        current = stack.pop()
        if isinstance(current, list):
            stack.extend(current)
        elif isinstance(current, dict):
            if str(current.get("class", "")).endswith(".AttributeReference"):
                number = _id(current.get("exprId"))
                if number is not None and "dataType" in current:
                    kind = TypedColumn(current["dataType"], bool(current.get("nullable")))
                    types.setdefault(number, kind)
            stack.extend(v for v in current.values() if isinstance(v, (list, dict)))


def collect_names(found: Any) -> OddNames:
    """Return the odd names of attributes, aliases and the fields of structs in `found`."""
    columns: set[tuple[str, int]] = set()
    fields: set[str] = set()
    stack = [found]
    while stack:
        current = stack.pop()
        if isinstance(current, list):
            stack.extend(current)
        elif isinstance(current, dict):
            name, number = current.get("name"), _id(current.get("exprId"))
            if isinstance(name, str) and is_odd(name):
                if number is not None:
                    columns.add((name, number))
                elif "type" in current:
                    fields.add(name)
            stack.extend(v for v in current.values() if isinstance(v, (list, dict)))
    return OddNames(frozenset(columns), frozenset(fields))


def expressions(found: Sequence[Any]) -> list[str]:
    """Return the texts of a list of expressions, each a list of nodes in pre-order."""
    return [expression(e) for e in found]


def column_list(found: Sequence[Any]) -> str:
    """Return `[k#1, v#2]`."""
    return f"[{', '.join(expressions(found))}]"


def expression(found: Any) -> str:
    """Return the text of one expression: its nodes in pre-order, each with its child count."""
    nodes = found if isinstance(found, list) else [found]
    stack: list[Part] = []
    for node in reversed(nodes):
        if not isinstance(node, dict):
            raise TypeError("an expression node was expected")
        count = int(node.get("num-children") or 0)
        parts = [stack.pop() for _ in range(min(count, len(stack)))]
        stack.append(_write(node, parts))
    return stack[-1][0] if stack else ""


def _id(found: Any) -> int | None:
    number = found.get("id") if isinstance(found, dict) else None
    return number if isinstance(number, int) else None


def attribute_number(node: Mapping[str, Any]) -> int | None:
    """Return the number of an attribute, None where it has none."""
    return _id(node.get("exprId"))


def _named(node: Mapping[str, Any]) -> str:
    return f"{encode(str(node['name']))}#{attribute_number(node)}"


def _write(node: Mapping[str, Any], parts: list[Part]) -> Part:
    """Return an expression's text, and its type where a field access above may need it."""
    name = str(node.get("class", "")).rpartition(".")[2]
    texts = [text for text, _ in parts]
    match name:
        case "AttributeReference":
            return _named(node), node.get("dataType")
        case "Alias":
            return f"{texts[0]} AS {_named(node)}", parts[0][1]
        case "Literal":
            return _literal(node), node.get("dataType")
        case "Cast":
            return f"cast({texts[0]} as {sql_type(encoded_type(node['dataType']))})", node[
                "dataType"
            ]
        case "GetStructField":
            return _field(node, parts[0])
        case "JsonToStructs":
            return _from_json(node, texts), node.get("schema")
    if "replacement" in node:
        return _replaceable(name, node), None
    return _composite(name, node, texts), node.get("dataType")


def _composite(name: str, node: Mapping[str, Any], texts: list[str]) -> str:
    if name in OPERATORS and len(texts) == 2:
        return f"({texts[0]} {OPERATORS[name]} {texts[1]})"
    match name:
        case "AggregateExpression":
            return _aggregate(node, texts)
        case "Not":
            return f"NOT {texts[0]}"
        case "UnaryMinus":
            return f"-{texts[0]}" if "#" in texts[0] and " " not in texts[0] else f"-({texts[0]})"
        case "CaseWhen":
            return _case(texts)
        case "If":
            return f"if ({texts[0]}) {texts[1]} else {texts[2]}"
        case "In":
            return f"{texts[0]} IN ({','.join(texts[1:])})"
        case "Like" | "RLike" | "ILike":
            return f"{texts[0]} {name.upper()} {texts[1]}"
        case "TimestampAddInterval" | "TimeAdd":
            return f"{texts[0]} + {texts[1]}"
        case "PreciseTimestampConversion":
            kinds = ", ".join(scala_type(node[k]) for k in ("fromType", "toType"))
            return f"precisetimestampconversion({texts[0]}, {kinds})"
        case "OuterReference":
            return f"outer({expression(node['e'])})"
        case "NamedLambdaVariable":
            return f"lambda {node.get('name')}#{_id(node.get('exprId'))}"
        case "LambdaFunction":
            return f"lambdafunction({', '.join([*texts, str(bool(node.get('hidden'))).lower()])})"
        case "PythonUDF" | "PythonUDTF":
            return f"{node['name']}({', '.join(texts)})#{_id(node.get('resultId'))}"
        case "SortOrder":
            return f"{texts[0]} {_order(node)}"
        case "InSubquery":
            return f"{texts[0]} IN ({texts[-1]})"
        case "ListQuery" | "ScalarSubquery" | "Exists" | "LateralSubquery":
            return f"{_SUBQUERIES[name]}#{_id(node.get('exprId'))} []"
        case "CollectList" | "CollectSet":
            more = [str(node["ignoreNulls"]).lower()] if "ignoreNulls" in node else []
            return f"{NAMES[name]}({', '.join([*texts, '0', '0', *more])})"
        case "WindowExpression":
            return f"{texts[0]} windowspecdefinition()"
        case "HyperLogLogPlusPlus":
            return f"{NAMES[name]}({texts[0]}, {node.get('relativeSD')}, 0, 0)"
        case "ComplexTypedAggregateExpression" | "SimpleTypedAggregateExpression":
            return "typedaggregator()"
        case "First" | "Last":
            return f"{name.lower()}({texts[0]}, {str(bool(node.get('ignoreNulls'))).lower()})"
    zone = [f"Some({node['timeZoneId']})"] if node.get("timeZoneId") else []
    return f"{NAMES.get(name, name.lower())}({', '.join([*texts, *zone])})"


def _order(node: Mapping[str, Any]) -> str:
    """Return `ASC NULLS FIRST`; a writer that says neither direction nor nulls means that."""
    down = str(node.get("direction")).find("Descending") >= 0
    last = str(node.get("nullOrdering")).find("NullsLast") >= 0
    return f"{'DESC' if down else 'ASC'} NULLS {'LAST' if last else 'FIRST'}"


def _aggregate(node: Mapping[str, Any], texts: list[str]) -> str:
    text = texts[0]
    if node.get("isDistinct"):
        head, _, rest = text.partition("(")
        text = f"{head}(distinct {rest}"
    return f"{text} FILTER (WHERE {texts[1]})" if len(texts) > 1 else text


def _case(texts: list[str]) -> str:
    pairs = zip(texts[::2], texts[1::2], strict=False)
    branches = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
    rest = f" ELSE {texts[-1]}" if len(texts) % 2 else ""
    return f"CASE {branches}{rest} END"


def _literal(node: Mapping[str, Any]) -> str:
    value, kind = node.get("value"), node.get("dataType")
    if value is None:
        return "null"
    text = str(value)
    if isinstance(kind, str) and kind.startswith("interval"):
        return interval_text(text, kind)
    if text.startswith("{") and is_avro(text):
        return text
    return text if SAFE_TEXT.match(text) else f"'{SAFE_TEXT.sub('', text)}'"


def is_avro(text: str) -> bool:
    """Whether a literal is an Avro schema, which says how records are read and not what is in them.

    Explain text prints it as it is; its brackets are balanced.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "type" in found and ("fields" in found or "name" in found)


def _field(node: Mapping[str, Any], child: Part) -> Part:
    text, kind = child
    fields = kind.get("fields", []) if isinstance(kind, dict) else []
    ordinal = node.get("ordinal")
    if isinstance(ordinal, int) and 0 <= ordinal < len(fields):
        return f"{text}.{encode(str(fields[ordinal]['name']))}", fields[ordinal]["type"]
    return f"{text}.{encode(str(node.get('name') or f'_{ordinal}'))}", None


def _from_json(node: Mapping[str, Any], texts: list[str]) -> str:
    schema = encoded_type(node.get("schema"))
    fields = schema.get("fields", []) if isinstance(schema, dict) else []
    described = [
        f"StructField({f['name']},{scala_type(f['type'])},{str(f['nullable']).lower()})"
        for f in fields
    ]
    zone = [f"Some({node['timeZoneId']})"] if node.get("timeZoneId") else []
    flag = [str(node["variantAllowDuplicateKeys"]).lower()] if _has_flag(node) else []
    return f"from_json({', '.join([*described, *texts, *zone, *flag])})"


def _has_flag(node: Mapping[str, Any]) -> bool:
    return "variantAllowDuplicateKeys" in node


def _replaceable(name: str, node: Mapping[str, Any]) -> str:
    """Write `between(...)` and its like by their parameters, not by what replaces them."""
    parameters = [
        expression(value)
        for key, value in node.items()
        if isinstance(value, list) and value and isinstance(value[0], dict) and "class" in value[0]
    ]
    return f"{NAMES.get(name, name.lower())}({', '.join(parameters)})"
