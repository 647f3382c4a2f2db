"""Rules of Kafka Streams: one aspect a file; `codes.py` lists them."""
