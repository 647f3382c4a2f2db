"""Kafka Streams applications that a rehearsal starts."""
