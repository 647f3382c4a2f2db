"""`headgate reset` beside what Kafka's own tool was recorded to do, on a real broker.

Where the tool is right the plan is the same; where it is unsafe ours refuses, and says why.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from headgate.cli.main import headgate
from support.waiting import PATIENCE

pytestmark = pytest.mark.kafka

GOLDEN = Path(__file__).parents[2] / "golden"
RECORDED = json.loads((GOLDEN / "reset" / "recorded.json").read_text())
DESCRIBED = (GOLDEN / "streams" / "4.3.1" / "aggregate_named.txt").read_text()
BASE = datetime.fromisoformat("2026-11-21T07:00:00Z")

# What differs from Kafka's tool on purpose: the exit code, and what the sentence says.
NO_RECORD = (3, "has no record at or after")
OURS = {
    "a_by_duration_bad": NO_RECORD,  # A short form, which ours reads.
    "a_by_duration_negative": (2, "expected a duration"),
    "a_by_duration_zero": NO_RECORD,
    "a_to_datetime_future": NO_RECORD,
    "a_to_datetime_bad": (2, "expected a time"),
    "a_to_datetime_nomillis": {"APP_in:0": 5, "APP_in:1": 5},
    "a_to_offset_below_begin": (3, "is before the earliest offset"),
    "a_to_offset_beyond_end": (3, "is beyond the latest offset"),
    "a_to_offset_negative": (3, "is before the earliest offset"),
    "a_two_specs": (2, "either --to-latest or --to-earliest"),
    "file_bad_line": (2, "line 2: expected TOPIC,PARTITION,OFFSET"),
    "file_beyond_end": (2, "line 2: expected TOPIC,PARTITION,OFFSET"),
    "file_blank_line": {"APP_in:0": 5, "APP_in:1": 6},
    "file_crlf": {"APP_in:0": 5, "APP_in:1": 6},
    "file_duplicate": (2, "listed twice"),
    "file_empty": (2, "no row"),
    "file_header": (2, "line 1: expected TOPIC,PARTITION,OFFSET"),
    "file_missing": (2, "nope.csv can't be read"),
    "file_non_numeric": (2, "line 1: expected TOPIC,PARTITION,OFFSET"),
    "file_partial": (3, "the list of offsets has no row for APP_in[1]"),
    "file_quoted": {"APP_in:0": 5, "APP_in:1": 6},
    "file_spaces": {"APP_in:0": 5, "APP_in:1": 6},
    "file_unknown_partition": (3, "APP_in[7] has a listed offset"),
    "file_unknown_topic": (3, "ks_nope[0] has a listed offset"),
    "scope_foreign_input": (3, "APP does not read APP_out2"),
    "scope_input_typo_only": (3, "topic APP_inx does not exist"),
    "scope_internal_as_input": (3, "APP-g-repartition is an internal topic of APP"),
    "scope_internal_missing": (3, "topic APP-nope-changelog not found"),
    "scope_output_as_input": (3, "APP does not read APP_out"),
}


@dataclass
class Cluster:
    """One stopped application as in the recordings, and others whose names begin alike."""

    broker: str
    app: str
    folder: Path

    def named(self, text: str) -> str:
        return text.replace("APP", self.app)

    def described(self, app: str) -> str:
        file = self.folder / f"{app}.txt"
        text = DESCRIBED.replace("by-value", "g")
        for name in ("in", "out"):
            text = text.replace(f"[{name}]", f"[{app}_{name}]")
            text = text.replace(f"(topic: {name})", f"(topic: {app}_{name})")
        file.write_text(text)
        return str(file)


@pytest.fixture(scope="module")
def cluster(broker, kafka_admin, tmp_path_factory):
    from confluent_kafka import Producer, TopicPartition
    from confluent_kafka.admin import NewTopic

    made = Cluster(broker, f"ks{time.time_ns() % 10**8}", tmp_path_factory.mktemp("reset"))
    names = {"_in": 2, "_out": 1, "_out2": 1, "-counts-changelog": 2, "-g-repartition": 2}
    topics = [NewTopic(f"{made.app}{n}", count, 1, config=KEPT) for n, count in names.items()]
    for future in kafka_admin.create_topics(topics).values():
        future.result()
    producer = Producer({"bootstrap.servers": broker})
    for number in range(15):
        at = int((BASE.timestamp() + number) * 1000)
        for part in (0, 1):
            producer.produce(f"{made.app}_in", f"{number}", partition=part, timestamp=at)
    for _ in range(20):
        producer.produce(f"{made.app}-g-repartition", "x", partition=1)
    assert producer.flush(30) == 0
    gone = kafka_admin.delete_records([TopicPartition(f"{made.app}_in", 0, 2)])
    for future in gone.values():
        future.result()
    commit(broker, made.app, {("_in", 0): 10, ("_in", 1): 10, ("-g-repartition", 1): 20})
    return made


BOTH = ["APP-counts-changelog", "APP-g-repartition"]
KEPT = {"retention.ms": "-1"}


def commit(broker, group, offsets, app=None):
    from headgate.gateway.kafka.cluster import Kafka
    from headgate.gateway.kafka.committed_offsets import alter_offsets

    targets = {(f"{app or group}{t}", p): (o, None, None) for (t, p), o in offsets.items()}
    with Kafka(broker) as kafka:
        alter_offsets(kafka, group, targets)


@pytest.fixture
def reset(cluster, capsys, monkeypatch):
    """Call the command in a folder without headgate.toml; return exit code, JSON and stderr."""
    monkeypatch.chdir(cluster.folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(cluster.folder / "state"))

    def call(*args: str, app: str | None = None):
        words = ["--application-id", app or cluster.app, "--bootstrap-server", cluster.broker]
        with pytest.raises(SystemExit) as ended:
            headgate.main(["reset", *words, *args, "--format", "json"])
        out, err = capsys.readouterr()
        return ended.value.code or 0, json.loads(out) if out else {}, err

    return call


def moves(plan):
    return {
        f"{o['topic']}:{o['partition']}": o["to"]
        for step in plan["steps"]
        if step["action"] == "reset_offsets"
        for o in step["details"]["offsets"]
        if o["to"] != o["from"]
    }


def deleted(plan):
    steps = (s for s in plan["steps"] if s["action"] == "delete_topics")
    return sorted(t for step in steps for t in step["details"]["topics"])


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["id"])
def test_beside_a_recorded_run(cluster, reset, case):
    for name, text in case["files"].items():
        (cluster.folder / name).write_bytes(cluster.named(text).encode())
    args = [cluster.named(a) for a in case["args"]]
    code, plan, said = reset("--topology", cluster.described(cluster.app), *args)
    ours = OURS.get(case["id"], case["offsets"])
    if isinstance(ours, tuple):
        assert code == ours[0], said
        assert cluster.named(ours[1]) in said + " ".join(plan.get("blockers", ()))
        return
    assert (code, plan["blockers"]) == (0, [])
    assert moves(plan) == {cluster.named(k): v for k, v in ours.items()}
    wanted = case["deleted"] or BOTH
    assert deleted(plan) == [cluster.named(t) for t in wanted]
    assert not (cluster.folder / "state").exists()


def test_the_beginning_of_a_name_is_no_proof(cluster, reset):
    code, plan, _ = reset("--input-topics", cluster.named("APP_in"))
    assert code == 3
    (blocker,) = plan["blockers"]
    assert blocker.startswith(f"no evidence that {cluster.app}-counts-changelog belongs")
    assert deleted(plan) == [f"{cluster.app}-g-repartition"]
    named = f"--internal-topics={cluster.app}-counts-changelog, {cluster.app}-g-repartition"
    code, plan, _ = reset("--input-topics", cluster.named("APP_in"), named)
    assert (code, len(deleted(plan))) == (0, 2)
    assert any("because --internal-topics includes it" in risk for risk in plan["risks"])
    code, plan, _ = reset("--input-topics", cluster.named("APP_in"), "--keep-internal")
    assert (code, deleted(plan)) == (0, [])
    assert any("count twice" in risk for risk in plan["risks"])


def test_registered_evidence_proves_what_is_its_own(cluster, reset, monkeypatch):
    described, home = cluster.described(cluster.app), cluster.folder / "registered"
    home.mkdir()
    table = f'[[pipeline]]\nname = "counts"\nengine = "kafka-streams"\ngroup = "{cluster.app}"\n'
    (home / "headgate.toml").write_text(f'{table}evidence = ["{described}"]\n')
    monkeypatch.chdir(home)
    code, plan, _ = reset()
    assert (code, deleted(plan)) == (0, sorted(map(cluster.named, BOTH)))
    Path(described).unlink()
    code, plan, _ = reset()
    assert code == 3 and any("registered evidence" in risk for risk in plan["risks"])


@pytest.fixture(scope="module")
def neighbours(cluster, kafka_admin):
    """`APP-2`, another application, and a reader of one of the application's own topics."""
    from confluent_kafka.admin import NewTopic

    other = f"{cluster.app}-2"
    names = [f"{other}-counts-changelog", f"{other}-g-repartition", f"{other}_in"]
    for future in kafka_admin.create_topics([NewTopic(n, 2, 1) for n in names]).values():
        future.result()
    commit(cluster.broker, other, {("_in", 0): 0, ("-g-repartition", 0): 0})
    return other


