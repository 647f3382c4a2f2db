"""Records on which the query fails: the run stops, or writes them to a dead letter topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from headgate.errors import ScenarioError
from headgate.model.cluster import Topic
from headgate.model.version import OperatorKind, Version
from headgate.reprocess.output_effects import OutputEffects
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.scenario import Kind, Option, PlanRequest
from headgate.reprocess.steps.base.step import Step, topic_facts
from headgate.reprocess.steps.records.write_dead_letters import WriteDeadLetters
from headgate.text.numbers import duration, plural
from headgate.text.risk import Risk

MAX_FAILING, LIMIT = 100, 1000
# Bytes that a dead letter's own headers take at most: names, class, and a message that is cut.
HEADERS = 4096
_LARGEST, _BEFORE = "max.message.bytes", "message.timestamp.before.max.ms"
# Kafka's own, of topics that set none (Kafka 4.3, topic configs).
_LARGEST_BY_DEFAULT, _NO_LIMIT = 1048588, 2**63 - 1

FAILING_TO = Option(
    name="failing-to",
    ask="Dead letter topic for failing records",
    help="Existing dead letter topic for the records on which the query fails. The run processes "
    "all other records (default: the first failing record stops the run).",
    metavar="TOPIC",
)
MAX_FAILING_OPTION = Option(
    name="max-failing",
    ask="Maximum failing records",
    help=f"Maximum number of records for --failing-to (default {MAX_FAILING}). If more records "
    "fail, the run stops.",
    kind=Kind.NUMBER,
    metavar="COUNT",
    after=("failing-to",),
)


LACKS_FAILING = Risk("the results don't include the failing records")
STATE_LACKS_FAILING = Risk(
    "the results don't include the failing records: aggregations and deduplications are computed "
    "without them"
)


FAILING_RECORDS = Risk(
    "records on which the query fails go to {topic}. If the query fails on more than "
    "{records}, the run stops",
    records="N records",
)
READ_TWICE = Risk(
    "the run reads the range at least twice: to search for failing records, and to process "
    "the other records. If the query fails on a record, the search reads the partitions one "
    "by one, and processes the same record several times"
)
DEAD_LETTERS_STAY = Risk("an undo leaves the dead letters in {topic}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingTo:
    """The dead letter topic, None to stop at the first failing record; `most` may fail."""

    topic: Topic | None = None
    inputs: Mapping[str, Topic] = field(default_factory=dict)
    most: int | None = None
    blockers: tuple[str, ...] = ()

    def steps(self, request: PlanRequest) -> tuple[Step, ...]:
        """Return the step that writes the dead letters; it follows the processing."""
        if self.topic is None:
            return ()
        name = self.topic.name
        topics = topic_facts({name: self.topic, **self.inputs})
        return (WriteDeadLetters(pipeline=request.pipeline.name, topic=name, topics=topics),)

    def risks(self, request: PlanRequest, version: Version) -> list[str]:
        """Return what the results lack, what it costs, and what becomes of the dead letters."""
        if self.topic is None:
            return []
        name = self.topic.name
        found = [
            FAILING_RECORDS(topic=name, records=plural(self.most or 0, "record")),
            STATE_LACKS_FAILING() if version.stateful else LACKS_FAILING(),
            READ_TWICE(),
            DEAD_LETTERS_STAY(topic=name),
        ]
        shapes = request.inspector.kafka.shapes([name, *self.inputs])
        if name in shapes:
            inputs = [shapes[n] for n in self.inputs if n in shapes]
            found += _limit_risks(name, shapes[name], inputs)
        return found

    def outputs(self, own: OutputEffects) -> OutputEffects:
        """Return the effects of the run on outputs, with those of the dead letters."""
        if self.topic is None:
            return own
        name = self.topic.name
        more = OutputEffects(
            run=(f"Records on which the query fails are written to {name}.",),
            undo=(f"An undo leaves the dead letters in {name}.",),
        )
        return own.joined(more)


DEAD_LETTERS_EXPIRE = Risk(
    "dead letters keep the timestamps of the original records, and {topic} has a retention "
    "time: Kafka may delete old dead letters at once. Set `retention.ms` of {topic} to -1"
)
DEAD_LETTERS_TOO_OLD = Risk(
    "dead letters keep the timestamps of the original records, and {topic} rejects records "
    f"older than {{age}}. An older failing record stops the run. Remove `{_BEFORE}` from {{topic}}"
)
DEAD_LETTERS_TOO_LARGE = Risk(
    f"a dead letter can be {HEADERS} bytes larger than its record, because of its headers. "
    "{topic} rejects records of more than {limit} bytes, and a rejected dead letter stops the "
    f"run. Set `{_LARGEST}` of {{topic}} to {{needed}}",
    limit="N",
    needed="N",
)


def _limit_risks(name: str, shape: TopicShape, inputs: Sequence[TopicShape]) -> Iterator[str]:
    """Yield which limits of the dead letter topic can lose a dead letter, or stop the run."""
    if shape.configs.get("retention.ms", "") != "-1":
        yield DEAD_LETTERS_EXPIRE(topic=name)
    if (oldest := int(shape.configs.get(_BEFORE, _NO_LIMIT))) < _NO_LIMIT:
        yield DEAD_LETTERS_TOO_OLD(topic=name, age=duration(oldest))
    limits = [int(s.configs.get(_LARGEST, _LARGEST_BY_DEFAULT)) for s in (shape, *inputs)]
    needed = max(limits[1:], default=_LARGEST_BY_DEFAULT) + HEADERS
    # Topics without limits of their own have the same one, the broker's.
    if limits[0] < needed and any(_LARGEST in s.configs for s in (shape, *inputs)):
        yield DEAD_LETTERS_TOO_LARGE(topic=name, limit=limits[0], needed=needed)


def read_failing_to(
    request: PlanRequest, version: Version, inputs: Mapping[str, Topic], *, is_stream: bool
) -> FailingTo:
    """Return what the options say; ScenarioError if --max-failing can't be."""
    name, most = request.options.get("failing-to"), request.options.get("max-failing")
    if name is None:
        if most is not None:
            raise ScenarioError("--max-failing needs --failing-to. Pass the dead letter topic")
        return FailingTo()
    most = MAX_FAILING if most is None else int(most)
    if not 1 <= most <= LIMIT:
        raise ScenarioError(f"--max-failing: expected 1 to {LIMIT}, found {most}")
    if is_stream:
        return FailingTo(
            blockers=(
                "--failing-to: only for --as batch. Spark can't leave a record out of the "
                "in-flight batch of a stream. Omit the option",
            )
        )
    topic = request.inspector.kafka.topics([str(name)]).get(str(name))
    blockers = tuple(_blockers(request, version, inputs, str(name)))
    return FailingTo(topic=topic, inputs=inputs, most=most, blockers=blockers)


