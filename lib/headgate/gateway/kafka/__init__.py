"""Kafka by librdkafka; `java_*` by Kafka's own Java client."""
