"""Repair of a consumer group that waits for an open transaction without a producer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from headgate.model.cluster import Topic
from headgate.model.transactions import Transaction
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.steps.base.step import topic_facts
from headgate.reprocess.steps.offsets.abort_transaction import AbortTransaction
from headgate.text.risk import Risk

_SHOWN = 5


def build(request: PlanRequest, topics: Mapping[str, Topic], named: Sequence[str]) -> Plan:
    """Return the plan that aborts the named transactions, all of which must be open.

    The group continues by itself; it need not stop.
    """
    found = {t.name: t for t in _of(request.inspector, topics)}
    if unknown := sorted(set(named) - found.keys()):
        open_ = ", ".join(sorted(found)[:_SHOWN]) or "none"
        return request.block(
            f"--abort-transaction: no open transaction {', '.join(unknown)} on the topics that "
            f"group {request.pipeline.group} reads. Open transactions: {open_}"
        )
    wanted = [found[name] for name in dict.fromkeys(named)]
    facts = topic_facts(topics)
    return Plan(
        scenario=request.scenario,
        pipeline=request.pipeline.name,
        steps=tuple(_step(t, facts) for t in wanted),
        preconditions={"cluster_id": request.inspector.kafka.cluster_id(), "topics": facts},
        impact={"records": {}, "total": 0, "transactions": {t.name: t.state for t in wanted}},
        risks=tuple(_risk(t) for t in wanted),
        blockers=tuple(common.topic_blockers(set(facts), topics)),
        options=dict(request.options),
        resources=(f"group:{request.pipeline.group}", *(f"topic:{name}" for name in sorted(facts))),
    )


def blocking(request: PlanRequest, topics: Mapping[str, Topic]) -> str | None:
    """Return a sentence about open transactions on the topics, None where there are none."""
    if not request.inspector.kafka.topics_in_transaction(topics):
        return None
    names = [f"{t.name} ({t.state})" for t in _of(request.inspector, topics)]
    if not names:
        return None
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (
        "Consumers with isolation.level=read_committed wait until the open transactions end: "
        f"{', '.join(names[:_SHOWN])}{more}. If the producer of a transaction no longer runs, "
        "abort the transaction with --abort-transaction"
    )


def _of(inspector: Inspector, topics: Mapping[str, Topic]) -> Iterable[Transaction]:
    parts = [(t.name, p.number) for t in topics.values() for p in t.partitions]
    return [t for t in inspector.kafka.open_transactions(parts) if t.topics & topics.keys()]


def _step(found: Transaction, facts: dict[str, dict[str, object]]) -> AbortTransaction:
    assert found.producer is not None and found.epoch is not None
    return AbortTransaction(
        transaction=found.name,
        producer=found.producer,
        epoch=found.epoch,
        topics={name: dict(f) for name, f in facts.items()},
    )


ABORTED = Risk(
    "consumers with isolation.level=read_committed never receive the records that transaction "
    "{id} wrote to {topics}. Offsets committed in the transaction are lost. A producer that "
    "still uses the transaction is fenced and fails"
)


def _risk(found: Transaction) -> str:
    return ABORTED(id=found.name, topics=", ".join(sorted(found.topics)))


RISKS = (ABORTED,)
