"""Schemas and changed schemas, made by a random generator that the caller gives."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

SCALARS = ("int", "long", "float", "double", "string", "bytes", "boolean")


def avro(rng: Random, depth: int = 0, name: str = "R") -> dict[str, Any]:
    """A record of up to four fields with nested types of every kind."""
    fields = [_avro_field(rng, f"f{i}", depth, name) for i in range(rng.randint(1, 4))]
    return {"type": "record", "name": name, "fields": fields}


def _avro_field(rng: Random, field: str, depth: int, owner: str) -> dict[str, Any]:
    kind = _avro_type(rng, depth, f"{owner}_{field}")
    made: dict[str, Any] = {"name": field, "type": kind}
    if isinstance(kind, list) and kind[0] == "null" and rng.random() < 0.7:
        made["default"] = None
    elif kind in ("int", "long") and rng.random() < 0.5:
        made["default"] = 0
    elif kind == "string" and rng.random() < 0.5:
        made["default"] = ""
    return made


def _avro_type(rng: Random, depth: int, name: str) -> Any:
    roll = rng.random()
    if roll < 0.5 or depth > 1:
        return rng.choice(SCALARS)
    if roll < 0.65:
        return ["null", rng.choice(SCALARS)]
    if roll < 0.72:
        return {"type": "array", "items": _avro_type(rng, depth + 1, f"{name}i")}
    if roll < 0.79:
        return {"type": "map", "values": _avro_type(rng, depth + 1, f"{name}v")}
    if roll < 0.86:
        return {"type": "enum", "name": name, "symbols": ["A", "B", "C"][: rng.randint(1, 3)]}
    if roll < 0.9:
        return {"type": "fixed", "name": name, "size": rng.choice((4, 8))}
    return avro(rng, depth + 1, name)


def changed_avro(rng: Random, schema: dict[str, Any]) -> dict[str, Any]:
    """The record after one to two edits at random places."""
    new = copy.deepcopy(schema)
    for number in range(rng.randint(1, 2)):
        _edit_avro(rng, rng.choice(_records(new)), f"n{number}")
    return new


def _records(found: Any) -> list[dict[str, Any]]:
    if isinstance(found, list):
        return [r for f in found for r in _records(f)]
    if not isinstance(found, dict):
        return []
    own = [found] if found.get("type") == "record" else []
    return own + [r for v in found.values() for r in _records(v)]


def _edit_avro(rng: Random, record: dict[str, Any], name: str) -> None:
    fields = record["fields"]
    field = rng.choice(fields) if fields else None
    roll = rng.random()
    if field is None or roll < 0.25:
        fields.append(_avro_field(rng, name, 1, record["name"]))
    elif roll < 0.45:
        fields.remove(field)
    elif roll < 0.6:
        field.pop("default", None)
        field["type"] = _avro_type(rng, 1, f"{record['name']}_{name}")
    elif roll < 0.75:
        _edit_type(rng, field)
    elif roll < 0.85 and isinstance(field["type"], str):
        field.pop("default", None)
        field["type"] = [field["type"], "null"]
    elif roll < 0.92:
        field["aliases"] = [field["name"]]
        field["name"] = f"{field['name']}_new"
    else:
        rng.shuffle(fields)


def _edit_type(rng: Random, field: dict[str, Any]) -> None:
    kind = field["type"]
    if isinstance(kind, dict) and kind["type"] == "enum":
        kind["symbols"] = ["A", "B", "C", "D"][: rng.randint(1, 4)]
        if rng.random() < 0.4:
            kind["default"] = kind["symbols"][0]
    elif isinstance(kind, dict) and kind["type"] == "fixed":
        kind["size"] = 8
    elif isinstance(kind, str):
        field.pop("default", None)
        field["type"] = rng.choice(SCALARS)
    else:
        field["doc"] = "said in other words"


PROTO_SCALARS = ("int32", "int64", "uint32", "sint64", "string", "bytes", "bool", "double")
Message = dict[int, tuple[str, str, str]]


def protobuf(rng: Random) -> Message:
    """A message: {number: (label, type, name)}."""
    numbers = range(1, rng.randint(2, 6))
    return {n: ("", rng.choice((*PROTO_SCALARS, "Kind", "Part")), f"f{n}") for n in numbers}


def changed_protobuf(rng: Random, message: Message) -> Message:
    """The message after one edit."""
    new = dict(message)
    number = rng.choice(list(new))
    label, kind, name = new[number]
    roll = rng.random()
    if roll < 0.3:
        new[max(new) + 1] = ("", rng.choice(PROTO_SCALARS), f"f{max(new) + 1}")
    elif roll < 0.5:
        del new[number]
    elif roll < 0.8:
        new[number] = (label, rng.choice((*PROTO_SCALARS, "Kind", "Part")), name)
    elif roll < 0.9:
        new[number] = (label, kind, f"{name}_new")
    else:
        new[number] = ("repeated", kind, name)
    return new


def proto_text(message: Message) -> str:
    """The file that declares the message, and what it names."""
    lines = [f"  {label} {kind} {name} = {n};" for n, (label, kind, name) in message.items()]
    body = "\n".join(lines)
    return (
        'syntax = "proto3";\npackage shop;\n'
        f"message Order {{\n{body}\n}}\n"
        "message Part {\n  string code = 1;\n}\nenum Kind {\n  NONE = 0;\n  SOME = 1;\n}\n"
    )


JSON_SCALARS = ("string", "integer", "number", "boolean", "null")


def json_schema(rng: Random, depth: int = 0) -> dict[str, Any]:
    """An object with up to four properties; open or closed."""
    names = [f"p{i}" for i in range(rng.randint(1, 4))]
    made: dict[str, Any] = {
        "type": "object",
        "properties": {n: _json_type(rng, depth) for n in names},
    }
    if rng.random() < 0.5:
        made["additionalProperties"] = False
    if rng.random() < 0.6:
        made["required"] = sorted(rng.sample(names, rng.randint(1, len(names))))
    return made


def _json_type(rng: Random, depth: int) -> dict[str, Any]:
    roll = rng.random()
    if roll < 0.5 or depth > 1:
        return {"type": rng.choice(JSON_SCALARS)}
    if roll < 0.6:
        return {"type": "string", "maxLength": rng.randint(1, 9)}
    if roll < 0.7:
        return {"type": "integer", "minimum": rng.randint(0, 9)}
    if roll < 0.8:
        return {"enum": ["a", "b", "c"][: rng.randint(1, 3)]}
    if roll < 0.9:
        return {"type": "array", "items": _json_type(rng, depth + 1)}
    return json_schema(rng, depth + 1)


def changed_json(rng: Random, schema: dict[str, Any]) -> dict[str, Any]:
    """The object after one edit."""
    new = copy.deepcopy(schema)
    properties = new["properties"]
    name = rng.choice(list(properties))
    roll = rng.random()
    if roll < 0.25:
        properties["added"] = {"type": rng.choice(JSON_SCALARS)}
        if rng.random() < 0.3:
            new["required"] = [*new.get("required", []), "added"]
    elif roll < 0.4 and len(properties) > 1:
        del properties[name]
        new["required"] = [r for r in new.get("required", []) if r != name]
    elif roll < 0.6:
        properties[name] = _json_type(rng, 1)
    elif roll < 0.7:
        new["required"] = sorted({*new.get("required", []), name})
    elif roll < 0.8:
        new["required"] = [r for r in new.get("required", []) if r != name]
    elif roll < 0.9:
        new["additionalProperties"] = not new.get("additionalProperties", True)
    else:
        properties[name] = {**properties[name], "description": "said in other words"}
    if not new.get("required", True):
        del new["required"]
    return new


def text(schema: Any) -> str:
    """The schema as a registry gets it."""
    return schema if isinstance(schema, str) else json.dumps(schema)
