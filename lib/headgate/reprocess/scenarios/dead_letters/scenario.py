"""Dead letters: inspect the records that a pipeline could not process, and redrive them."""

from __future__ import annotations

from typing import Any

from headgate.errors import ScenarioError
from headgate.model.cluster import Topic
from headgate.model.dead_letters import MAX_ATTEMPTS, Selection, Summary
from headgate.model.kafka_streams import looks_internal
from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.scenario import SUPPORTED, Kind, Option, PlanRequest, Scenario
from headgate.reprocess.scenarios.dead_letters import risks as redrive_risks
from headgate.reprocess.scenarios.dead_letters.impact import impact_of
from headgate.reprocess.scenarios.dead_letters.redrive import Redrive
from headgate.reprocess.scenarios.dead_letters.risks import blockers_of, risks_of
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.steps.base.step import Step, topic_facts
from headgate.reprocess.steps.records.redrive_records import RedriveRecords, ledger_of
from headgate.reprocess.steps.topics.delete_topics import CreateTopics, topic_shapes
from headgate.text.times import milliseconds, moment

SOURCE = "source"
RATE = 1_000
# Redriven records keep their timestamps: the broker's default retention may be over for them.
KEPT = {
    "cleanup.policy": "delete",
    "message.timestamp.type": "CreateTime",
    "retention.bytes": "-1",
    "retention.ms": "-1",
}
# So many records are read for a plan; counting them takes a few seconds.
INSPECTED = 100_000


def build(request: PlanRequest) -> Plan:
    """Return the plan: create the retry topic if it is missing, redrive the selected records."""
    chosen, rate = _selection(request), _positive(request, "rate", RATE)
    kafka = request.inspector.kafka
    topic = kafka.topics([chosen.topic]).get(chosen.topic)
    if topic is None:
        return request.block(f"topic {chosen.topic} does not exist: correct --topic")
    if found := common.topic_blockers({chosen.topic}, {chosen.topic: topic}):
        return request.block(*found)
    if chosen.to == chosen.topic:
        return request.block(
            f"{chosen.topic} is the dead letter topic itself: choose another topic with --to"
        )
    numbers = {p.number for p in topic.partitions}
    if unknown := sorted(set(chosen.partitions) - numbers):
        return request.block(
            f"topic {chosen.topic} has no partition {unknown[0]}: correct --partitions"
        )
    most = None if request.options.get("count-all") else INSPECTED
    ledger = ledger_of(topic.name, str(topic.id))
    summary = request.inspector.dead_letters.summarise(chosen, ledger, most)
    return _plan(request, _redrive(request, chosen, topic, summary, rate))


def _redrive(
    request: PlanRequest, chosen: Selection, topic: Topic, summary: Summary, rate: int
) -> Redrive:
    kafka = request.inspector.kafka
    wanted = {chosen.to} if chosen.to else set(summary.targets)
    internal = {} if chosen.to else {n: _INTERNAL for n in wanted if looks_internal(n)}
    there = dict(kafka.topics(wanted - internal.keys() - {topic.name}))
    itself = {topic.name: _ITSELF} if topic.name in wanted else {}
    missing = dict.fromkeys(wanted - there.keys() - internal.keys() - itself.keys(), _MISSING)
    new = None
    if chosen.to in missing and request.options.get("create-topic"):
        shape = kafka.shapes([topic.name])[topic.name]
        new = _retry_topic(str(chosen.to), shape)
        missing = {}
    return Redrive(
        chosen=chosen,
        topic=topic,
        summary=summary,
        targets=there,
        left={**internal, **missing, **itself},
        new=new,
        rate=rate,
    )


def _retry_topic(name: str, dead_letters: TopicShape) -> TopicShape:
    """Return a topic that takes each dead letter, and keeps it: redriven records are old ones."""
    largest = dead_letters.configs.get("max.message.bytes")
    return TopicShape(
        name=name,
        id="",
        partitions=dead_letters.partitions,
        replication=dead_letters.replication,
        configs={**KEPT, **({"max.message.bytes": largest} if largest else {})},
    )


_INTERNAL = "the topic is internal to Kafka Streams"
_MISSING = "the topic does not exist"
_ITSELF = "this is the dead letter topic itself"


def _plan(request: PlanRequest, found: Redrive) -> Plan:
    inspector, topic = request.inspector, found.topic
    topics = {topic.name: topic, **found.targets}
    impact = impact_of(found)
    blockers = blockers_of(request, found)
    blockers += common.topic_blockers(set(found.targets), found.targets)
    steps = () if not found.counts else _steps(request, found, topic_facts(topics))
    return Plan(
        scenario=request.scenario,
        pipeline=request.pipeline.name,
        steps=steps,
        preconditions={
            "cluster_id": inspector.kafka.cluster_id(),
            "topics": topic_facts(topics),
        },
        impact=impact,
        risks=tuple(risks_of(request, found)),
        blockers=tuple(blockers),
        options=dict(request.options),
        resources=tuple(
            f"topic:{name}" for name in sorted({*topics, *([found.new.name] if found.new else ())})
        ),
    )


