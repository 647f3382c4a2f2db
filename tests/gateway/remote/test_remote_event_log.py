"""Event logs in a real object store: streamed, the same as from disk; a silent server is said."""

from pathlib import Path

import pytest

from headgate.errors import UnreachableError
from headgate.model.registered_pipelines import Registry
from headgate.usecases.context import Context
from headgate.usecases.evidence.query_rows import queries_of
from headgate.usecases.evidence.read_history import read_history
from headgate.usecases.evidence.read_version import gather
from support.event_logs import FINISHED, PLAIN


@pytest.fixture(scope="module")
def logs(s3):
    """The recorded logs, put into the bucket."""
    for path in FINISHED:
        key = f"logs/{path.parent.name}/{path.name}"
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            name = f"{key}/{file.name}" if path.is_dir() else key
            s3.more["put"](name, file.read_bytes())
    return Context(Registry(file_systems=s3.settings), "sqlite:///none.db", Path())


@pytest.mark.parametrize("path", FINISHED, ids=lambda p: p.parent.name)
def test_a_remote_log_says_what_the_local_one_does(path, logs):
    address = f"s3a://bucket/logs/{path.parent.name}/{path.name}"
    assert queries_of(gather([address], context=logs)) == queries_of(gather([str(path)]))


def test_a_remote_log_has_the_history_of_the_local_one(logs):
    found = read_history([f"s3a://bucket/logs/plain/{PLAIN.name}"], context=logs, query="orders")
    local = read_history([str(PLAIN)], query="orders")
    assert [v.topology for v in found] == [v.topology for v in local]


def test_a_server_that_says_nothing_is_no_hang(silent):
    settings = {
        "endpoint": f"http://127.0.0.1:{silent}",
        "region": "us-east-1",
        "access_key": "a",
        "secret_key": "b",
    }
    context = Context(Registry(file_systems={"s3": settings}), "sqlite:///none.db", Path())
    with pytest.raises(UnreachableError):
        queries_of(gather(["s3://bucket/log"], context=context))
