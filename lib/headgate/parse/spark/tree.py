"""Read the tree that `explain` prints, and the details below it in `formatted`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from headgate.parse.spark.plan import Plan, PlanNode
from headgate.parse.spark.sections import Section, is_other_header

_STAGE = re.compile(r"^(?:\* |\*\(\d+\) )")
_NAME = re.compile(r"(?P<tick>')?(?P<name>[A-Za-z_][\w$]*(?:\.[\w$]+)*)")
_NUMBERED = re.compile(r"^(?P<text>.*?)\s*\((?P<number>\d+)\)$")
_BLOCK = re.compile(r"^\((?P<number>\d+)\) (?P<name>\S.*)$")
_FIELD = re.compile(r"^(?P<key>[A-Z][A-Za-z ]*?)(?: \[\d+\])?\s*: ?(?P<value>.*)$")
_STATISTICS = re.compile(r", Statistics\([^()]*(?:\([^()]*\)[^()]*)*\)$")
_CUT = re.compile(r"\.\.\. (\d+) more fields")
Row = tuple[int, str, int]


def read_section(section: Section) -> Plan | None:
    """Return the plan of one section, or None where it holds no tree.

    A section that has details below its tree is of the form `formatted`.
    """
    tree, rest = _tree_lines(section)
    rows = _without_initial_plan(_rows(tree))
    if not rows:
        return None
    details = _blocks(rest)
    form = "formatted" if details and section.form == "physical" else section.form
    nodes = _nodes(rows, details)
    return Plan(form, nodes, _warnings(nodes, form))


def _tree_lines(section: Section) -> tuple[list[tuple[int, str]], list[str]]:
    """Split a section into its tree and what follows; a result's schema line is passed over."""
    lines = list(enumerate(section.lines, start=section.line))
    while lines and not lines[0][1].strip():
        lines.pop(0)
    if section.form == "analyzed" and len(lines) > 1 and _rails(lines[1][1]) is None:
        lines.pop(0)
    indent = len(lines[0][1]) - len(lines[0][1].lstrip()) if lines else 0
    tree: list[tuple[int, str]] = []
    for position, (number, line) in enumerate(lines):
        text = line[indent:] if not line[:indent].strip() else line
        if not text or (tree and is_other_header(line)):
            return tree, [rest for _, rest in lines[position:]]
        tree.append((number, text))
    return tree, []


def _rails(line: str) -> int | None:
    """Return where a node's text begins after `+- ` or `:- `, None for a line without rails."""
    text = line.lstrip(" :|")
    begin = len(line) - len(text)
    if text.startswith("+- "):
        return begin + 3
    if text.startswith("- ") and begin and line[begin - 1] == ":":
        return begin + 2
    return None


def _rows(lines: Sequence[tuple[int, str]]) -> list[Row]:
    """Return (depth, text, line) of each node; a line without rails belongs to the one above.

    Below `== Final Plan ==` of an adaptive plan the first node has an indent and no rails.
    """
    rows: list[Row] = []
    for number, line in lines:
        begin = _rails(line)
        if begin is None and rows and rows[-1][1].startswith("== "):
            begin = len(line) - len(line.lstrip(" :|"))
        elif begin is None and rows:
            depth, text, at = rows[-1]
            rows[-1] = (depth, f"{text} {line.strip()}", at)
            continue
        depth = min((begin or 0) // 3, rows[-1][0] + 1) if rows else 0
        rows.append((depth, line[begin or 0 :], number))
    return rows


def _without_initial_plan(rows: list[Row]) -> list[Row]:
    """Keep the final plan of an adaptive one; its heading is no node."""
    out: list[Row] = []
    skip: int | None = None
    for depth, text, line in rows:
        if skip is not None and depth >= skip:
            continue
        skip = depth if text.startswith("== Initial Plan") else None
        if not text.startswith("== "):
            out.append((depth, text, line))
    return out


def _nodes(
    rows: Sequence[Row], details: dict[int, tuple[str, dict[str, str]]]
) -> tuple[PlanNode, ...]:
    children: list[list[int]] = [[] for _ in rows]
    path: list[int] = []
    for index, (depth, _, _) in enumerate(rows):
        del path[depth:]
        if path:
            children[path[-1]].append(index)
        path.append(index)
    return tuple(
        _node(text, line, tuple(below), details)
        for (_, text, line), below in zip(rows, children, strict=True)
    )


def _node(
    text: str, line: int, children: tuple[int, ...], details: dict[int, tuple[str, dict[str, str]]]
) -> PlanNode:
    text = _STAGE.sub("", text).lstrip("!")
    text = _STATISTICS.sub("", text)
    streaming = text.startswith("~")
    text = text.removeprefix("~").lstrip("!")
    fields: dict[str, str] = {}
    if details and (match := _NUMBERED.match(text)):
        name, fields = details.get(int(match["number"]), (match["text"], {}))
        text = match["text"].strip() or name
    match_name = _NAME.match(text)
    name = match_name["name"] if match_name else (text.split(" ")[0] or "?")
    detail = text[match_name.end() :] if match_name else text[len(name) :]
    return PlanNode(name, detail.strip(), line, children, fields, streaming or None)


def _blocks(lines: Sequence[str]) -> dict[int, tuple[str, dict[str, str]]]:
    """Return name and fields of each `(12) HashAggregate` block below a formatted tree."""
    out: dict[int, tuple[str, dict[str, str]]] = {}
    fields: dict[str, str] | None = None
    for line in lines:
        if block := _BLOCK.match(line):
            fields = {}
            out[int(block["number"])] = (block["name"].split(" [")[0].strip(), fields)
        elif fields is not None and (match := _FIELD.match(line)):
            fields[match["key"]] = match["value"].strip()
        elif not line.strip():
            fields = None
    return out


def _warnings(nodes: Sequence[PlanNode], form: str) -> tuple[str, ...]:
    cut = sum(
        int(found)
        for node in nodes
        for text in (node.detail, *node.fields.values())
        if "more fields" in text
        for found in _CUT.findall(text)
    )
    if not cut:
        return ()
    return (
        f"the {form} plan was cut: {cut} fields are missing; raise"
        " spark.sql.debug.maxToStringFields and print it again",
    )
