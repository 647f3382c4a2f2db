"""Real Kafka Streams applications are reset, and write what was computed directly."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
import uuid
from contextlib import contextmanager

import pytest

from headgate.errors import RefusedError
from headgate.gateway.adapters.live import LiveApplier
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.kafka.connect import open_kafka
from headgate.reprocess.steps.offsets import await_transactions
from support import resettable
from support.waiting import until

pytestmark = pytest.mark.kafka


@pytest.fixture
def app(unique, kafka_admin):
    """An id that another application's id begins with, and its topics with one partition."""
    from confluent_kafka.admin import NewTopic

    name = unique("app")
    topics = [NewTopic(f"{name}-{end}", 1, 1) for end in ("in", "out")]
    topics.append(NewTopic(f"{name}-2-counts-changelog", 1, 1))
    for future in kafka_admin.create_topics(topics).values():
        future.result()
    return name


class Writer(threading.Thread):
    """A producer that goes on until it is told to end."""

    def __init__(self, broker, topic):
        super().__init__(daemon=True)
        self.broker, self.topic, self.done = broker, topic, threading.Event()

    def run(self):
        number = 0
        while not self.done.wait(0.2):
            number += 1
            resettable.produce(self.broker, self.topic, [("late", 300_000 + number)])

    def end(self):
        self.done.set()
        self.join()


def group(team, app):
    with open_kafka(team.context.registry) as kafka:
        return kafka.describe_group(app)


def by_key(written):
    found = {}
    for key, count, _ in written:
        found.setdefault(key, []).append(count)
    return found


@pytest.mark.long
def test_from_scratch_counts_anew_and_its_undo_goes_on(team, broker, app, class_path, groups):
    state = team.folder / "state"
    words = resettable.argv(
        class_path, "rekeyed", broker,
        application_id=app, prefix=app, state_dir=state, describe=team.folder,
        session_timeout_ms=6000, heartbeat_interval_ms=500,
    )  # fmt: skip
    commands = resettable.commands(words, state)
    table = "\n".join(f"{word} = {json.dumps(text)}" for word, text in commands.items())
    team.register(
        f'[[pipeline]]\nname = "app"\nengine = "kafka-streams"\ngroup = "{app}"\n'
        f'evidence = ["rekeyed.txt"]\n[pipeline.commands]\n{table}\n'
    )
    resettable.produce(broker, f"{app}-in", resettable.HISTORY)
    groups.commit(f"{app}-2", {(f"{app}-in", 0): (1, "")})
    start = subprocess.run(commands["start"], shell=True, cwd=team.folder, check=True)
    assert start.returncode == 0
    try:
        count = len(resettable.HISTORY)
        until(lambda: len(resettable.read(broker, f"{app}-out")) >= count, "nothing was counted")
        refuses_a_live_one(team, app)
        team.run("capture", str(team.folder / "rekeyed.txt"), "--pipeline", "app")
        writer = Writer(broker, f"{app}-in")
        writer.start()
        file, plan = team.plan("app", "--back-up-internal")
        shows_what_it_does(plan, app)
        done = team.run("apply", str(file))
        writer.end()
        assert done["state"] == "done"
        read = resettable.read(broker, f"{app}-in")
        right = resettable.rekeyed(read)
        again = lambda: by_key(resettable.read(broker, f"{app}-out"))  # noqa: E731
        ends = lambda: {k: c[-len(right[k]) :] for k, c in again().items()}  # noqa: E731
        until(lambda: ends() == right, "not all was counted from one on")
        lives = again()
        firsts = {}
        for key, counts in lives.items():
            firsts[key] = len(counts) - len(right[key])
            assert counts[: firsts[key]] == right[key][: firsts[key]], "it counted otherwise"
        assert f"{app}-2-counts-changelog" in topic_names(team)

        undone = team.run("undo", done["run"])
        assert undone["state"] == "done"
        rest = {key: right[key][first:] for key, first in firsts.items()}
        whole = {key: lives[key] + rest[key] for key in lives}
        more = sum(map(len, whole.values()))
        until(lambda: sum(map(len, again().values())) >= more, "the first life does not go on")
        assert again() == whole
        backed_up = f"headgate-backup-{done['run']}"
        assert not [name for name in topic_names(team) if name.startswith(backed_up)]
    finally:
        subprocess.run(commands["stop"], shell=True, cwd=team.folder, check=True)


