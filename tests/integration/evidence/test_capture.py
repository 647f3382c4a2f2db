"""Captures of functions, by real sessions; state schemas against those of real runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import captured_queries as queries
import pytest

from headgate.errors import UnreachableError
from headgate.gateway.spark.capture import capture_query
from headgate.parse.spark.session.captured_state import captured_operators
from headgate.usecases.compare.compare_versions import compare_versions
from headgate.usecases.evidence.read_version import read_version

pytestmark = pytest.mark.spark
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("captures")
    program = [sys.executable, str(HERE / "capture_program.py"), str(folder)]
    env = os.environ | {
        "PYTHONPATH": str(HERE),
        "PYSPARK_PYTHON": sys.executable,
        "HEADGATE_WITHHELD": "TEST_PASSWORD",
    }
    done = subprocess.run(program, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture(scope="module")
def found(folder):
    return json.loads((folder / "found.json").read_text())


def schemas(operators):
    return {
        (o.operator_id, o.name, s.store): (s.key_schema, s.value_schema, s.prefix_columns)
        for o in operators
        for s in o.stores
    }


@pytest.mark.parametrize("function", queries.STATEFUL, ids=lambda f: f.__name__)
def test_planned_state_is_what_a_run_leaves_behind(folder, found, function):
    name = function.__name__
    assert "error" not in found[name] and "state_error" not in found[name]
    planned = schemas(captured_operators(found[name]["state"]))
    left = schemas(read_version([str(folder / name / "checkpoint")]).stateful)
    assert planned and planned == left


@pytest.mark.parametrize("function", queries.STATEFUL, ids=lambda f: f.__name__)
def test_a_capture_resumes_from_its_own_checkpoint(folder, function):
    """Only what stands in a function's body may be asked for."""
    name = function.__name__
    pieces = [str(p) for p in (folder / name).glob("*.*") if p.is_file()]
    report = compare_versions([str(folder / name / "checkpoint"), *pieces], pieces)
    assert all(f.rule.startswith("FUN") for f in report.findings), report.findings


@pytest.mark.parametrize("function", queries.WRONG, ids=lambda f: f.__name__)
def test_what_a_function_does_wrong_is_one_sentence(found, function):
    said = found[function.__name__]
    assert isinstance(said, str)
    assert queries.WRONG[function] in said
    assert said.startswith(f"captured_queries:{function.__name__} ") or ".py:" in said
    assert "\n" not in said


def test_the_state_functions_are_recorded(found):
    kinds = {
        name: [(f["kind"], f["name"]) for f in found[name]["functions"]]
        for name in found
        if isinstance(found[name], dict)
    }
    assert kinds["mapped"] == [("udf", "total")]
    assert kinds["with_variables"] == [("stateful_processor", "Counter")]
    assert kinds["counted"] == []


def test_what_spark_refuses_is_recorded(found):
    said = found["refused"]
    assert said["error"].startswith("[STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION]")
    assert (said["state"], said["output_mode"]) == (None, "Append")


def test_a_query_that_spark_can_not_plan_is_recorded(folder, found):
    said = found["unplanned"]
    assert said["error"].startswith("Global aggregation with session window")
    assert (said["state"], said["output"]["type"]) == (None, "struct")
    pieces = sorted(p.name for p in (folder / "unplanned").glob("*.*") if p.is_file())
    assert pieces == ["capture.json", "explain.txt", "logical.json"]


@pytest.fixture(scope="module")
def business(tmp_path_factory):
    into = tmp_path_factory.mktemp("business")
    before = sorted(HERE.iterdir())
    entry = "captured_queries:business"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_PASSWORD", "x")
        capture_query(entry, into, importable=[HERE], query="business")
    assert sorted(HERE.iterdir()) == before
    return into


def test_nothing_of_a_whole_pipeline_starts_or_is_reached(business):
    capture = json.loads((business / "capture.json").read_text())
    kafka, payments = capture["sources"]
    assert kafka["options"]["subscribe"] == "orders"
    assert (payments["format"], payments["options"]) == ("parquet", {"path": "/nowhere/payments"})
    assert capture["sink"]["format"] == "foreachBatch"
    assert (capture["name"], capture["output_mode"]) == ("business", "Append")
    functions = [(f["kind"], f["name"]) for f in capture["functions"]]
    assert functions == [("udf", "weight"), ("foreachBatch", "write_batch")]
    assert json.loads((business / "conf.json").read_text()) == {"spark.sql.shuffle.partitions": "7"}


def test_the_pieces_name_the_functions_paths_and_no_secret(business):
    texts = {p.name: p.read_text() for p in business.glob("*.*") if p.is_file()}
    assert set(texts) == {
        *("explain.txt", "formatted.txt", "logical.json", "capture.json", "conf.json")
    }
    assert "s3a://nowhere/cities/*.csv" in texts["formatted.txt"]
    for text in texts.values():
        assert "hunter2" not in text
        assert str(business) not in text
        assert "... " not in text and "more fields" not in text


def test_the_pieces_are_one_version(business):
    version = read_version([str(business)])
    assert [s.topics for s in version.sources] == [("orders",), ()]
    assert version.engine_version
    assert not version.warnings


def test_the_output_is_the_schema_that_spark_itself_has(business):
    schema = json.loads((business / "capture.json").read_text())["output"]
    assert [(f["name"], f["type"]) for f in schema["fields"]] == [
        *(("k", "string"), ("v", "integer"), ("ts", "timestamp"), ("city", "string")),
        *(("pk", "string"), ("paid", "integer"), ("w", "long")),
    ]
    version = read_version([str(business)])
    assert [f.name for f in version.sink.schema.fields] == [f["name"] for f in schema["fields"]]
    (parsed,) = version.parsed
    assert (parsed.function, parsed.columns) == ("from_json", ("s0.value",))
    assert [f.name for f in parsed.schema.fields] == ["k", "v", "ts"]


def test_a_capture_that_hangs_is_ended(tmp_path):
    with pytest.raises(UnreachableError, match=r"did not end within 0.2 s"):
        capture_query("time:sleep", tmp_path, importable=[HERE], timeout_s=0.2)


TOGETHER = """
import time
from pathlib import Path


def met(spark, own, other):
    Path(own).touch()
    end = time.monotonic() + 300
    while not Path(other).exists():
        assert time.monotonic() < end, f"{other} does not come"
        time.sleep(0.1)
    return spark.readStream.format("rate").load().writeStream.format("noop")


def first(spark):
    return met(spark, "first.mark", "second.mark")


def second(spark):
    return met(spark, "second.mark", "first.mark")
"""


def test_both_sides_of_a_comparison_are_captured_at_the_same_time(tmp_path, monkeypatch):
    (tmp_path / "sides.py").write_text(TOGETHER)
    monkeypatch.chdir(tmp_path)
    report = compare_versions(["sides:first"], ["sides:second"])
    assert report.changes == ()
