"""Addresses: which are remote, what is wrong with others, and that no key in one is shown."""

import pytest

from headgate.errors import EvidenceError
from headgate.gateway.files.addresses import is_uri, without_secret
from headgate.gateway.files.evidence_files import find
from headgate.gateway.files.remote_connect import address


@pytest.mark.parametrize(
    ("location", "family", "host", "path"),
    [
        ("s3://b/a/b", "s3", "b", "a/b"),
        ("s3a://b", "s3", "b", ""),
        ("s3n://b/x%20y#z?/", "s3", "b", "x%20y#z?"),
        ("abfss://box@acc.dfs.core.windows.net/p", "abfs", "acc.dfs.core.windows.net", "p"),
        ("gs://b/p", "gs", "b", "p"),
        ("hdfs://nn:8020/p", "hdfs", "nn", "p"),
        ("hdfs:///p", "hdfs", "", "p"),
    ],
)
def test_parts(location, family, host, path):
    found = address(location)
    assert (found.family, found.host, found.path) == (family, host, path)


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("ftp://h/p", "unknown scheme ftp: use one of s3"),
        ("s3:///p", "the address needs a bucket"),
        ("s3://key:secret@b/p", "an address must not contain credentials"),
        ("abfss://acc.dfs.core.windows.net/p", r"abfss://CONTAINER@ACCOUNT"),
    ],
)
def test_what_is_wrong_is_one_sentence_without_a_key(location, reason):
    with pytest.raises(EvidenceError, match=reason) as error:
        find(location)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("timeout", ["soon", "x1"])
def test_a_timeout_that_is_no_number(timeout):
    with pytest.raises(EvidenceError, match="must be a number of seconds"):
        find("s3://b/p", {"s3": {"timeout": timeout}})


def test_only_a_scheme_makes_a_uri():
    assert is_uri("s3://b") and is_uri("file:/x")
    assert not is_uri("/a/b") and not is_uri("C:/x")
    assert without_secret("s3://a:b@c/d") == "s3://c/d"
    assert without_secret("abfss://box@acc/d") == "abfss://box@acc/d"
