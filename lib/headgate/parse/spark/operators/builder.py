"""What is under way while a plan is turned into relations, inputs first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from headgate.parse.spark.explain.printed_plan import PlanNode
from headgate.parse.spark.operators.relation import Column, Exchange, Relation, StateInfo


@dataclass(slots=True)
class Below:
    """What comes up from an input: its relation and what still waits for its operator.

    `calls` are those of the partial aggregation: the final one does not print their filters.
    `restored` is above a StateStoreRestore: the aggregation ends only above its StateStoreSave.
    """

    relation: int
    exchange: Exchange | None = None
    state: StateInfo | None = None
    partial: bool = False
    session: bool = False
    restored: bool = False
    calls: tuple[str, ...] = ()


@dataclass(slots=True)
class Builder:
    """Relations so far, and the sink once it was met."""

    form: str
    relations: list[Relation] = field(default_factory=list)
    sink: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def add(self, relation: Relation) -> Below:
        """Append a relation and return it as an input for the next one."""
        self.relations.append(relation)
        return Below(len(self.relations) - 1)

    def outputs(self, below: Below) -> tuple[Column, ...]:
        """Return the columns that an input brings."""
        return self.relations[below.relation].outputs

    def settle(self, below: Below) -> Below:
        """Give a waiting exchange a relation of its own: nobody above is known to need it."""
        if below.exchange is None:
            return below
        made = Relation(
            kind="exchange",
            inputs=(below.relation,),
            outputs=self.outputs(below),
            exchanges=(below.exchange,),
        )
        return self.add(made)


Lowering = Callable[[PlanNode, list[Below], Builder], Below]


def over(
    node: PlanNode,
    kind: str,
    inputs: list[Below],
    builder: Builder,
    outputs: tuple[Column, ...] | None = None,
    condition: str | None = None,
) -> Relation:
    """Start a relation over its inputs; exchanges that wait below are its own.

    Its columns are the first input's unless `outputs` says others.
    """
    return Relation(
        kind=kind,
        inputs=tuple([b.relation for b in inputs]),
        outputs=builder.outputs(inputs[0]) if outputs is None else outputs,
        condition=condition,
        streaming=node.streaming,
        name=node.name,
        exchanges=tuple([b.exchange for b in inputs]),
        line=node.line,
    )
