"""Send a request to a watched driver through its topic."""

from __future__ import annotations

from typing import Any

from confluent_kafka import KafkaException, Producer

from headgate.errors import StepError
from headgate.gateway.kafka.errors import kafka_error
from headgate.model.registered_pipelines import Registry
from headgate.parse.spark.watch.driver_messages import ControlRequest

_SECONDS = 15.0


def send(registry: Registry, topic: str, request: ControlRequest) -> None:
    """Return when the broker has it; StepError where it does not take it."""
    failed: list[str] = []

    def delivered(error: Any, _message: Any) -> None:
        if error is not None:
            failed.append(error.str())

    settings = {
        **registry.kafka,
        "bootstrap.servers": registry.bootstrap_servers or "",
        "message.timeout.ms": int(_SECONDS * 1000),
        "log_level": 0,
    }
    try:
        producer = Producer(settings)
        producer.produce(
            topic, key=request.query, value=request.line().rstrip(b"\n"), on_delivery=delivered
        )
        left = producer.flush(_SECONDS + 1)
    except KafkaException as error:
        raise StepError(
            f"the stop request could not be written to topic {topic}: {kafka_error(error).str()}"
        ) from None
    if failed or left:
        why = failed[0] if failed else "no acknowledgement from Kafka"
        raise StepError(f"the stop request could not be written to topic {topic}: {why}")
