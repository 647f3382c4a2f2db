"""What the evidence leaves open: no description, or none that shows what the upgrade changed."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.kafka_streams import StreamsApplication
from headgate.rules.core.report import Location, Outcome
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.rule import StreamsComparison, streams_rule
from headgate.rules.kafka_streams.repartition_topics import records_waiting
from headgate.rules.kafka_streams.runtime_config import EXPLICIT_NAMES, FELT, runtime_settings
from headgate.rules.kafka_streams.state_config import for_new_topics, reset_policy

_DECIDE = FELT | frozenset(
    {
        "application.id",
        "processing.guarantee",
        "topology.optimization",
        "dsl.store.format",
        "default.dsl.store",
        "dsl.store.suppliers.class",
        "default.key.serde",
        "default.value.serde",
        "default.timestamp.extractor",
        "group.protocol",
        "state.dir",
        EXPLICIT_NAMES,
    }
)
"""Settings that affect offsets, state or results, so an upgrade may consist of such a change."""


_REHEARSE_THE_UPGRADE = (
    "Rehearse the upgrade on a copy of the state. Or accept this finding, with the reason why "
    "the change has no effect."
)
_WHAT_DOES_THE_NEW_VERSION = "Which of these does the new version change: {unseen}?"
_WHAT_DOES_THE_NEW = (
    f"{_WHAT_DOES_THE_NEW_VERSION} Kafka Streams numbers the stores {{alike}} in the order in "
    "which the code defines them. Did this order change?"
)


@streams_rule(
    "KST000",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_REHEARSE_THE_UPGRADE,),
    questions=(_WHAT_DOES_THE_NEW, _WHAT_DOES_THE_NEW_VERSION),
    is_of_state=True,
)
def no_visible_change(c: StreamsComparison) -> Iterator[RuleResult]:
    """The evidence of both versions is equal, so the upgrade changes something that
    Topology#describe() doesn't show.

    The change may affect serdes, types and sizes of windows, aggregators and other functions,
    logging, or the order of equal operators. Measured upgrades of this kind resumed, failed to
    start, or gave wrong results without an error. If a setting or a partition count changed,
    Headgate assumes that this change is the purpose of the upgrade. For changed threads or client
    settings, Headgate assumes this only if all repartition topics are empty.
    """
    if not c.old.described or not c.new.described or not _same_shape(c.old, c.new):
        return
    if _decided(c):
        return
    alike = [s.name for s in c.new.stores if s.is_generated]
    yield RuleResult(
        outcome=Outcome.UNKNOWN,
        because="Topology#describe() shows the same topology for both versions.",
        location=Location(),
        question=_WHAT_DOES_THE_NEW.format(unseen=_unseen(c), alike=", ".join(alike))
        if len(alike) > 1
        else _WHAT_DOES_THE_NEW_VERSION.format(unseen=_unseen(c)),
        remedy=_REHEARSE_THE_UPGRADE,
    )


def _unseen(c: StreamsComparison) -> str:
    """Return what may still differ, as far as the application has any of it."""
    is_set = any(_is_serde(k) for k in c.old.config) and any(_is_serde(k) for k in c.new.config)
    serdes = "serdes in the code" if is_set else "serdes"
    if all(s.is_global for s in c.new.stores):
        return f"{serdes} of inputs and outputs, functions (such as mappers and filters)"
    return (
        f"{serdes}, windows (size, grace period or kind), functions (such as aggregators), stores "
        "(type or logging)"
    )


def _is_serde(key: str) -> bool:
    return key in ("default.key.serde", "default.value.serde")


def _same_shape(old: StreamsApplication, new: StreamsApplication) -> bool:
    return _shape(old) == _shape(new)


def _shape(app: StreamsApplication) -> tuple[object, ...]:
    """Return all that a description says, without settings and without what is on the cluster."""
    return (
        app.topologies,
        tuple((p.topology, p.name, p.kind, p.subtopology, p.stores, p.successors)
              for p in app.processors),
        tuple((s.processor, s.topics, s.pattern, s.is_global) for s in app.sources),
        tuple((s.processor, s.topic, s.extractor) for s in app.sinks),
        tuple((r.name, r.sinks, r.sources) for r in app.repartitions),
    )  # fmt: skip


def _decided(c: StreamsComparison) -> bool:
    """Say whether inputs, settings or the runtime explain the upgrade.

    What only one side's evidence shows isn't a change: settings count if both sides have some.
    """
    if c.old.config and c.new.config and _other_settings(c):
        return True
    protocols = c.old.protocol, c.new.protocol
    if None not in protocols and protocols[0] != protocols[1]:
        return True
    runtime = c.before.engine_version, c.after.engine_version
    if None not in runtime and runtime[0] != runtime[1]:
        return True
    both = c.old.inputs.keys() & c.new.inputs.keys()
    return any(c.old.inputs[t] != c.new.inputs[t] for t in both)


def _other_settings(c: StreamsComparison) -> bool:
    if any(c.old.config.get(k) != c.new.config.get(k) for k in _DECIDE):
        return True
    if reset_policy(c.old) != reset_policy(c.new):
        return True
    waits = any(records_waiting(c, r) != 0 for r in c.old.repartitions)
    return not waits and bool(runtime_settings(c) or for_new_topics(c))


_ADD_ITS_TEXT = "Add the output of Topology#describe() to the evidence."
_WHAT_DOES_TOPOLOGY = "What does Topology#describe() of the {words} version show?"


@streams_rule(
    "KST099",
    "no external source: the rule only checks whether the evidence has the output of "
    "Topology#describe()",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_ADD_ITS_TEXT,),
    questions=(_WHAT_DOES_TOPOLOGY,),
)
def topology_not_described(c: StreamsComparison) -> Iterator[RuleResult]:
    """Headgate compares stores, repartition topics and sub-topologies by their names.

    Only Topology#describe() shows these names.
    """
    sides = [(c.old, "old", c.before), (c.new, "new", c.after)]
    missing = [word for app, word, v in sides if not app.described or not v.topology.nodes]
    if missing:
        words = " and ".join(missing)
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            because=f"The evidence doesn't contain the topology of the {words} version.",
            location=Location(),
            question=_WHAT_DOES_TOPOLOGY.format(words=words),
            remedy=_ADD_ITS_TEXT,
        )