def refuses_a_live_one(team, app):
    """A preview evicts nobody, and whoever comes back after an eviction is alive."""
    before = {m.id for m in group(team, app).members}
    preview = ("reset", "--application-id", app, "--input-topics", f"{app}-in", "--keep-internal")
    assert "has 1 member (" in team.run(*preview, code=3)["blockers"][0]
    assert team.run(*preview, "--force")["can_apply"]
    assert {m.id for m in group(team, app).members} == before
    refused = team.run(*preview, "--force", "--execute", code=3)
    assert refused["state"] == "refused" and "rejoined after the removal" in refused["error"]


def shows_what_it_does(plan, app):
    assert [s["action"] for s in plan["steps"]] == [
        *("stop_pipeline", "await_transactions", "record_offsets", "back_up_records"),
        *("back_up_unread_records", "reset_offsets", "delete_topics", "delete_topics"),
        *("clear_local_state", "start_pipeline"),
    ]
    assert [list(s["details"]["topics"]) for s in plan["steps"][6:8]] == [
        [f"{app}-counts-changelog"],
        [f"{app}-by-key-repartition"],
    ]
    assert any(
        f"written to the output topic {app}-out a second time" in risk for risk in plan["risks"]
    )
    assert plan["impact"]["left_alone"].keys() == {f"{app}-2-counts-changelog"}


def topic_names(team):
    with open_kafka(team.context.registry) as kafka:
        return set(kafka.partitions())


@pytest.mark.long
def test_an_application_of_the_streams_protocol_begins_at_a_time(team, broker, app, class_path):
    state = team.folder / "state"
    words = resettable.argv(
        class_path, "windowed", broker,
        application_id=app, prefix=app, state_dir=state, group_protocol="streams",
    )  # fmt: skip
    team.register()
    resettable.produce(broker, f"{app}-in", resettable.HISTORY)
    history = resettable.read(broker, f"{app}-in")
    first = resettable.windowed(history)
    at = resettable.base_time() + 120_000
    point = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at / 1000))
    reset = ("reset", "--application-id", app, "--input-topics", f"{app}-in",
             f"--to-datetime={point}", "--local-state-cleared=here")  # fmt: skip
    with running(words):
        until(lambda: written(broker, app) == first, "the first life wrote something else")
        live = team.run(*reset, "--execute", code=3)
        assert live["state"] == "refused" and " member" in live["error"]
        forced = team.run(*reset, "--force", code=3)
        assert "can't remove members of a group of type streams" in forced["blockers"][0]
    until(lambda: group(team, app).is_inactive, "it did not leave its group")
    refuses_while_a_transaction_is_open(team, broker, app)

    plan = team.run(*reset, code=3)
    assert [r.split(" belongs ")[0] for r in plan["blockers"]] == [
        f"no evidence that {app}-2-counts-changelog"
    ]
    (deleted,) = (s for s in plan["steps"] if s["action"] == "delete_topics")
    assert list(deleted["details"]["topics"]) == [f"{app}-per-minute-changelog"]
    assert any(risk.startswith("UNVERIFIED") for risk in plan["risks"])
    assert f"{app}-2-counts-changelog" not in plan["impact"]["internal_topics"]
    done = team.run(*reset, "--internal-topics", f"{app}-per-minute-changelog", "--execute")
    assert done["state"] == "done"
    (cleared,) = (s for s in done["steps"] if s["action"] == "clear_local_state")
    assert "not verified" in cleared["describe"]
    shutil.rmtree(state)
    with running(words):
        resettable.produce(broker, f"{app}-in", [("a", 260_000), ("b", 10_000), ("a", 260_000)])
        read = resettable.read(broker, f"{app}-in")
        since = next(i for i, (_, _, t) in enumerate(read) if t >= at)
        right = first + resettable.windowed(read[since:])
        until(lambda: len(written(broker, app)) >= len(right), "not all was counted again")
    assert written(broker, app) == right


@contextmanager
def running(words):
    """An application for a while; it ends also where something fails meanwhile."""
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def written(broker, app):
    return [(key, count) for key, count, _ in resettable.read(broker, f"{app}-out")]


def refuses_while_a_transaction_is_open(team, broker, app):
    from confluent_kafka import Producer

    one = f"{app}-{uuid.uuid4()}-1"
    producer = Producer({"bootstrap.servers": broker, "transactional.id": one})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(f"{app}-out", b"half")
    producer.flush(20)
    context = team.context
    applier = LiveApplier(
        RunContext(
            registry=context.registry,
            home=context.home,
            run="r",
            pause=time.sleep,
        )
    )
    step = await_transactions.AwaitTransactions(application=app, topics={})
    try:
        with pytest.raises(RefusedError, match=f"pending transaction.*{one}"):
            step.verify(applier, {})
        producer.abort_transaction(30)
        step.apply(applier, {})
        step.verify(applier, {})
    finally:
        applier.close()
