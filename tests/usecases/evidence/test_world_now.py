"""Verdicts against a real broker: offsets that are gone, topics that were made again."""

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.ui.shared import cached_reads
from headgate.ui.shared.given_evidence import Given
from headgate.usecases.compare.compare_versions import compare_read, compare_versions
from headgate.usecases.context import open_context
from headgate.usecases.evidence.read_cluster import read_cluster
from headgate.usecases.evidence.read_cluster_for_version import reread_cluster
from headgate.usecases.evidence.read_version import read_version
from headgate.usecases.evidence.refresh_versions import refresh_versions
from support.waiting import until

HOUR = 3600
CASE = Path(__file__).parents[2] / "cases" / "spark" / "agg_add_column"


def write_checkpoint(folder, offsets, at=None):
    """Write what a query leaves that has read Kafka up to `offsets`, planned at `at` (seconds)."""
    head = {"batchWatermarkMs": 0, "batchTimestampMs": int((at or time.time()) * 1000), "conf": {}}
    files = {
        "metadata": json.dumps({"id": "9d4a7d3e-0000-4000-8000-000000000001"}),
        "offsets/0": f"v1\n{json.dumps(head)}\n{json.dumps(offsets)}",
        "commits/0": 'v1\n{"nextBatchWatermarkMs":0}',
        "sources/0/0": f"v1\n{json.dumps({t: dict.fromkeys(p, 0) for t, p in offsets.items()})}",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def write_capture(folder, broker, topic, **options):
    folder.mkdir(parents=True, exist_ok=True)
    said = {"kafka.bootstrap.servers": broker, "subscribe": topic, **options}
    source = {"relation": "StreamingRelationV2", "format": "kafka", "options": said, "name": None}
    capture = {"sources": [source], "sink": {"format": "foreachBatch", "options": {}}}
    (folder / "capture.json").write_text(json.dumps(capture))


@pytest.fixture
def query(tmp_path, broker, topic, produce):
    """A query that has read the three records of its topic an hour ago, registered as `orders`."""
    name = topic("orders")
    produce(name, ["a", "b", "c"])
    write_checkpoint(tmp_path / "old" / "ck", {name: {"0": 3}}, time.time() - HOUR)
    write_capture(tmp_path / "old", broker, name)
    write_capture(tmp_path / "new", broker, name)
    write_capture(tmp_path / "lossy", broker, name, failOnDataLoss="false")
    (tmp_path / "headgate.toml").write_text(
        f'[kafka]\nbootstrap_servers = "{broker}"\n\n[[pipeline]]\nname = "orders"\n'
        f'engine = "spark"\ncheckpoint = "old/ck"\nevidence = ["old/capture.json"]\n'
    )
    return tmp_path, name


def judged(folder, before, after):
    """Return the findings about the world, {rule: outcome}."""
    context = open_context(str(folder / "headgate.toml"))
    report = compare_versions([before], [str(folder / after)], context=context, ask_kafka=True)
    assert "against Kafka as of" in report.judged_for
    return {f.rule: f.outcome.word for f in report.findings if f.rule.startswith("WLD")}


@pytest.mark.kafka
def test_what_retention_took_is_refused_or_skipped(query, kafka_admin, produce):
    from confluent_kafka import TopicPartition

    folder, name = query
    produce(name, ["d", "e", "f"])
    old = str(folder / "old")
    assert "WLD001" not in judged(folder, old, "new")
    part = TopicPartition(name, 0, 5)
    kafka_admin.delete_records([part])[part].result()
    assert judged(folder, old, "new")["WLD001"] == "refuses"
    assert judged(folder, old, "lossy")["WLD001"] == "silently_wrong"


@pytest.mark.kafka
def test_a_topic_that_was_made_again_is_found_by_its_id_and_by_times(
    query, kafka_admin, topic, produce
):
    folder, name = query
    context = open_context(str(folder / "headgate.toml"))
    # The batch is said to be older than the records that it read: that alone is a question.
    assert judged(folder, str(folder / "old"), "new") == {"WLD003": "unknown"}
    assert [r.number for r in refresh_versions(context)] == [1]
    assert judged(folder, "orders@1", "new") == {}
    _make_again(kafka_admin, name)
    produce(name, ["v", "w", "x", "y"])
    assert judged(folder, "orders@1", "new") == {"WLD003": "silently_wrong"}
    # What was seen of Kafka without knowing the query leaves it open, until somebody looks.
    seen, before = read_cluster(context), read_version(["orders@1"], context=context)
    after = read_version([str(folder / "new")])
    asked = reread_cluster(context, seen, before, after)
    outcomes = [compare_read(before, after, cluster).outcome.word for cluster in (seen, asked)]
    assert outcomes == ["unknown", "silently_wrong"]
    # The query has gone on with the new topic since: nothing is wrong any more.
    write_checkpoint(folder / "old" / "ck", {name: {"0": 4}}, time.time() + HOUR / 60)
    assert judged(folder, "orders@1", "new") == {}
    write_checkpoint(folder / "old" / "ck", {name: {"0": 9}})
    assert judged(folder, "orders@1", "new") == {"WLD002": "refuses"}


@pytest.mark.kafka
def test_a_query_that_continued_after_kafka_was_read_loses_nothing(query, produce):
    folder, name = query
    context = open_context(str(folder / "headgate.toml"))
    seen = read_cluster(context)
    produce(name, ["d", "e", "f"])
    write_checkpoint(folder / "old" / "ck", {name: {"0": 6}})
    before, after = (read_version([str(folder / side)]) for side in ("old", "new"))
    stale = compare_read(before, after, seen)
    assert "WLD002" not in {f.rule for f in stale.findings}
    assert any(
        w.startswith("Headgate did not compare the offsets with Kafka: ") for w in stale.warnings
    )
    assert stale.outcome.word == "unknown"
    found = compare_read(before, after, reread_cluster(context, seen, before, after))
    assert "WLD002" not in {f.rule for f in found.findings}
    assert not any(w.startswith("Headgate did not compare the offsets") for w in found.warnings)
    # What is read after the evidence still tells an offset that is beyond the end.
    write_checkpoint(folder / "old" / "ck", {name: {"0": 9}})
    before = read_version([str(folder / "old")])
    found = compare_read(before, after, reread_cluster(context, seen, before, after))
    assert "WLD002" in {f.rule for f in found.findings}


@pytest.mark.kafka
def test_the_page_never_judges_a_checkpoint_by_an_older_reading(query, produce):
    folder, name = query
    context = open_context(str(folder / "headgate.toml"))
    # All pages share this reading for some seconds.
    assert cached_reads.cluster(context).cluster.topics[name].partitions[0].end == 3
    produce(name, ["d", "e", "f"])
    write_checkpoint(folder / "old" / "ck", {name: {"0": 6}})
    before, after = (Given(evidence=(str(folder / side),)) for side in ("old", "new"))
    found = cached_reads.comparison(context, before, after)
    assert "KAFKA_DATA_LOSS" not in {f.error_class for f in found.report.findings}
    assert "against Kafka as of" in found.report.judged_for


def _make_again(admin, name):
    from confluent_kafka.admin import NewTopic

    admin.delete_topics([name])[name].result()

    def made() -> bool:
        return admin.create_topics([NewTopic(name, 1, 1)])[name].exception() is None

    until(made, f"{name} could not be made again", every=0.1)


def diff(*options, config=None):
    sides = [f"--before={CASE / 'before'}", f"--after={CASE / 'after'}"]
    given = ["--config", str(config)] if config else []
    return CliRunner().invoke(headgate, [*given, "diff", *sides, *options])


def test_without_a_kafka_to_ask_the_command_line_is_wrong(tmp_path):
    (tmp_path / "headgate.toml").write_text("")
    answer = diff("--cluster", config=tmp_path / "headgate.toml")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "No Kafka cluster is configured" in answer.stderr


def test_a_kafka_that_does_not_answer_is_one_sentence(tmp_path):
    (tmp_path / "headgate.toml").write_text('[kafka]\nbootstrap_servers = "127.0.0.1:9"\n')
    answer = diff("--cluster", config=tmp_path / "headgate.toml")
    assert (answer.exit_code, answer.stdout) == (4, "")
    assert len(answer.stderr.strip().splitlines()) == 1
