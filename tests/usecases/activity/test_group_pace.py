"""How fast a group reads is told from looks at its offsets, and from nothing that a reset moved."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headgate.model.activity import Activity, ActivityState
from headgate.model.cluster import Cluster, Group, GroupOffset, GroupType, Member, Partition, Topic
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.impact import in_time
from headgate.store import open_store
from headgate.store.rows import NewRun, RunState
from headgate.usecases.activity.group_rate import group_rates, rates_of, with_pace
from headgate.usecases.activity.judge_activity import judge_group
from headgate.usecases.context import Context

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MEMBER = Member(id="m", client_id="c", host="h", assignment=())
GROUP = Pipeline(name="p", engine=Engine.CONSUMER_GROUP, group="g")


def look(before, second, done, end, *, members=(MEMBER,), parts=1, more=()):
    """One look of the worker, so many seconds after noon."""
    at = NOON + timedelta(seconds=second)
    offsets = [GroupOffset(topic="t", partition=n, offset=done // parts) for n in range(parts)]
    logs = tuple(Partition(number=n, begin=0, end=end // parts) for n in range(parts))
    topics = {"t": Topic(name="t", partitions=logs)}
    for name, offset in more:
        offsets.append(GroupOffset(topic=name, partition=0, offset=offset))
        topics[name] = Topic(name=name, partitions=(Partition(number=0, begin=0, end=10**6),))
    group = Group(
        id="g",
        type=GroupType.CONSUMER,
        state="stable" if members else "empty",
        members=members,
        offsets=tuple(offsets),
    )
    cluster = Cluster(id="c", at=at.isoformat(), bootstrap="b", topics=topics, groups={"g": group})
    return with_pace(judge_group(group, cluster, "", at), before, group, cluster)


def looks(seconds, read, arrive, *, done=0, end=10**6):
    """Looks each 10 s at a group that reads and gets so many records a second."""
    found = None
    for second in range(0, seconds + 1, 10):
        found = look(found, second, done + read * second, end + arrive * second)
    return found


def test_a_group_with_work_shows_how_fast_it_reads():
    found = looks(300, read=500, arrive=20)
    assert [(w.read, w.arrived) for w in found.windows] == [(30_000, 1_200)] * 5
    rates = rates_of(found.windows)
    assert (rates.reads, rates.arrives, rates.idle) == (500, 20, False)
    said = "until 2026-11-20 12:05:00 UTC, in 5 one-minute windows with a backlog"
    assert said in rates.how
    told = in_time(48_000, rates, "")
    assert (
        told["seconds"] == 100.0
        and "reads 500 records/s while 20 records/s arrive" in told["seconds_how"]
    )


def test_a_group_that_keeps_up_shows_only_what_comes():
    found = looks(300, read=20, arrive=20, end=5)
    rates = rates_of(found.windows)
    assert rates.idle and in_time(1_000, rates, "")["seconds"] is None
    assert "could not measure its maximum read rate" in in_time(1_000, rates, "")["seconds_how"]


@pytest.mark.parametrize(
    "disturbed",
    [
        {"done": 1_000},
        {"members": ()},
        {"parts": 2},
    ],
    ids=["went back", "nobody in it", "other partitions"],
)
def test_what_a_reset_may_have_moved_is_not_read(disturbed):
    before = looks(60, read=500, arrive=0)
    assert len(before.windows) == 1
    found = look(before, 130, **{"done": 90_000, "end": 10**6, **disturbed})
    assert len(found.windows) == 1
    again = look(found, 140, done=500_000, end=10**6)
    assert len(again.windows) == 1 and again.mark.done in (500_000, 1_000)


def test_a_time_that_no_worker_looked_is_no_window():
    before = looks(60, read=500, arrive=0)
    assert len(look(before, 4_000, 60_000, 10**6).windows) == 1


def test_what_goes_round_within_an_application_is_not_counted():
    found = None
    for second in (0, 60):
        found = look(found, second, second, 10**6, more=[("g-x-repartition", second * 100)])
    assert [w.read for w in found.windows] == [60]


def test_only_the_newest_hour_is_kept():
    found = looks(4_000, read=1, arrive=0)
    assert len(found.windows) == 60 and found.windows[-1].end.startswith("2026-11-20T13:06")


@pytest.fixture
def context(tmp_path):
    return Context(Registry(), f"sqlite:///{tmp_path / 'headgate.db'}", Path(tmp_path))


def test_the_store_tells_it_and_leaves_out_what_was_while_a_run_was_under_way(context):
    assert "read rate isn't measured yet" in group_rates(context, GROUP)
    seen = looks(300, read=500, arrive=20)
    with closing(open_store(context.store_url)) as store:
        store.activity.put("p", seen)
        assert store.activity.all()["p"] == seen
        store.activity.put("other", Activity(state=ActivityState.RUNNING, looked_at="t"))
    assert group_rates(context, GROUP).reads == 500
    early = tuple(
        replace(w, begin="2099-01-01T00:00:00+00:00", end="2099-01-01T00:01:00+00:00")
        for w in seen.windows
    )
    with closing(open_store(context.store_url)) as store:
        new = NewRun(scenario="x", pipeline="p", plan_hash="h", plan="{}", resources=("group:g",))
        run = store.runs.enqueue(new, by="ann", action="apply")
        store.runs.claim("slot-0")
        store.activity.put("p", replace(seen, windows=early, looked_at="2099"))
    assert "and needs 3 of them" in group_rates(context, GROUP)
    with closing(open_store(context.store_url)) as store:
        store.runs.finish(run, RunState.DONE)
    assert group_rates(context, GROUP).reads == 500
