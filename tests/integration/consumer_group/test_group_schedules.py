"""A real group on a schedule: each record once, one run at a time, limits, pause, kill -9."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

from headgate.usecases.requests.decide_request import approve_request
from scenes.records import Writer, make_topic, read_all, write_history
from support.waiting import PATIENCE, until

pytestmark = pytest.mark.kafka
STAND_IN = Path(__file__).parents[2] / "scenes" / "stand_in.py"


class Scheduled:
    """A stopped group that has read nothing, its producer, and a worker that can be killed."""

    def __init__(self, team, topic, group):
        self.team, self.topic, self.group = team, topic, group
        self.worker = None
        runs = f"grep -qsaF {group} /proc/$(cat member.pid)/cmdline"
        program = f"{sys.executable} {STAND_IN} group {team.bootstrap} out.jsonl {topic}"
        self.commands = {
            "start": f"{runs} && echo >> twice;"
            f" nohup {program} --group {group} > log 2>&1 & echo $! > member.pid",
            "stop": f"[ -e member.pid ] || exit 0; kill $(cat member.pid) 2>/dev/null;"
            f" while {runs}; do sleep 0.1; done",
            "status": f"[ -e member.pid ] && {runs} && exit 0 || exit 3",
        }
        team.register(
            f'[[pipeline]]\nname = "billing"\nengine = "consumer-group"\ngroup = "{group}"\n'
            f'topics = ["{topic}"]\n[pipeline.commands]\n',
            *(f"{word} = {json.dumps(text)}" for word, text in self.commands.items()),
        )

    def start_worker(self):
        argv = [sys.executable, "-m", "headgate.worker.main", "--config", self.team.config]
        with (self.team.folder / "worker.log").open("ab") as log:
            self.worker = subprocess.Popen(argv, cwd=self.team.folder, stdout=log, stderr=log)

    def kill_worker(self):
        os.kill(self.worker.pid, signal.SIGKILL)
        self.worker.wait(PATIENCE)

    def log(self):
        return (self.team.folder / "worker.log").read_text()[-6000:]

    def schedule(self, *options):
        """Plan and apply a schedule; return its run."""
        file, plan = self.team.plan("billing", *options, scenario="incremental")
        assert plan["can_apply"], plan["blockers"]
        done = self.team.run("apply", str(file))
        assert done["state"] == "done", done
        return done["run"]

    def shown(self, *options):
        (found,) = self.team.run("schedules", "billing", *options)["schedules"]
        return found

    def ticks(self):
        """The ticks, oldest first."""
        return list(reversed(self.shown()["ticks"]))

    def runs(self):
        """The runs of ticks that have ended, oldest first."""
        with closing(self.team.store()) as store:
            rows = [r for r in store.runs.list() if r.scenario == "bounded"]
        assert {r.created_by for r in rows} <= {"schedule of billing", self.creator}
        return [r for r in reversed(rows) if not r.state.is_active]

    @property
    def creator(self):
        return self.shown()["created_by"]

    def wait(self, condition, what):
        def found():
            assert self.worker.poll() is None, self.log()
            return condition()

        return until(found, lambda: f"{what}: {self.shown()}\n{self.log()}", every=0.5)

    def lines(self):
        file = self.team.folder / "out.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def read(self):
        """What members have read, as partition and offset, in order."""
        return [(line["part"], line["offset"]) for line in self.lines() if "part" in line]

    def check_each_once(self, groups):
        """Every record up to the commits was read exactly once."""
        committed = {p: at for (_, p), (at, _) in groups.committed(self.group).items()}
        truth = read_all(self.team.bootstrap, [self.topic])
        want = sorted((f"{self.topic}-{r.partition}", r.offset) for rs in truth.values()
                      for r in rs if r.offset < committed[r.partition])  # fmt: skip
        assert sorted(self.read()) == want
        assert not (self.team.folder / "twice").exists(), "two members at once"

    def check_no_overlap(self):
        """No run began before the one before it had ended."""
        runs = self.runs()
        for before, after in pairwise(runs):
            assert datetime.fromisoformat(before.ended_at) <= datetime.fromisoformat(
                after.started_at
            ), (before.id, after.id)
        return runs

    def close(self):
        if self.worker is not None and self.worker.poll() is None:
            self.worker.terminate()
            self.worker.wait(PATIENCE)
        subprocess.run(self.commands["stop"], shell=True, cwd=self.team.folder, check=False)


@pytest.fixture
def scheduled(team, broker, unique, groups):
    topic = unique("orders")
    make_topic(broker, topic, 2)
    write_history(broker, topic, 2)
    made = Scheduled(team, topic, unique("billing"))
    # A group that has never committed doesn't exist: nothing shows that it has no members.
    groups.commit(made.group, {(topic, 0): (0, ""), (topic, 1): (0, "")})
    made.start_worker()
    yield made
    made.close()


@pytest.mark.long
def test_runs_process_each_record_once_while_a_worker_is_killed(scheduled, groups, broker):
    run = scheduled.schedule("--every=4s")
    writer = Writer(broker, scheduled.topic, 2, each=0.1)
    try:
        scheduled.wait(lambda: len(scheduled.runs()) >= 2, "two runs")
        for _ in range(3):
            # In the midst of a run, of a tick, or of neither.
            scheduled.kill_worker()
            scheduled.start_worker()
            count = len(scheduled.runs())
            scheduled.wait(lambda c=count: len(scheduled.runs()) > c, "a run after the kill")
        scheduled.team.run("schedules", "--pause", "billing")
        with closing(scheduled.team.store()) as store:
            scheduled.wait(lambda: not store.runs.is_busy("slot-0"), "the last run ends")
    finally:
        writer.close()
    runs = scheduled.check_no_overlap()
    assert {r.state for r in runs} == {"done"}, [(r.id, r.error) for r in runs]
    scheduled.check_each_once(groups)
    # Each run is of one tick, and the audit trail names the schedule and its run.
    ticks = scheduled.ticks()
    assert sorted(t["run"] for t in ticks if t["run"]) == sorted(r.id for r in runs)
    with closing(scheduled.team.store()) as store:
        for row in runs:
            first = store.audit.list(row.id)[0]
            assert (first.by, first.action) == ("schedule of billing", "apply")
            assert first.details["schedule_run"] == run
    # Paused: no tick comes, and those of the pause are not missed. Two would be due in this time.
    time.sleep(9)
    assert [t["due_at"] for t in scheduled.ticks()] == [t["due_at"] for t in ticks]
    assert scheduled.shown()["next_at"] is None
    scheduled.team.run("schedules", "--resume", "billing")
    again = scheduled.wait(lambda: scheduled.ticks()[len(ticks) :], "a tick after the pause")
    assert again[0]["missed"] == 0


def test_a_tick_beyond_the_limit_waits_as_a_request_until_it_is_approved(scheduled, groups, broker):
    scheduled.schedule("--when-lag=20", "--max-run-records=100")
    # 70 records are within the limit.
    scheduled.wait(scheduled.runs, "the first run")
    write_history(broker, scheduled.topic, 2, count=150)
    request = scheduled.wait(
        lambda: [t for t in scheduled.ticks() if t["outcome"] == "open"], "a request"
    )[0]
    assert (request["records"], request["run"]) == (175, None)
    assert "up to 175 records are unread, and the limit is 100" in request["reason"]
    before = scheduled.read()
    # It waits, and asks only once: the worker looks every second, and writes nothing down.
    time.sleep(5)
    assert scheduled.ticks()[-1]["request"] == request["request"]
    assert scheduled.read() == before
    made = approve_request(scheduled.team.context, request["request"], by="bob")
    scheduled.wait(lambda: len(scheduled.runs()) == 2, "the approved run")
    assert [t["run"] for t in scheduled.ticks()][-1] == made
    assert scheduled.check_no_overlap()[-1].state == "done"
    scheduled.check_each_once(groups)
    assert len(scheduled.read()) == 70 + 175


@pytest.mark.long
def test_a_changed_command_is_not_what_was_approved(scheduled):
    scheduled.schedule("--every=5s")
    config = Path(scheduled.team.config)
    config.write_text(config.read_text().replace("nohup", "exec nohup"))
    request = scheduled.wait(
        lambda: [t for t in scheduled.ticks() if t["outcome"] == "open"], "a request"
    )[0]
    assert "commands: start was" in request["reason"]
    assert scheduled.read() == []


@pytest.mark.long
def test_an_undo_removes_the_schedule_and_restores_the_one_before(scheduled):
    first = scheduled.schedule("--every=1h")
    file, plan = scheduled.team.plan("billing", "--cron=0 3 * * *", scenario="incremental")
    assert "set schedule of billing: every 1 hour -> cron 0 3 * * * (UTC)" in str(plan["steps"])
    second = scheduled.team.run("apply", str(file))["run"]
    assert scheduled.shown()["next_at"][11:19] == "03:00:00"
    scheduled.team.run("undo", second)
    assert (scheduled.shown()["when"], scheduled.shown()["run"]) == ("every 1 hour", first)
    scheduled.team.run("undo", first)
    assert scheduled.team.run("schedules", "billing")["schedules"] == []


@pytest.mark.long
def test_quiet_inputs_start_one_run(scheduled, groups, broker):
    scheduled.schedule("--when-quiet=8s")
    writer = Writer(broker, scheduled.topic, 2, each=0.2)
    # Longer than inputs must be quiet.
    time.sleep(14)
    writer.close()
    at = time.time()
    assert scheduled.ticks() == [], "records kept arriving"
    scheduled.wait(scheduled.runs, "a run")
    due = datetime.fromisoformat(scheduled.ticks()[0]["due_at"]).timestamp()
    assert 7 < due - at < 20
    # Quiet for so long once more.
    time.sleep(12)
    assert len(scheduled.ticks()) == 1, "there is nothing left to read"
    scheduled.check_each_once(groups)
