"""A plan as it was printed: nodes in pre-order, before anything is made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headgate.parse.spark.explain.odd_names import OddNames
from headgate.text.secrets import mask_options, mask_text, may_hold_secrets

PHYSICAL = frozenset(("physical", "formatted", "executed"))
"""Plan forms that show exchanges and state stores."""
_WITH_OPTIONS = ("Write", "Streaming", "Scan", "Relation", "Save", "Append", "Overwrite", "Batch")


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """An attribute's type in Spark's JSON (a word, or a dict for nested ones) and nullability."""

    type: Any
    nullable: bool | None


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One operator line; unknown names stay as text rather than fail.

    `detail` is what follows the name. `fields` holds what `formatted` prints below the tree
    (`Input`, `Arguments`, `Keys`, ...). `children` are indices into the plan's nodes, each
    greater than the node's own. `streaming` is the `~` that Spark 4 prints, None where the form
    can't say.
    """

    name: str
    detail: str
    line: int
    children: tuple[int, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)
    streaming: bool | None = None

    def argument(self) -> str:
        """Return the operator's arguments, whichever form printed them."""
        return self.fields.get("Arguments", self.detail)


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole tree, flat, so that 5,000 operators need no recursion; node 0 is the root.

    `form` is `parsed`, `analyzed`, `optimized`, `physical`, `formatted`, `json` or, for the JSON of
    a physical plan, `executed`. `types` are those of the attributes, by number, if the form has
    them (only the JSON of a logical plan does). `is_whole` is False if the evidence was cut or is a
    part by its kind, as `codegen` is. `line` is where it begins, `printed` the number of the
    `explain` in its text that printed it. `result` is the line above an analysed tree that lists
    the columns of the result: `k: string, n: bigint`. `names` are those that a plan's text leaves
    uncertain, exactly as the form has them (only JSON does).
    """

    form: str
    nodes: tuple[PlanNode, ...]
    warnings: tuple[str, ...] = ()
    types: Mapping[int, TypedColumn] = field(default_factory=dict)
    is_whole: bool = True
    line: int = 1
    printed: int = 0
    result: str = ""
    names: OddNames = OddNames()

    def upwards(self) -> Iterator[tuple[int, PlanNode]]:
        """Yield every node with its index, children before their parents."""
        for index in range(len(self.nodes) - 1, -1, -1):
            yield index, self.nodes[index]

    @property
    def is_physical(self) -> bool:
        """Whether exchanges and state stores show."""
        return self.form in PHYSICAL


def without_secrets(nodes: tuple[PlanNode, ...]) -> tuple[PlanNode, ...]:
    """Return the nodes of any form with secrets masked, so that forms of one plan still agree."""
    texts = (text for node in nodes for text in (node.detail, *node.fields.values()))
    return tuple(map(_without_secrets, nodes)) if may_hold_secrets(texts) else nodes


def _without_secrets(node: PlanNode) -> PlanNode:
    mask = mask_options if node.name.startswith(_WITH_OPTIONS) else mask_text
    fields = {key: mask(value) for key, value in node.fields.items()}
    return replace(node, detail=mask(node.detail), fields=fields)