def test_another_applications_topics_are_left_alone(cluster, reset, neighbours):
    topology = ("--topology", cluster.described(cluster.app))
    code, plan, _ = reset(*topology, "--input-topics", cluster.named("APP_in"))
    assert (code, plan["blockers"]) == (0, [])
    assert deleted(plan) == [
        cluster.named("APP-counts-changelog"),
        cluster.named("APP-g-repartition"),
    ]
    assert plan["impact"]["left_alone"].keys() == {
        f"{neighbours}-counts-changelog",
        f"{neighbours}-g-repartition",
    }
    theirs = f"{neighbours}-counts-changelog"
    code, plan, _ = reset(*topology, "--internal-topics", theirs)
    assert code == 3
    assert plan["blockers"] == [
        f"--internal-topics: {theirs} doesn't belong to {cluster.app}: the topic's name starts "
        f"with {neighbours}-, the prefix of application {neighbours}. Remove the topic from the "
        "option"
    ]


def test_what_another_group_reads_is_refused(cluster, reset, unique):
    reader = unique("debug")
    commit(cluster.broker, reader, {("-counts-changelog", 0): 0}, app=cluster.app)
    topology = ("--topology", cluster.described(cluster.app))
    code, plan, _ = reset(*topology, "--input-topics", cluster.named("APP_in"))
    assert code == 3
    assert f"group {reader} has committed offsets for the topic" in plan["blockers"][0]
    code, _, _ = reset(*topology, "--keep-internal", "--input-topics", cluster.named("APP_in"))
    assert code == 0
    forget(cluster.broker, reader)


