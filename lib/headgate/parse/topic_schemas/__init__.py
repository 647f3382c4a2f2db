"""Text of Avro, JSON Schema and Protobuf to schemas."""
