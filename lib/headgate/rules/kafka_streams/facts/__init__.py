"""What the rules of Kafka Streams read."""
