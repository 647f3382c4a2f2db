"""Read the tree that `explain` prints, and say where it is not whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from headgate.parse.spark.explain.endings import Block, cut_details, cut_row, read_details
from headgate.parse.spark.explain.printed_plan import Plan, PlanNode, without_secrets
from headgate.parse.spark.explain.rows import Row, read_rows, result_of
from headgate.parse.spark.explain.sections import Section
from headgate.text.numbers import plural

_STAGE = re.compile(r"^(?:\*(?:\(\d+\))? ?)?(?P<marks>[~!]*)")
_MARKS = ("*", "~", "!")
_NAME = re.compile(r"'?(?P<name>[A-Za-z_][\w$]*(?:\.[\w$]+)*)")
_STATISTICS = re.compile(r", Statistics\([^()]*(?:\([^()]*\)[^()]*)*\)$")
_SAID_AGAIN = frozenset(("Sort", "StateStoreRestore", "StateStoreSave"))
_CUT = re.compile(r"\.\.\. (\d{1,9}) more fields")
_HOW_READ = re.compile(r", (?:local|coalesced|skewed)(?: and skewed)?$")
_BARE = frozenset(("OneRowRelation", "PlanLater"))
_AGGREGATES = frozenset(("HashAggregate", "SortAggregate", "ObjectHashAggregate"))


def read_section(section: Section) -> Plan | None:
    """Return the plan of one section, or None where it holds no tree.

    A tree whose operators are numbered is of the form `formatted`. What the text lacks makes
    `is_whole` False and a warning.
    """
    read = read_rows(section)
    if not read.rows:
        return None
    texts = [_without_statistics(row.text) for row in read.rows]
    numbers = _numbers(texts) if section.form == "physical" else []
    is_formatted = bool(numbers)
    details = read_details(read.rest) if is_formatted else {}
    form = "formatted" if is_formatted else section.form
    nodes = _nodes(read.rows, texts, numbers, details)
    if is_formatted:
        nodes = tuple(_without_fields(nodes))
    nodes = without_secrets(nodes)
    gaps = [*read.gaps, *_without_details(nodes, numbers, details)]
    last = nodes[-1]
    if not is_formatted and _ends_early(last, texts):
        gaps.append(f"ends in the middle of line {last.line}, or lacks the input of {last.name}")
    if section.subtree:
        gaps.append(_CODEGEN)
    warnings = (*(f"the {form} plan {gap}" for gap in gaps), *read.notes, *_cut(nodes, form))
    whole, result = not gaps, result_of(section)
    return Plan(form, nodes, warnings, is_whole=whole, line=section.line, result=result)


def _ends_early(last: PlanNode, texts: Sequence[str]) -> bool:
    """Say whether the last row breaks off; in a `formatted` tree it may lack only its number."""
    has_numbers = len(texts) > 1 and bool(_numbers(texts[:-1]))
    return has_numbers or cut_row(last) or not (last.detail or last.name in _BARE)


_CODEGEN = (
    "was printed with mode `codegen`, which shows only compiled subtrees: other operators may be "
    "missing"
)


def _without_statistics(text: str) -> str:
    if text.endswith(")") and ", Statistics(" in text:
        return _STATISTICS.sub("", text)
    return _HOW_READ.sub("", text) if "AQEShuffleRead" in text else text


def _numbers(texts: Sequence[str]) -> list[int]:
    """Return the operators' numbers; none where one of them has none: no `formatted` plan."""
    out: list[int] = []
    for text in texts:
        number = _number(text)
        if number is None:
            return []
        out.append(number)
    return out


def _number(text: str) -> int | None:
    """Return the number that `formatted` puts after an operator's name."""
    begin = text.rfind("(") + 1
    inside = text[begin:-1]
    return (
        int(inside)
        if begin and text[-1] == ")" and inside.isdecimal() and len(inside) < 10
        else None
    )


def _nodes(
    rows: Sequence[Row],
    texts: Sequence[str],
    numbers: Sequence[int],
    details: Mapping[int, Block],
) -> tuple[PlanNode, ...]:
    children: list[list[int]] = [[] for _ in rows]
    path: list[int] = []
    for index, row in enumerate(rows):
        del path[row.depth :]
        if path:
            children[path[-1]].append(index)
        path.append(index)
    out = []
    for index, row in enumerate(rows):
        text, block = texts[index], None
        if numbers:
            text = text[: text.rfind("(")].rstrip()
            block = details.get(numbers[index])
        out.append(_node(text, row.line, tuple(children[index]), block))
    return tuple(out)


def _node(text: str, line: int, children: tuple[int, ...], block: Block | None) -> PlanNode:
    streaming = False
    if text[:1] in _MARKS and (stage := _STAGE.match(text)):
        streaming = "~" in stage["marks"]
        text = text[stage.end() :]
    name, detail = split_name(text or (block.name if block else ""))
    fields = block.fields if block else {}
    return PlanNode(name, detail, line, children, fields, streaming or None)


def _without_fields(nodes: Sequence[PlanNode]) -> Iterator[PlanNode]:
    """Say `?` for operators without details; position shows which aggregations are partial."""
    partial = {
        child
        for node in nodes
        if node.name in ("Exchange", "MergingSessions") or "StateStore" in node.name
        for child in node.children
    }
    for index, node in enumerate(nodes):
        if node.fields:
            yield node
        elif node.name in _AGGREGATES:
            function = "partial_unknown(?)" if index in partial else "?"
            yield replace(node, fields={"Keys": "[?]", "Functions": f"[{function}]"})
        elif node.name == "Exchange":
            yield replace(node, fields={"Arguments": "unknown(?)"})
        else:
            yield node


def _without_details(
    nodes: Sequence[PlanNode], numbers: Sequence[int], details: Mapping[int, Block]
) -> list[str]:
    """Say which operators' details a formatted plan lacks."""
    if not numbers:
        return []
    if not details:
        return ["lacks the operator details (keys, columns, conditions) below the tree"]
    missing = sorted(set(numbers) - details.keys())
    out = []
    if missing:
        which = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
        out.append(f"lacks the details of {plural(len(missing), 'operator')}: {which}")
    if cut_details(nodes, numbers, details):
        out.append("ends in the middle of the operator details")
    return out


def _cut(nodes: Sequence[PlanNode], form: str) -> tuple[str, ...]:
    cut = sum(
        int(found)
        for node in nodes
        for text in (node.detail, *(t for f, t in node.fields.items() if not _said_again(node, f)))
        if "more fields" in text
        for found in _CUT.findall(text)
    )
    if not cut:
        return ()
    return (
        f"the {form} plan is truncated: the text lacks {plural(cut, 'field')}. Raise "
        "spark.sql.debug.maxToStringFields and print the plan again",
    )


def _said_again(node: PlanNode, field: str) -> bool:
    """Say whether what Spark cuts from a node's arguments is in lists that it never cuts.

    `Output` lists a source's columns, and the keys of a state store are those of the aggregation
    below; a sort beneath it decides nothing.
    """
    if field != "Arguments":
        return False
    return (not node.children and "Output" in node.fields) or node.name in _SAID_AGAIN


def split_name(text: str) -> tuple[str, str]:
    """Cut an operator's line into its name and what follows."""
    if text.startswith("Streaming RelationV2 "):
        # Spark 2.4; what follows is written as in its physical plans.
        return "ScanV2", text[len("Streaming RelationV2 ") :].strip()
    match = _NAME.match(text)
    name = match["name"] if match else (text.split(" ")[0] or "?")
    return name, text[match.end() if match else len(name) :].strip()
