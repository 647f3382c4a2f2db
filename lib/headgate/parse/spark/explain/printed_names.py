"""Find the odd column names in explain text, and replace each by a word.

What Spark prints of an attribute ends in its number: in a list of columns, `[k#1, f,g#2L]`, a comma
ends a name only after a number, and after ` AS ` a name extends to the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from headgate.parse.spark.explain.odd_names import (
    OddNames,
    is_balanced,
    is_encoded,
    is_odd,
    is_unusual,
    word,
)
from headgate.parse.spark.explain.printed_plan import Plan, PlanNode

_LIST = re.compile(
    r"(?:\bStreaming(?:Execution)?Relation(?:V2)? [^\n]*?, "
    r"|\b(?:\w*Relation|LogicalRDD|ExistingRDD|\w*Scan)(?: [\w.]+)?(?: <empty>,)? ?"
    r"|^Input(?: \[\d+\])?: )\[",
    re.M,
)
"""What precedes a list of plain columns: those of a source, and what `formatted` says that an
operator gets. What it gives may hold expressions.
"""
_NUMBER = r"#(?P<id>\d{1,18})L?(?:-T\d+ms)?"
_ITEM = re.compile(rf" ?(?P<name>[^\n]+?){_NUMBER}(?P<end>[,\]])")
_NO_ITEM = re.compile(r"\]| ?\.\.\. \d+ more fields\]")
_EXTRACTED = "_extract_"
"""How the optimizer begins the name of a struct's field that it reads by itself."""
_OPTIONS = "], ["
_ALIAS = re.compile(rf" AS (?P<name>[^\n]+?){_NUMBER}(?=[,\])\s]|$)", re.M)
_FIELD = re.compile(r"StructField\((?P<name>[^\n]+?),(?=[A-Z]\w*Type\b)")


def encode_names(text: str) -> str:
    """Return explain text with a word for each odd name that the text itself shows."""
    listed = frozenset(_listed(text))
    found = OddNames(listed)
    text = put_in(found, text) if found else text
    aliases = frozenset(_aliases(text))
    parsed = frozenset(f["name"] for f in _FIELD.finditer(text) if is_odd(f["name"]))
    odd = {n.removeprefix(_EXTRACTED) for n, _ in listed | aliases}
    odd = {name for name in odd if is_odd(name)}
    others = OddNames(aliases, parsed | odd)
    return put_in(others, text) if others else text


def _aliases(text: str) -> Iterator[tuple[str, int]]:
    """Yield the odd names that expressions get, with their numbers.

    A text constant may hold ` AS ` too. A name whose brackets don't close is one only if the
    column also occurs without the word.
    """
    for found in _ALIAS.finditer(text):
        name = found["name"]
        if not is_odd(name):
            continue
        unaliased = rf"(?<! AS ){re.escape(name)}#{found['id']}(?!\d)"
        if is_balanced(name) or re.search(unaliased, text):
            yield name, int(found["id"])


def _listed(text: str) -> Iterator[tuple[str, int]]:
    """Yield the odd names and their numbers in lists of columns, which hold nothing else."""
    for found in _LIST.finditer(text):
        at, odd = found.end(), is_odd if found.group().startswith("Input") else is_unusual
        while not _NO_ITEM.match(text, at) and (item := _ITEM.match(text, at)):
            # The options of a source may stand in a list before its columns.
            name = item["name"].rpartition(_OPTIONS)[2]
            if odd(name):
                yield name, int(item["id"])
            at = item.end()
            if item["end"] == "]":
                break


def put_in(names: OddNames, text: str) -> str:
    """Return a text with each of these names replaced by a word."""
    if names.columns and "#" in text:
        text = _columns(names.columns).sub(lambda m: word(m.group()), text)
    if names.fields and any(f in text for f in names.fields):
        longest = sorted(map(re.escape, names.fields), key=len, reverse=True)
        text = re.sub(
            rf"(?<=StructField\()(?:{'|'.join(longest)})(?=,)"
            rf"|(?<=[\w)\]]\.)(?:{'|'.join(longest)})(?= AS |[,)\]#\s]|$)"
            rf"|(?<=[\s(\[]')(?:{'|'.join(f'`{n}`|{n}' for n in longest)})(?= AS |[,)\]\s]|$)",
            lambda m: word(m.group().removeprefix("`").removesuffix("`")),
            text,
        )
    return text


def _columns(columns: Iterable[tuple[str, int]]) -> re.Pattern[str]:
    """Return what matches each name before its own number."""
    longest = sorted(columns, key=lambda c: len(c[0]), reverse=True)
    return re.compile("|".join(rf"{re.escape(n)}(?=#{i}(?!\d))" for n, i in longest))


def with_names(plans: Sequence[Plan], known: OddNames) -> tuple[Plan, ...]:
    """Return printed plans with a word for each name that a plan's JSON says exactly."""
    return tuple(_named(p, known) if known and not p.names else p for p in plans)


def names_in(plans: Iterable[Plan]) -> OddNames:
    """Return the odd names that the JSON among the plans has."""
    out = OddNames()
    for plan in plans:
        out = out.joined(plan.names) if plan.names else out
    return out


def _named(plan: Plan, known: OddNames) -> Plan:
    return replace(plan, nodes=put_in_nodes(known, plan.nodes))


def put_in_nodes(names: OddNames, nodes: Sequence[PlanNode]) -> tuple[PlanNode, ...]:
    """Return the nodes with each of these names replaced by a word."""
    return tuple(_in_node(n, names) for n in nodes) if names else tuple(nodes)


def _in_node(node: PlanNode, known: OddNames) -> PlanNode:
    fields = {key: put_in(known, value) for key, value in node.fields.items()}
    return replace(node, detail=put_in(known, node.detail), fields=fields)


def has_odd_names(plans: Iterable[Plan]) -> bool:
    """Whether a word stands for a name in one of the plans."""
    texts = (t for p in plans for n in p.nodes for t in (n.detail, *n.fields.values()))
    return any(map(is_encoded, texts))
