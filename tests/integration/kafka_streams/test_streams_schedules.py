"""A real Kafka Streams application on a schedule: it counts each record once, and is stopped."""

import subprocess
import sys
from contextlib import closing

import pytest

from integration.conftest import Team
from scenes.bounded import BoundedStreams
from support.waiting import PATIENCE, until

pytestmark = [pytest.mark.kafka, pytest.mark.long]


@pytest.fixture
def scheduled(tmp_path, broker):
    scene = BoundedStreams(tmp_path, broker)
    scene.prepare()
    argv = [sys.executable, "-m", "headgate.worker.main", "--config", str(scene.config)]
    with (tmp_path / "worker.log").open("ab") as log:
        worker = subprocess.Popen(argv, cwd=tmp_path, stdout=log, stderr=log)
    yield scene, Team(tmp_path, broker)
    worker.terminate()
    worker.wait(PATIENCE)
    scene.close()


def runs(team, *states):
    with closing(team.store()) as store:
        found = [r for r in store.runs.list() if r.scenario == "bounded"]
    return [r for r in found if not states or r.state in states]


def test_an_application_on_a_schedule_counts_each_record_once(scheduled):
    scene, team = scheduled
    file, plan = team.plan("scene", "--every=10s", scenario="incremental")
    assert plan["can_apply"], plan["blockers"]
    team.run("apply", str(file))
    # Records keep arriving while it is stopped.
    until(lambda: len(runs(team, "done")) >= 2, lambda: team.run("schedules", "scene"), every=0.5)
    team.run("schedules", "--pause", "scene")
    until(lambda: not runs(team, "queued", "running"), "the last run does not end", every=0.5)
    assert {r.state for r in runs(team)} == {"done"}, [(r.id, r.error) for r in runs(team)]
    (shown,) = team.run("schedules", "scene")["schedules"]
    assert "open" not in [t["outcome"] for t in shown["ticks"]], "a run is not what was approved"
    # Stopped, all before the bound of the test's start counted, and nothing twice.
    scene.check_end()
