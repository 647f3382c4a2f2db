"""Whether a pipeline runs: each sign, what wins, and what nothing proves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headgate.model.activity import Activity, ActivityState
from headgate.model.cluster import Cluster, Group, GroupType, Member, Partition, Topic
from headgate.parse.spark.watch.read import Life, read_watch
from headgate.reprocess.ports.processes import Status
from headgate.store import open_store
from headgate.text.times import iso
from headgate.usecases.activity.check_pipelines import check_pipelines
from headgate.usecases.activity.judge_activity import Signs, continued, judge, judge_group
from headgate.usecases.activity.read_activity import read_activity
from headgate.usecases.context import open_context

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
QUERY, RUN = "0b91e356-6bbb-44bf-9ab3-610dd4872629", "154e4c58-2810-4267-a11d-da3cc48b7c5f"


def ago(seconds: float) -> str:
    return iso(NOW - timedelta(seconds=seconds))


def life(told: float, **more: object) -> Life:
    given = {"query_id": QUERY, "run_id": RUN, "batch": 7, "session": "classic", **more}
    return Life(told_at=ago(told), started_at=ago(5000), **given)


CASES = [
    # what was looked at                                                       state, by what
    (Signs(life=life(5)), "running", "watch"),
    (Signs(life=life(99)), "running", "watch"),
    (Signs(life=life(101)), "unknown", None),
    (Signs(life=life(101), status=Status.RUNS), "running", "status"),
    (Signs(life=life(101), status=Status.STOPPED), "failed", "watch"),
    (Signs(life=life(5), status=Status.STOPPED), "running", "watch"),
    (Signs(life=life(5), gone=True), "failed", "watch"),
    (Signs(life=life(5), gone=False), "running", "watch"),
    (Signs(life=life(9999), gone=False), "unknown", None),
    (Signs(life=life(9999, ended=True)), "stopped", "watch"),
    (Signs(life=life(9999, ended=True, exception="boom")), "failed", "watch"),
    (Signs(life=life(9999, ended=True, exception="x"), status=Status.RUNS), "failed", "watch"),
    (Signs(life=life(50, closed="the driver program ended", over=True)), "stopped", "watch"),
    (Signs(life=life(50, closed="the watch was closed")), "unknown", None),
    (Signs(life=life(9999), begun=(9, ago(30))), "running", "checkpoint"),
    (Signs(life=life(9999), begun=(7, ago(9990))), "unknown", None),
    (Signs(begun=(7, ago(119))), "running", "checkpoint"),
    (Signs(begun=(7, ago(121))), "unknown", None),
    (Signs(begun=(7, ago(900)), advanced=True), "running", "checkpoint"),
    (Signs(status=Status.RUNS), "running", "status"),
    (Signs(status=Status.STOPPED), "stopped", "status"),
    (Signs(status=Status.UNKNOWN), "unknown", None),
    (Signs(), "unknown", None),
]


@pytest.mark.parametrize(("signs", "state", "feed"), CASES)
def test_the_state_and_what_it_rests_on(signs, state, feed):
    found = judge(signs, NOW)
    assert (found.state, found.feed) == (state, feed)
    assert found.reason and found.looked_at == iso(NOW)


def test_an_error_is_told_with_its_condition_and_first_line():
    lost = life(60, ended=True, exception="boom\n\tat x", error_class="STREAM_FAILED")
    found = judge(Signs(life=lost), NOW)
    assert (found.reason, found.error_class) == ("STREAM_FAILED: boom", "STREAM_FAILED")
    assert found.since == ago(60) and found.run_id == RUN


def test_an_old_batch_is_called_what_it_is():
    found = judge(Signs(begun=(7, ago(3600))), NOW)
    assert "the query may be stopped, or has no new data" in found.reason
    assert found.batch == 7 and found.seen_at == ago(3600)


def test_what_cannot_be_read_stands_in_the_proof():
    found = judge(Signs(problems=("DIR is not there",)), NOW)
    assert found.reason == "DIR is not there" and found.proof == ("DIR is not there",)


@pytest.mark.parametrize("status", [Status.PAUSED, Status.UNKNOWN])
def test_a_status_that_decides_nothing_is_the_reason(status):
    assert judge(Signs(status=status), NOW).reason == f"the status command reports: {status}"


def test_a_watch_without_a_query_is_the_reason(tmp_path):
    (tmp_path / "watch").mkdir()
    (tmp_path / "headgate.toml").write_text(
        '[[pipeline]]\nname = "a"\nengine = "spark"\nwatch = "watch"\n'
    )
    found = check_pipelines(open_context(str(tmp_path / "headgate.toml")))["a"]
    assert found.reason.endswith("watch yet")


def test_a_state_goes_on_since_it_began():
    first = continued(Activity(state=ActivityState.STOPPED, looked_at="t1"), None)
    assert first.since == "t1"
    again = continued(Activity(state=ActivityState.STOPPED, looked_at="t2"), first)
    assert again.since == "t1"
    other = continued(Activity(state=ActivityState.RUNNING, looked_at="t3"), again)
    assert other.since == "t3"


def cluster(group: Group) -> Cluster:
    orders = Topic(name="orders", partitions=(Partition(number=0, begin=0, end=10),))
    return Cluster(id="c", at=ago(1), bootstrap="b", topics={"orders": orders}, groups={"g": group})


MEMBER = Member(id="m")
GROUPS = [
    (Group(id="g", state="stable", members=(MEMBER,)), "running"),
    (Group(id="g", state="empty", members=()), "stopped"),
    (Group(id="g", state="dead", members=()), "unknown"),
    (Group(id="g", state="empty", members=None), "unknown"),
    (Group(id="g", type=GroupType.STREAMS, state="stable", members=(MEMBER,)), "running"),
]


@pytest.mark.parametrize(("group", "state"), GROUPS)
def test_a_group_runs_where_somebody_is_in_it(group, state):
    assert judge_group(group, cluster(group), "", NOW).state == state


def test_without_kafka_a_group_is_unknown_and_the_reason_says_so():
    found = judge_group(None, None, "Kafka at b does not answer", NOW)
    assert (found.state, found.reason) == ("unknown", "Kafka at b does not answer")


# ----------------------------------------------------------------------- in the store


@pytest.fixture
def context(tmp_path):
    (tmp_path / "headgate.toml").write_text(
        '[[pipeline]]\nname = "a"\nengine = "spark"\ncheckpoint = "ck"\n'
        '[pipeline.commands]\nstatus = "exit `cat code`"\n'
    )
    return open_context(str(tmp_path / "headgate.toml"))


def test_a_look_is_kept_and_read_by_the_pages(context, tmp_path):
    reason = "no worker has checked the pipeline yet (`headgate up` starts a worker)"
    assert read_activity(context)["a"].reason == reason
    (tmp_path / "code").write_text("0")
    check_pipelines(context)
    assert read_activity(context)["a"].state == "running"
    (tmp_path / "code").write_text("3")
    # Not asked this time: what the command said last still counts.
    check_pipelines(context, ask_commands=False)
    assert read_activity(context, "a")["a"].state == "running"
    check_pipelines(context)
    assert read_activity(context, "a")["a"].state == "stopped"
    assert read_activity(context, "b") == {}


def test_an_old_look_says_nothing_of_now(context, tmp_path):
    (tmp_path / "code").write_text("0")
    check_pipelines(context)
    later = datetime.now(UTC) + timedelta(minutes=4)
    found = read_activity(context, now=later)["a"]
    assert found.state == "unknown" and "The last check found: running (" in found.reason


def test_a_missing_watch_is_a_sentence(tmp_path):
    (tmp_path / "headgate.toml").write_text(
        '[[pipeline]]\nname = "a"\nengine = "spark"\ncheckpoint = "ck"\nwatch = "w"\n'
    )
    found = check_pipelines(open_context(str(tmp_path / "headgate.toml")))["a"]
    assert found.state == "unknown" and "no watch has written to this location yet" in found.reason


def test_a_newer_look_is_never_replaced_by_an_older(tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'a.db'}")
    store.activity.put("p", Activity(state=ActivityState.RUNNING, looked_at=ago(1)))
    store.activity.put("p", Activity(state=ActivityState.STOPPED, looked_at=ago(2)))
    assert store.activity.all()["p"].state == "running"
    store.close()


# ----------------------------------------------------------------------- reading records


def record(event: str, at: str, **body: object) -> bytes:
    import json

    head = {"headgate": "watch", "schema": 1, "event": event, "id": QUERY, "runId": RUN, "at": at}
    return (json.dumps(head | body) + "\n").encode()


def report(batch: int, at: str) -> dict[str, object]:
    return {"id": QUERY, "runId": RUN, "batchId": batch, "timestamp": at, "sources": []}


def test_torn_and_foreign_lines_cost_a_warning_and_the_last_one_none():
    lines = [
        record("started", ago(60), name="q", spark="4.2.0"),
        b'{"headgate":"watch","schema":1,"ev\n',
        b"nonsense\n",
        record("progress", ago(50), progress=report(3, ago(51))),
        b'{"headgate":"watch","schema":1,"event":"prog',
    ]
    found = read_watch(lines, path="w")
    assert found.lives[RUN].batch == 3 and found.lives[RUN].name == "q"
    (warning,) = found.log.warnings
    assert warning.startswith("w: 2 lines can't be read as headgate.watch records (first: w:2 (")


def test_lost_records_are_said_and_repeated_ones_count_once():
    lines = [
        record("progress", ago(9 - n), progress=report(n // 2, ago(20 - n // 2))) for n in range(4)
    ]
    lines.append(record("alive", ago(1), dropped=12))
    found = read_watch(lines, path="w", keep=lambda *_: True)
    (run,) = found.log.runs
    assert len(run.reports) == 2 and run.last_batch == 1
    assert found.log.warnings == (
        f"w: headgate.watch could not write 12 reports of query {QUERY} in time. The query lost no "
        "data, but batches may be missing here",
    )
    assert found.lives[RUN].told_at == ago(1) and found.lives[RUN].busy_at == ago(6)


def test_a_record_of_another_schema_is_not_guessed():
    newer = record("started", ago(1)).replace(b'"schema": 1', b'"schema": 2')
    found = read_watch([newer], path="w")
    assert (
        not found.lives
        and "schema is 2, but this release reads only schema 1" in found.log.warnings[0]
    )
