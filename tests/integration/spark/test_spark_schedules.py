"""A real query on a schedule: its runs give what plain Python says, also if a worker is killed."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from datetime import datetime
from itertools import pairwise

import pytest

from headgate.gateway.checkpoint.folders import read_checkpoint
from integration.conftest import Team
from integration.spark.bounded_query import counted, written
from scenes.bounded import BoundedSpark
from scenes.records import read_all, write_history
from support.waiting import PATIENCE, until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]


class Scheduled:
    """The stopped query of a scene, records that it has not read, and a worker."""

    def __init__(self, scene):
        self.scene, self.team = scene, Team(scene.folder, scene.bootstrap)

    def start_worker(self):
        argv = [sys.executable, "-m", "headgate.worker.main", "--config", self.team.config]
        with (self.team.folder / "worker.log").open("ab") as log:
            self.worker = subprocess.Popen(argv, cwd=self.team.folder, stdout=log, stderr=log)

    def kill_worker(self):
        os.kill(self.worker.pid, signal.SIGKILL)
        self.worker.wait(PATIENCE)

    def runs(self, *states):
        with closing(self.team.store()) as store:
            found = [r for r in store.runs.list() if r.scenario == "bounded"]
        return [r for r in reversed(found) if not states or r.state in states]

    def wait(self, condition, what):
        log = self.team.folder / "worker.log"
        return until(condition, lambda: f"{what}\n{log.read_text()[-6000:]}", every=0.5)

    def close(self):
        self.worker.terminate()
        self.worker.wait(PATIENCE)
        self.scene.close()


@pytest.fixture
def scheduled(tmp_path, broker):
    scene = BoundedSpark(tmp_path, broker)
    scene.prepare()
    made = Scheduled(scene)
    made.start_worker()
    yield made
    made.close()


def newest_batch(checkpoint):
    """The newest batch that began."""
    return max(int(p.name) for p in (checkpoint / "offsets").iterdir() if p.name.isdecimal())


def test_a_query_on_a_schedule_counts_each_record_once(scheduled):
    team, scene = scheduled.team, scheduled.scene
    options = ("--when-lag=40", "--max-records=60", "--max-run-records=500", "--time-limit=600")
    file, plan = team.plan("scene", *options, scenario="incremental")
    assert plan["can_apply"], plan["blockers"]
    team.run("apply", str(file))
    # The producer keeps writing: there is a tick whenever 40 more records are there.
    scheduled.wait(lambda: len(scheduled.runs("done")) >= 1, "a first run")
    batch = newest_batch(scene.checkpoint)
    write_history(scene.bootstrap, scene.topics[0], 2)
    scheduled.wait(
        lambda: scheduled.runs("running") and newest_batch(scene.checkpoint) > batch,
        "a batch of the second run",
    )
    scheduled.kill_worker()
    assert scheduled.runs("running"), "the worker was killed after the run"
    scheduled.start_worker()
    scheduled.wait(lambda: len(scheduled.runs("done")) >= 2, "the run after the kill")
    team.run("schedules", "--pause", "scene")
    scheduled.wait(lambda: not scheduled.runs("queued", "running"), "the last run ends")
    runs = scheduled.runs()
    assert {r.state for r in runs} == {"done"}, [(r.id, r.error) for r in runs]
    for before, after in pairwise(runs):
        ended, began = (datetime.fromisoformat(t) for t in (before.ended_at, after.started_at))
        assert ended <= began, "two runs at once"
    at = read_checkpoint(str(scene.checkpoint)).offsets[scene.topics[0]]
    truth = read_all(scene.bootstrap, scene.topics)
    right = counted([r for (_, p), rs in truth.items() for r in rs if r.offset < at[p]])
    assert written(team.folder) == right
    assert sum(at.values()) > 200
    (shown,) = team.run("schedules", "scene")["schedules"]
    assert sorted(t["run"] for t in shown["ticks"] if t["run"]) == sorted(r.id for r in runs)
