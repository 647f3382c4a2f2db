"""Plans and expressions as Spark's `toJSON` lists them, as trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

Node = dict[str, Any]


def tree_of(nodes: Sequence[Node]) -> Node:
    """Return the root of what Spark's `toJSON` lists in pre-order, with `children`."""
    rest = iter(nodes)

    def one() -> Node:
        node = dict(next(rest))
        node["children"] = [one() for _ in range(node.get("num-children", 0))]
        return node

    return one()


def expressions_of(node: Node) -> Iterator[Node]:
    """Yield the expressions that a plan's node holds."""
    for key, value in node.items():
        if key == "children" or not isinstance(value, list) or not value:
            continue
        groups: Iterable[Any] = [value] if isinstance(value[0], dict) else value
        for group in groups:
            first = group[0] if isinstance(group, list) and group else None
            if isinstance(first, dict) and "class" in first:
                yield tree_of(group)


def walk(tree: Node) -> Iterator[Node]:
    """Yield a node, and all below it."""
    yield tree
    for child in tree["children"]:
        yield from walk(child)


def class_name(node: Node) -> str:
    """Return the name of a node's Scala class, without its package."""
    return str(node["class"]).rpartition(".")[2]


def expression_id(node: Node) -> str:
    """Return the id that an attribute and the alias that made it share."""
    found = node.get("exprId") or {}
    return f"{found.get('id')} {found.get('jvmId')}"


def outputs_of(plan: Node) -> list[Node]:
    """Return the expressions that a subquery returns; [] if they are all of a table."""
    while plan["children"]:
        for key in ("projectList", "aggregateExpressions"):
            if plan.get(key):
                return [tree_of(nodes) for nodes in plan[key]]
        plan = plan["children"][0]
    return []


def field_name(tree: Node) -> str | None:
    """Return the field that a GetStructField takes; `select("x.*")` leaves only its number."""
    if tree.get("name"):
        return str(tree["name"])
    kind = tree["children"][0].get("dataType") or tree["children"][0].get("schema")
    number = tree.get("ordinal")
    if isinstance(kind, dict) and isinstance(number, int) and kind.get("fields"):
        return str(kind["fields"][number]["name"])
    return None


def constant_of(part: Node) -> Any:
    """Return a literal's value, None of any other expression."""
    return part.get("value") if class_name(part) == "Literal" else None
