"""Judge upgrades of Kafka Streams applications: by names, numbers and settings, as the engine does."""
