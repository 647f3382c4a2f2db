"""The step says which of both kinds of transaction it aborts."""

from headgate.reprocess.steps.offsets.abort_transaction import AbortTransaction

TOPICS = {"a:b": {"id": "1", "partitions": 3}}


def test_a_transaction_with_an_id_loses_its_producer():
    step = AbortTransaction(transaction="orders-1", producer=7, epoch=0, topics=TOPICS)
    assert step.describe() == "abort the open transaction orders-1 and fence its producer"


def test_a_transaction_that_only_a_partition_knows_is_named_by_it():
    step = AbortTransaction(transaction="a:b:2:7", producer=7, epoch=0, topics=TOPICS)
    assert "transaction of producer 7 on a:b[2] (the transaction coord" in step.describe()
