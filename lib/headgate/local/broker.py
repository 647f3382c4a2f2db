"""The embedded stack's broker; a rehearsal of Kafka Streams has one of its own from there, too."""

from headgate.gateway.broker import NAME, running_broker, start_broker, wait_until_it_answers

__all__ = ["NAME", "running_broker", "start_broker", "wait_until_it_answers"]
