"""Kafka Streams' own words: descriptions of topologies, configuration, lists of topics."""
