"""Secrets never enter a version."""

import pytest

from headgate.parse.spark.secrets import MASK, mask, mask_text


@pytest.mark.parametrize(
    "key",
    [
        "kafka.sasl.jaas.config",
        "password",
        "kafka.ssl.key.password",
        "clientSecret",
        "sfToken",
        "fs.s3a.access.key",
        "fs.azure.account.key",
        "apiKey",
    ],
)
def test_options_of_these_names_are_masked(key):
    assert mask({key: "hunter2"}) == {key: MASK}


@pytest.mark.parametrize("key", ["subscribe", "path", "startingOffsets", "keyspace", "topic"])
def test_others_stay(key):
    assert mask({key: "orders"}) == {key: "orders"}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://me:pw@host/x", f"https://{MASK}@host/x"),
        ("s3://b/x?X-Amz-Signature=abc&a=1", f"s3://b/x?X-Amz-Signature={MASK}&a=1"),
        ("https://h/?sig=abc", f"https://h/?sig={MASK}"),
        ("localhost:9092,other:9092", "localhost:9092,other:9092"),
        (
            "abfss://box@account.dfs.core.windows.net/x",
            "abfss://box@account.dfs.core.windows.net/x",
        ),
    ],
)
def test_urls(text, masked):
    assert mask_text(text) == masked
