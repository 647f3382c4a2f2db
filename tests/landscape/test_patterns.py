"""What a source's pattern means is its engine's affair."""

from headgate.landscape.pipeline_topics import matcher
from headgate.model.version import Engine


def test_spark_looks_for_it_and_kafka_streams_wants_the_whole_name():
    match = matcher(["orders", "orders-out", "other"])
    assert match("orders", Engine.SPARK) == ("orders", "orders-out")
    assert match("orders", Engine.KAFKA_STREAMS) == ("orders",)
    assert match("[[]|(", Engine.SPARK) == ()
    assert match(r"\Qorders-\E.*", Engine.KAFKA_STREAMS) == ("orders-out",)