def forget(broker, group):
    from headgate.gateway.kafka.cluster import Kafka
    from headgate.gateway.kafka.committed_offsets import delete_group

    with Kafka(broker) as kafka:
        delete_group(kafka, group)


@pytest.mark.parametrize("typo", ["{}x", "k{}"])
def test_a_typo_makes_no_group(cluster, reset, typo):
    wrong = typo.format(cluster.app)
    code, plan, _ = reset("--execute", "--input-topics", cluster.named("APP_in"), app=wrong)
    assert (code, plan["state"]) == (3, "refused")
    assert f"group {wrong} not found" in plan["error"]
    assert f"Similar ids: {cluster.app}" in plan["error"]
    assert wrong not in groups_of(cluster.broker)


def test_everything_is_checked_before_the_first_effect(cluster, reset):
    before = committed(cluster)
    words = ("--topology", cluster.described(cluster.app), "--execute")
    for wrong in ("--internal-topics=APP-nope-changelog", "--input-topics=APP_in,APP_inx"):
        given = ("--input-topics", cluster.named("APP_in"), cluster.named(wrong))
        code, done, _ = reset(*words, *given)
        assert (code, done["state"]) == (3, "refused")
        assert {s["state"] for s in done["steps"]} == {"skipped"}
    assert committed(cluster) == before


