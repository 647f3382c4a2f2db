"""Read the current state of Kafka."""

from __future__ import annotations

from headgate.gateway.kafka.connect import open_kafka
from headgate.model.cluster import Cluster
from headgate.usecases.context import Context


def read_cluster(context: Context) -> Cluster:
    """Return a snapshot of the registry's cluster; its warnings name what couldn't be read.

    Raises UnreachableError if Kafka doesn't respond within 10 s, ConfigError if the registry has no
    cluster, or a setting that the client rejects.
    """
    with open_kafka(context.registry) as kafka:
        return kafka.snapshot()
