"""Evidence, Kafka and schemas to a version."""
