"""Changes of a plan as JSON: one at a time, each with what is honest to say of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

from . import plan_conditions, plan_shape, plan_state
from .mutant import HARM, HARMLESS, MIXED, OK, Base, Files, Mutant
from .plan_tree import Nodes, attributes, dicts, number, output, sources, word

ELSEWHERE = "/data/somewhere/else"
Change = Callable[[Nodes], Iterator[tuple[str, Nodes]]]


def changed_plans(base: Base) -> Iterator[tuple[str, str, Nodes, frozenset, bool]]:
    """Yield kind, what, plan, allowed outcomes, told."""
    plan = json.loads(base.forms["json"][1])
    for kind, (change, allowed, told) in CHANGES.items():
        for what, nodes in change(copy.deepcopy(plan)):
            if nodes != plan or kind == "unchanged":
                yield kind, what, nodes, allowed, told


def mutants(base: Base) -> Iterator[Mutant]:
    """Yield every changed plan as evidence, with the session's files beside it."""
    file, _ = base.forms["json"]
    for kind, what, nodes, allowed, told in changed_plans(base):
        session = _beside(kind, base.session)
        yield Mutant(f"json: {kind}", what, {**session, file: json.dumps(nodes)}, allowed, told)


def _beside(kind: str, session: Files) -> Files:
    """Return the session's files without what the changed plan contradicts."""
    if kind == "source path":
        return elsewhere(session)
    if kind in ("union order", "union branch", "join sides"):
        return {file: text for file, text in session.items() if file != "capture.json"}
    return session


def elsewhere(session: Files) -> Files:
    """Return a session's files with all sources in another folder."""
    found = json.loads(session.get("capture.json", "{}"))
    for source in found.get("sources") or ():
        if "path" in source["options"]:
            source["options"]["path"] = ELSEWHERE
    return {**session, "capture.json": json.dumps(found)}


def source_path(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """A file source reads another folder."""
    for place in sources(nodes):
        if str(nodes[place].get("sourceName", "")).startswith("FileSource["):
            changed = copy.deepcopy(nodes)
            changed[place]["sourceName"] = f"FileSource[{ELSEWHERE}]"
            yield f"source {place}", changed


def other_udf(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """A function of another name."""
    changed = copy.deepcopy(nodes)
    for found in dicts(changed):
        if word(found) in ("PythonUDF", "ScalaUDF") and found.get("name"):
            found["name"] = f"{found['name']}_other"
    yield "all functions", changed


# What changes nothing.


def unchanged(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Nothing."""
    yield "nothing", nodes


def renumbered(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Other numbers of attributes."""
    for found in dicts(nodes):
        if "jvmId" in found and "id" in found:
            found["id"] = 1_000_000 - found["id"]
    yield "all ids", nodes


def renamed_alias(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Another name for a column between two operators."""
    used = {number(a) for a in attributes(nodes)}
    top = {number(a) for a in output(nodes, 0)}
    for found in [d for d in dicts(nodes) if word(d) == "Alias"]:
        if number(found) in used - top:
            changed = copy.deepcopy(nodes)
            for other in dicts(changed):
                if word(other) in ("Alias", "AttributeReference") and number(other) == number(
                    found
                ):
                    other["name"] = "renamed_by_hand"
            yield f"{found['name']}", changed


CHANGES: dict[str, tuple[Change, frozenset[Any], bool]] = {
    "other function": (plan_state.other_function, HARM, True),
    "other grouping key": (plan_state.other_key, HARM, True),
    "other argument": (plan_state.other_argument, HARM, True),
    "keys exchanged": (plan_state.keys_exchanged, HARM, True),
    "other duplicates": (plan_state.other_duplicates, HARM, True),
    "other join key": (plan_conditions.other_join_key, HARM, True),
    "join sides": (plan_conditions.join_sides, HARM, True),
    "join type": (plan_conditions.join_type, MIXED, True),
    "join condition": (plan_conditions.join_condition, MIXED, True),
    "filter condition": (plan_conditions.filter_condition, MIXED, True),
    "window grid": (plan_state.window_grid, HARM, True),
    "watermark column": (plan_state.watermark_column, HARM | {OK}, True),
    "watermark removed": (plan_shape.watermark_removed, MIXED, True),
    "state removed": (plan_shape.state_removed, HARM, True),
    "union order": (plan_shape.union_order, HARM, True),
    "union branch": (plan_shape.union_branch, HARM, True),
    "inserted state": (plan_shape.inserted_state, HARM, True),
    "inserted filter": (plan_shape.inserted_filter, MIXED, True),
    "key type": (plan_state.key_type, HARM, True),
    "key nullable": (plan_state.key_nullable, HARM, True),
    "value type": (plan_state.value_type, HARM, True),
    "other udf": (other_udf, MIXED, True),
    "source path": (source_path, HARM, True),
    "unchanged": (unchanged, HARMLESS, False),
    "renumbered": (renumbered, HARMLESS, False),
    "renamed alias": (renamed_alias, HARMLESS, False),
    "reordered conditions": (plan_conditions.reordered_conditions, HARMLESS, False),
}
