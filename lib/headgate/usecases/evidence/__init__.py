"""Read evidence, Kafka and schemas, and return versions."""
