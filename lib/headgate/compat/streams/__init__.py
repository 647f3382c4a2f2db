"""Judge upgrades of Kafka Streams by names, numbers and settings, as the engine does."""
