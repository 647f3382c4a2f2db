"""Open the cluster that a registry names, with Kafka's Java client behind it where it can be."""

from __future__ import annotations

from functools import lru_cache

from headgate.errors import ConfigError, SetupError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.java_admin_client import JavaAdmin
from headgate.gateway.process.jars import broker_class_path
from headgate.model.registered_pipelines import Registry


def open_kafka(registry: Registry) -> Kafka:
    """Return the registry's cluster; nothing is sent and no JVM started before the first call.

    Raises ConfigError where no cluster is named, or a setting is none that the client takes.
    """
    if not registry.bootstrap_servers:
        location = registry.path or "headgate.toml"
        raise ConfigError(f"{location} has no Kafka cluster: set bootstrap_servers under [kafka]")
    java = _java(registry.bootstrap_servers, tuple(sorted(registry.kafka.items())))
    return Kafka(registry.bootstrap_servers, registry.kafka, java=java)


@lru_cache(maxsize=8)
def _java(bootstrap: str, config: tuple[tuple[str, str], ...]) -> JavaAdmin | None:
    """Keep one JVM per cluster for the life of the process; None without the jars."""
    try:
        return JavaAdmin(bootstrap, dict(config), class_path=broker_class_path())
    except SetupError:
        return None