def _blockers(
    request: PlanRequest, version: Version, inputs: Mapping[str, Topic], name: str
) -> Iterator[str]:
    if any(o.kind is OperatorKind.STREAM_JOIN for o in version.stateful or ()):
        yield (
            "--failing-to: the query joins records of two topics, so a failure doesn't belong to "
            "a single record. Omit the option"
        )
    if name in inputs:
        yield f"--failing-to: {name} is an input of the query. Pass another topic"
    elif version.sink is not None and name == version.sink.place:
        yield f"--failing-to: {name} is the output topic of the query. Pass another topic"
    elif name == str(request.options["to"]).removeprefix("kafka:"):
        yield f"--failing-to: {name} gets the results. Pass another topic"
    elif (shape := request.inspector.kafka.shapes([name]).get(name)) is None:
        yield f"--failing-to: topic {name} doesn't exist. Create the topic, or pass another one"
    elif "compact" in shape.configs.get("cleanup.policy", ""):
        yield (
            f"--failing-to: {name} is compacted, so Kafka would delete dead letters with the same "
            "key. Pass another topic"
        )
    elif request.inspector.dead_letters.may_write([name]).get(name) is False:
        yield (
            f"--failing-to: Kafka's ACLs don't allow Headgate to write to {name}. Grant the "
            "operation Write, or pass another topic"
        )


RISKS = (
    LACKS_FAILING,
    STATE_LACKS_FAILING,
    FAILING_RECORDS,
    READ_TWICE,
    DEAD_LETTERS_STAY,
    DEAD_LETTERS_EXPIRE,
    DEAD_LETTERS_TOO_OLD,
    DEAD_LETTERS_TOO_LARGE,
)
