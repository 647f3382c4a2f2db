"""Rules about the items of JSON Schema that have a schema by position."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.parse.topic_schemas.json_schema import JsonNode, type_name
from headgate.rules.topic_schemas.facts.json_sides import plain
from headgate.rules.topic_schemas.facts.rule import JSON_RULES, Breach, Pair, rule


@rule(
    "SCH311",
    JSON_RULES,
    remedy=(
        "Keep the items as they were. Or change the subject's compatibility level: from BACKWARD "
        "to FORWARD (then upgrade producers first), or from FORWARD to BACKWARD (then upgrade "
        "consumers first)."
    ),
)
def tuple_items_changed(pair: Pair) -> Iterator[Breach]:
    """Schema registries compare the items of a tuple by position.

    If the reader schema restricts a position that the writer schema leaves open, it rejects some
    items at this position. If it accepts no additional items, it also rejects items that it no
    longer lists.
    """
    if not (both := plain(pair)):
        return
    now, was = (tuple_items(n) for n in both)
    reader, writer = both
    open_reader, open_writer = (n.get("additionalItems") in (None, True) for n in both)
    for index in range(len(was), len(now)):
        if open_writer and not now[index].accepts_all:
            yield Breach(f"{pair.path}[{index}]", type_name(now[index]), None, "")
    for index in range(len(now), len(was)):
        if not open_reader and not was[index].accepts_none:
            yield Breach(f"{pair.path}[{index}]", None, type_name(was[index]), "")
    if isinstance(reader.get("items"), (dict, bool)) and writer.get("items") is None:
        items = reader.at(reader.get("items"))
        if not items.accepts_all:
            yield Breach(f"{pair.path}[]", type_name(items), "anything", "")


def tuple_items(node: JsonNode) -> list[JsonNode]:
    """Return the schemas of items by position."""
    found = node.get("prefixItems") or node.get("items")
    return [node.at(d) for d in found] if isinstance(found, list) else []