def _steps(
    request: PlanRequest, found: Redrive, facts: dict[str, dict[str, Any]]
) -> tuple[Step, ...]:
    chosen = found.chosen
    shapes = request.inspector.kafka.shapes([chosen.topic])
    create = (CreateTopics(topics=topic_shapes({found.new.name: found.new})),) if found.new else ()
    redrive = RedriveRecords(
        topic=chosen.topic,
        topics=facts,
        targets=found.partitions,
        replication=shapes[chosen.topic].replication,
        to=chosen.to,
        new_topic=found.new.name if found.new else None,
        partitions=chosen.partitions,
        reasons=chosen.reasons,
        sources=chosen.sources,
        since=chosen.since,
        until=chosen.until,
        max_attempts=chosen.max_attempts,
        again=chosen.again,
        most=chosen.most,
        rate=found.rate,
        count=sum(found.scaled.values()),
    )
    return (*create, redrive)


def _selection(request: PlanRequest) -> Selection:
    given = request.options
    to = given.get("to", SOURCE)
    chosen = Selection(
        topic=given["topic"],
        to=None if to == SOURCE else to,
        partitions=_numbers(given.get("partitions", ())),
        reasons=tuple(given.get("exception", ())),
        sources=_names(given.get("source-topic", ())),
        since=_time(given, "from"),
        until=_time(given, "until"),
        max_attempts=_positive(request, "max-attempts", MAX_ATTEMPTS),
        again=bool(given.get("again")),
        most=_positive(request, "max-records", 0) if "max-records" in given else None,
    )
    if chosen.since is not None and chosen.until is not None and chosen.since >= chosen.until:
        raise ScenarioError("--until of dead-letters: expected a time after --from")
    return chosen


def _names(texts: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(n for text in texts for n in text.replace(" ", ",").split(",") if n))


def _numbers(texts: Any) -> tuple[int, ...]:
    names = _names(texts)
    if wrong := [n for n in names if not (n.isascii() and n.isdecimal())]:
        raise ScenarioError(
            f"--partitions of dead-letters: expected numbers such as 0,2, found {wrong[0]!r}"
        )
    return tuple(sorted({int(n) for n in names}))


def _time(given: Any, name: str) -> int | None:
    return milliseconds(moment(given[name], option=name)) if name in given else None


def _positive(request: PlanRequest, name: str, default: int) -> int:
    found = int(request.options.get(name, default))
    if found < 1:
        raise ScenarioError(f"--{name} of dead-letters: expected 1 or more, found {found}")
    return found


_OPTIONS = (
    Option(
        name="topic",
        ask="Dead letter topic",
        help="Dead letter topic to inspect and redrive.",
        metavar="TOPIC",
        required=True,
    ),
    Option(
        name="to",
        ask="Target topic",
        help="Target: `source` (default) for the topic where each record failed, or a retry topic.",
        metavar="source|TOPIC",
    ),
    Option(
        name="create-topic",
        ask="Create the retry topic if it doesn't exist",
        help="Create the topic of --to if it doesn't exist. An undo deletes the created topic.",
        kind=Kind.FLAG,
        after=("to",),
    ),
    Option(
        name="exception",
        ask="Exception classes",
        help="Redrive only records whose exception class contains this text. Can be repeated.",
        kind=Kind.MANY,
        metavar="TEXT",
    ),
    Option(
        name="source-topic",
        ask="Source topics",
        help="Redrive only records that failed in this topic. Can be repeated.",
        kind=Kind.MANY,
        metavar="TOPIC",
    ),
    Option(
        name="partitions",
        ask="Partitions",
        help="Redrive only records of these partitions of the dead letter topic, such as 0,2.",
        kind=Kind.MANY,
        metavar="PARTITION,...",
    ),
    Option(
        name="from",
        ask="First record timestamp",
        help="Redrive only records with a timestamp at or after this time (default zone: UTC).",
        metavar="TIME",
    ),
    Option(
        name="until",
        ask="Record timestamp to stop before",
        help="Redrive only records with a timestamp before this time (default zone: UTC).",
        metavar="TIME",
    ),
    Option(
        name="max-attempts",
        ask="Maximum redrives of a record",
        help=f"Skip records that were already redriven this many times (default {MAX_ATTEMPTS}).",
        kind=Kind.NUMBER,
        metavar="N",
    ),
    Option(
        name="rate",
        ask="Maximum records per second",
        help=f"Rate limit in records per second (default {RATE}).",
        kind=Kind.NUMBER,
        metavar="N",
    ),
    Option(
        name="max-records",
        ask="Maximum records to redrive",
        help="Stop after N redriven records, as a trial (default: all).",
        kind=Kind.NUMBER,
        metavar="N",
    ),
    Option(
        name="again",
        ask="Also redrive records that an earlier run has redriven",
        help="Also redrive records that an earlier run has already redriven.",
        kind=Kind.FLAG,
    ),
    Option(
        name="count-all",
        ask="Read the whole dead letter topic for this plan",
        help=f"Count every record for the plan. By default at most {INSPECTED} records are read.",
        kind=Kind.FLAG,
    ),
)

SCENARIO = Scenario(
    name="dead-letters",
    title="Redrive dead letters",
    short="Write records of a dead letter topic back.",
    what="Inspect a dead letter topic, and write its records back to be processed again.",
    build=build,
    steps=(
        "create_topics",
        "redrive_records",
    ),
    risks=lambda: redrive_risks.RISKS,
    options=_OPTIONS,
    support=dict.fromkeys(Engine, SUPPORTED),
)
