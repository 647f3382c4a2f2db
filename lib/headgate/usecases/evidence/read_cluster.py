"""Read Kafka as it is now."""

from __future__ import annotations

from headgate.gateway.kafka.connect import open_kafka
from headgate.model.cluster import Cluster
from headgate.usecases.context import Context


def read_cluster(context: Context) -> Cluster:
    """Return a snapshot of the registry's cluster; what could not be read is in its warnings.

    Raises UnreachableError when Kafka does not answer within 10 s, ConfigError where the registry
    names no cluster or a setting that the client does not take.
    """
    with open_kafka(context.registry) as kafka:
        return kafka.snapshot()
