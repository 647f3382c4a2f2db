"""What the demo's deploy command changes: the function of the next start, and of the registry."""

import tomllib

import pytest

from headgate.local.demo import control
from headgate.local.demo.pipelines import PIPELINES, registry, starter

NAME = "orders-by-city"
FIRST = "headgate.local.demo.orders_by_city:v1"
FASTER = "headgate.local.demo.orders_by_city:v2_faster"
PIPELINE = next(p for p in PIPELINES if p.name == NAME)


def next_start(home):
    return starter(PIPELINE, home, "127.0.0.1:1")(None).argv[3]


def registered(home):
    (found,) = [
        p for p in tomllib.loads(registry(home, "127.0.0.1:1"))["pipeline"] if p["name"] == NAME
    ]
    return found


def test_a_deployed_function_is_started_until_it_is_rolled_back(tmp_path, capsys):
    assert next_start(tmp_path) == FIRST
    assert control.deploy(tmp_path, NAME, FASTER, "deploy") == 0
    assert next_start(tmp_path) == FASTER
    assert registered(tmp_path)["entry_point"] == FASTER
    assert control.deploy(tmp_path, NAME, "", "rollback") == 0
    assert control.deploy(tmp_path, NAME, "", "rollback") == 0, "it is safe to repeat"
    assert next_start(tmp_path) == FIRST
    assert registered(tmp_path)["entry_point"] == FIRST
    capsys.readouterr()


@pytest.mark.parametrize(
    ("name", "function"), [(NAME, ""), (NAME, "not a function"), ("alert-mailer", FASTER)]
)
def test_what_can_not_be_deployed_changes_nothing(tmp_path, capsys, name, function):
    assert control.deploy(tmp_path, name, function, "deploy") == 1
    assert capsys.readouterr().err
    assert next_start(tmp_path) == FIRST


def test_queries_can_be_deployed_and_the_mailer_can_not(tmp_path):
    assert {"deploy", "rollback"} <= registered(tmp_path)["commands"].keys()
    pipelines = tomllib.loads(registry(tmp_path, "127.0.0.1:1"))["pipeline"]
    (mailer,) = [p for p in pipelines if p["name"] == "alert-mailer"]
    assert not {"deploy", "rollback"} & mailer["commands"].keys()
