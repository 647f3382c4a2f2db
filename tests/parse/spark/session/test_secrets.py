"""Secrets never enter a version."""

import pytest

from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise
from headgate.parse.spark.session.query_progress import read_progress
from headgate.text.secrets import MASK, mask, mask_text


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


PEM = "-----BEGIN RSA PRIVATE KEY-----"
TOKEN = "dapi" + "0123456789abcdef" * 2


@pytest.mark.parametrize(
    "key", ["passphrase", "header.Authorization", "kafka.ssl.keystore.key", "ssl.key.passphrase"]
)
def test_more_options_of_such_names(key):
    assert mask({key: "hunter2"}) == {key: MASK}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"a {PEM}\nMIIE+/=\nhunter2\n-----END RSA PRIVATE KEY-----, b", f"a {PEM}{MASK}, b"),
        (f"{PEM}\\nhunter2, b=1", f"{PEM}{MASK}, b=1"),
        ("Authorization: Bearer hunter2hunter2, b", f"Authorization: Bearer {MASK}, b"),
        ("x Basic aHVudGVyMjpw== y", f"x Basic {MASK} y"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.hunter2", MASK),
        ("k = AKIAIOSFODNN7EXAMPLE)", f"k = {MASK})"),
        (f"'{TOKEN}'", f"'{MASK}'"),
        ("the bearer of it, Basic Plan, eyJ, dapi", "the bearer of it, Basic Plan, eyJ, dapi"),
    ],
)
def test_what_looks_like_a_secret(text, masked):
    assert mask_text(text) == masked


def test_a_private_key_in_a_plan_is_masked_on_all_its_lines():
    text = (
        f"== Physical Plan ==\n*(1) Filter (k#1 = {PEM}\nMIIEhunter2\nhunter2\n"
        "-----END RSA PRIVATE KEY-----)\n+- FileScan json [k#1]\n"
    )
    version = assemble(Gathered(pieces=[recognise(text.encode(), path="plan.txt")]))
    assert "hunter2" not in repr(version)
    assert [n.operator for n in version.topology.nodes] == ["json", "filter", "sink"]


def test_progress_is_masked():
    source = {"description": "X[t] password=hunter2", "metrics": {"token": "hunter2", "rows": "1"}}
    found = {"id": "q", "runId": "r", "batchId": 1, "timestamp": "2026-01-01T00:00:00.000Z"}
    batch = read_progress(
        {**found, "sources": [source], "sink": {"description": "Y[secret=hunter2]"}}
    )
    assert "hunter2" not in repr(batch)


def test_a_password_before_a_server_needs_no_scheme():
    servers = mask({"bootstrap.servers": "me:hidden@one:9092,two:9092,me:hidden@three"})
    assert servers["bootstrap.servers"] == f"{MASK}@one:9092,two:9092,{MASK}@three"
    assert mask({"mail": "a@b.c", "time": "10:20"}) == {"mail": "a@b.c", "time": "10:20"}
