"""Repartition: another number of partitions for a pipeline's state, or for what it reads."""

from __future__ import annotations

from dataclasses import replace

from headgate.errors import ScenarioError
from headgate.model.version import Engine
from headgate.reprocess.conditions import LOCAL, Answered, Condition, Facts, met, missing, unknown
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import Kind, Option, PlanRequest, Scenario, needs, refused
from headgate.reprocess.scenarios.repartition import kafka_streams as repartition_streams
from headgate.reprocess.scenarios.repartition import kafka_streams_checks
from headgate.reprocess.scenarios.repartition import spark as repartition_spark
from headgate.reprocess.scenarios.shared import kafka_streams_options, output_topics

_MOST = 1_000_000
_STREAMS = frozenset({Engine.KAFKA_STREAMS})
# Once partitions were added there is no rollback: what is backed up for one would only lie about.
_NOT_ASKED = frozenset({"back-up-outputs"})


def build(request: PlanRequest) -> Plan:
    """Return the plan for the pipeline's engine."""
    wanted = request.options["partitions"]
    if not 0 < wanted <= _MOST:
        raise ScenarioError(f"--partitions: expected a number from 1 to {_MOST}, found {wanted}")
    if request.pipeline.engine is Engine.SPARK:
        return repartition_spark.build(request)
    return repartition_streams.build(request)


OPTIONS = (
    Option(
        name="partitions",
        ask="Number of partitions",
        help="New number of partitions. Spark: partitions of the state "
        "(spark.sql.shuffle.partitions in the offset log). Kafka Streams: partitions of the input "
        "topics, at least the current number, because Kafka can't remove partitions.",
        kind=Kind.NUMBER,
        metavar="N",
        required=True,
    ),
    kafka_streams_options.INPUT_TOPICS,
    kafka_streams_options.INTERMEDIATE_TOPICS,
    kafka_streams_options.INTERNAL_TOPICS,
    kafka_streams_options.CLEARED,
    *(replace(o, engines=_STREAMS) for o in output_topics.OPTIONS if o.name not in _NOT_ASKED),
)


def _topology(facts: Facts) -> Answered:
    if facts.version is None or not facts.version.topology.nodes:
        return missing("No stored version describes the topology.")
    return met("A stored version describes the topology.")


def _between(_facts: Facts) -> Answered:
    return unknown("Unknown until the plan checks the topology between the inputs and the state.")


_DESCRIBED = Condition(need="a stored version that describes the topology", ask=_topology)
_REPARTITIONED = Condition(
    need=(
        "a repartition topic between the state and each input that gets more partitions (without "
        "this topic, different tasks would process a key's old and new records)"
    ),
    ask=_between,
)

SCENARIO = Scenario(
    name="repartition",
    title="Repartition",
    short="Change the number of partitions of state or inputs.",
    what="Repartition the state of a query, or add partitions to the inputs of a Kafka Streams "
    "application.",
    build=build,
    steps=(
        "stop_pipeline",
        "record_topics",
        "snapshot_checkpoint",
        "record_offsets",
        "reset_offsets",
        "start_pipeline",
        "manual_step",
        "create_topics",
        "add_partitions",
        "delete_topics",
        "delete_records",
        "await_transactions",
        "clear_local_state",
        "swap_new_checkpoint",
        "repartition_state",
        "verify_partitions",
    ),
    risks=lambda: (*repartition_spark.RISKS, *kafka_streams_checks.RISKS, *output_topics.RISKS),
    options=OPTIONS,
    support={
        Engine.SPARK: needs(LOCAL, repartition_spark.SPREADS, repartition_spark.NEW_ENOUGH),
        Engine.KAFKA_STREAMS: needs(
            _DESCRIBED,
            _REPARTITIONED,
            note=(
                "State downstream of the repartition topic is deleted, and all input is "
                "reprocessed to rebuild it. If there is no state, or if the code sets the number "
                "of partitions of the repartition topic, nothing is reprocessed."
            ),
        ),
        Engine.CONSUMER_GROUP: refused(
            "a consumer group finds added partitions itself, and auto.offset.reset decides where "
            "it starts in them. But keys then map to other partitions: old and new records of a "
            "key may be out of order. State that members keep by partition no longer matches the "
            "keys"
        ),
    },
)
