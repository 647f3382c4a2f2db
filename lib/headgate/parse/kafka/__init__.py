"""What clients write into records of Kafka: headers of dead letters."""
