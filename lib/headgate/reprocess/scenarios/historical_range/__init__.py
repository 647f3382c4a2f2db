"""Results of a range of event time, computed again from the records in Kafka."""
