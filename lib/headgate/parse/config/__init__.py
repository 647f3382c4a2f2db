"""headgate.toml, pipelines' commands and Kafka's client properties."""
