"""Delete a topic by its id, which only Kafka's Java client can: another of that name stays."""

from __future__ import annotations

from py4j.protocol import Py4JJavaError

from headgate.gateway.kafka.java_admin_client import JavaAdmin, cause_of

_GONE = ("UnknownTopicIdException", "UnknownTopicOrPartitionException")
# Brokers before 2.8 know no ids.
_TOO_OLD = "UnsupportedVersionException"
# librdkafka writes an id in the usual base64, Kafka in the one for addresses.
_LETTERS = str.maketrans("+/", "-_")


def delete_topic(java: JavaAdmin, topic_id: str) -> bool:
    """Delete the topic of this id; fine if it is gone. False where the brokers know no ids.

    StepError, RefusedError and UnreachableError as for all calls.
    """
    with java.call(changes=True) as admin:
        ids = [java.jvm.org.apache.kafka.common.Uuid.fromString(topic_id.translate(_LETTERS))]
        topics = java.jvm.org.apache.kafka.common.TopicCollection.ofTopicIds(ids)
        try:
            admin.deleteTopics(topics).all().get()
        except Py4JJavaError as error:
            why = cause_of(error)
            if _TOO_OLD in why:
                return False
            if not any(word in why for word in _GONE):
                raise
    return True