def committed(cluster):
    from headgate.gateway.kafka.cluster import Kafka
    from headgate.gateway.kafka.committed_offsets import read_offsets

    with Kafka(cluster.broker) as kafka:
        return read_offsets(kafka, cluster.app)


def groups_of(broker):
    from headgate.gateway.kafka.cluster import Kafka

    with Kafka(broker) as kafka:
        return {group.id for group in kafka.groups()}


def test_it_runs_and_is_undone_without_any_registration(cluster, kafka_admin, unique):
    """The run's worker learns the address and the proofs from the plan alone."""
    from confluent_kafka.admin import NewTopic

    app = unique("lone")
    names = [f"{app}{end}" for end in ("_in", "-counts-changelog", "-g-repartition")]
    for future in kafka_admin.create_topics([NewTopic(n, 1, 1) for n in names]).values():
        future.result()
    commit(cluster.broker, app, {("_in", 0): 0, ("-g-repartition", 0): 0})
    before = ids(cluster.broker, names)
    words = ("--application-id", app, "--bootstrap-server", cluster.broker, "--to-latest")
    words += ("--input-topics", f"{app}_in", "--topology", cluster.described(app))
    done = run_in(cluster.folder, "reset", *words, "--execute")
    assert done["state"] == "done"
    assert ids(cluster.broker, names).keys() == {f"{app}_in"}
    undone = run_in(cluster.folder, "undo", done["run"])
    assert undone["state"] == "done"
    after = ids(cluster.broker, names)
    assert after.keys() == before.keys()
    assert [n for n in names if after[n] == before[n]] == [f"{app}_in"]


def run_in(folder, *words):
    """Run a command in a folder without headgate.toml; its store is in the user's state folder."""
    done = subprocess.run(
        [sys.executable, "-m", "headgate.cli.main", *words, "--format", "json"],
        cwd=folder, env={**os.environ, "XDG_STATE_HOME": str(folder / "lone")},
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def ids(broker, names):
    from headgate.gateway.kafka.cluster import Kafka

    with Kafka(broker) as kafka:
        return {name: topic.id for name, topic in kafka.topics(names).items()}


def test_a_topology_of_another_application_is_no_evidence(cluster, reset):
    folder = cluster.folder / "version"
    folder.mkdir()
    (folder / "describe.txt").write_text(Path(cluster.described(cluster.app)).read_text())
    (folder / "config.json").write_text(
        json.dumps({"application.id": "another", "num.stream.threads": "1"})
    )
    code, _, said = reset("--topology", str(folder))
    assert code == 2 and "the evidence describes application another" in said


def test_execute_and_dry_run_exclude_each_other(reset):
    code, _, said = reset("--execute", "--dry-run")
    assert code == 2 and "give only one of" in said


def test_an_application_id_has_to_be_given(cluster, capsys):
    with pytest.raises(SystemExit) as ended:
        headgate.main(["reset", "--bootstrap-server", cluster.broker])
    assert ended.value.code == 2
    assert "--application-id" in capsys.readouterr().err


def test_no_broker_is_exit_4(reset, capsys):
    with pytest.raises(SystemExit) as ended:
        headgate.main(["reset", "--application-id", "x", "--bootstrap-server", "127.0.0.1:1"])
    assert ended.value.code == 4
