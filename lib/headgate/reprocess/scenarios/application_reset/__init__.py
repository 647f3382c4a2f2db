"""The options of Kafka's own reset tool, as a plan."""
