"""Read the numbered details that `formatted` prints below its tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headgate.parse.spark.explain.arguments import opened

_BLOCK = re.compile(r"^\((?P<number>\d{1,9})\) (?P<name>\S.*)$")
_FIELD = re.compile(r"^([A-Z][A-Za-z ]*)(?: \[\d{1,9}\])?\s*: ?(.*)$")


@dataclass(frozen=True, slots=True)
class Block:
    """One `(12) HashAggregate` with its fields."""

    name: str
    fields: dict[str, str] = field(default_factory=dict)


def read_details(lines: Iterable[str]) -> Mapping[int, Block]:
    """Return the blocks by their operators' numbers; lines of no block are passed over."""
    out: dict[int, Block] = {}
    fields: dict[str, str] | None = None
    key = ""
    for line in lines:
        if line[:1] == "(" and (block := _BLOCK.match(line)):
            fields, key = {}, ""
            out[int(block["number"])] = Block(block["name"].split(" [")[0].strip(), fields)
        elif not line.strip():
            fields = None
        elif fields is not None and (match := _FIELD.match(line)):
            key = match[1].rstrip()
            fields[key] = match[2].strip()
        elif key and fields is not None and opened(fields[key]) > 0:
            fields[key] = f"{fields[key]} {line.strip()}"
    return out
