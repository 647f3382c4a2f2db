"""One real Kafka Streams application: pause, upgrade, skip a record, decommission, undo.

Every record that it writes is compared with what was counted directly from its input.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import pytest

from headgate.gateway.kafka.connect import open_kafka
from integration.kafka_streams.streams_application import apply, at_work, undo
from support import resettable
from support.waiting import until

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def app(tmp_path_factory, broker, class_path):
    """One of the classic protocol at work; each test leaves it so, whatever it has counted."""
    folder = tmp_path_factory.mktemp("classic")
    with at_work(
        folder, broker, class_path, session_timeout_ms=6000, heartbeat_interval_ms=500
    ) as made:
        yield made


@pytest.fixture
def team(app):
    return app.team


MORE = (("a", 300_000), ("c", 120_000), ("a", 300_000), ("d", 310_000))


@pytest.mark.long
def test_what_comes_during_a_pause_is_counted_after_it(team, app):
    plan, run = apply(team, "pause")
    assert [s["action"] for s in plan["steps"]] == ["pause_processing", "notify"]
    before = app.written()
    app.write(MORE)
    # Time in which an application that isn't paused would write.
    time.sleep(1)
    assert app.written() == before
    assert len(app.read()) == len(resettable.HISTORY) + len(MORE)
    assert "is already paused" in team.plan("app", scenario="pause", code=3)[1]["blockers"][0]
    undo(team, run)
    app.must_have_read([key for key, _ in MORE])
    assert "is being resumed" in (team.folder / "told").read_text()


def test_a_new_version_goes_on_where_the_old_one_stopped(team, app):
    at = len(app.read())
    _, run = apply(team, "offline-upgrade", "--after", app.evidence("marked"))
    app.write(MORE)
    app.must_have_read(app.read()[at:], "v2:")
    undo(team, run)
    # The old version does again what the new one did, on top of the state that this left.
    app.must_have_read(app.read()[at:])


@pytest.mark.long
def test_a_record_that_kills_it_is_skipped(team, app):
    at = len(app.read())
    resettable.produce(app.broker, app.topic, [("poison", 320_000)])
    until(lambda: not app.runs, "it does not die of the record")
    app.write(MORE)
    _, run = apply(team, "skip-records", f"--records={app.topic}:0:{at}")
    app.must_have_read(app.read()[at + 1 :])
    undo(team, run)
    assert app.committed()[app.topic] == at and not app.runs
    apply(team, "skip-records", f"--records={app.topic}:0:{at}")
    app.must_have_read(app.read()[at + 1 :])


@pytest.mark.long
def test_nothing_is_left_of_one_that_is_decommissioned_and_its_undo_brings_all_back(app):
    is_decommissioned_and_comes_back(app)


@pytest.mark.long
def test_so_it_is_with_one_of_the_streams_protocol_whose_input_then_gets_more_partitions(
    tmp_path, broker, class_path
):
    with at_work(tmp_path, broker, class_path, group_protocol="streams") as app:
        is_decommissioned_and_comes_back(app)
        gets_more_partitions(app)


def is_decommissioned_and_comes_back(app):
    app.shell("stop")
    topics, committed = app.topics(), app.committed()
    plan, run = apply(app.team, "decommission", "--back-up")
    assert [s["action"] for s in plan["steps"]][-2:] == ["clear_local_state", "delete_group"]
    assert app.topics() == {f"{app.name}-in", f"{app.name}-out"}
    assert app.committed() == {} and not (app.folder / "state").exists()
    undo(app.team, run)
    assert app.topics() == topics
    assert app.committed()[app.topic] == committed[app.topic]
    app.write(MORE)
    app.shell("start")
    app.must_have_read([key for key, _ in MORE])


def gets_more_partitions(app):
    """From one to three: old records stay in the first, new ones go by key to any of them.

    A producer writes meanwhile, late records and duplicates among what comes before and after.
    """
    before = app.written()
    with writing(app):
        plan, run = apply(app.team, "repartition", "--partitions=3")
    assert [s["action"] for s in plan["steps"]] == [
        *("stop_pipeline", "await_transactions", "record_offsets", "record_topics"),
        *("add_partitions", "reset_offsets", "delete_topics", "clear_local_state"),
        *("start_pipeline", "verify_partitions"),
    ]
    app.write_by_key([*resettable.HISTORY, *MORE])
    read = app.read_all()
    assert {part for part, *_ in read} == {0, 1, 2} and len(read) > plan["impact"]["total"] > 0
    right = resettable.rekeyed(record for _, *record in read)
    until(lambda: ends(app.written(), right) == right, lambda: (app.written(), right))
    for key, counts in app.written().items():
        first = counts[: -len(right[key])]
        known = before.get(key, [])
        more = range(int(known[-1] if known else 0) + 1, 10**9)
        assert first == [*known, *map(str, more[: len(first) - len(known)])], "it counted otherwise"
    with open_kafka(app.team.context.registry) as kafka:
        found = {name: len(parts) for name, parts in kafka.partitions().items()}
    assert [found[name] for name in app.own] == [3, 3]
    why = app.team.run("undo", run, code=3)["error"]
    assert f"can't be undone: {app.topic} keeps 3 partitions" in why
    again = app.team.plan("app", "--partitions=3", scenario="repartition", code=3)[1]["blockers"]
    assert "already has 3 partitions" in again[0]


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_behind_a_number_that_the_code_fixes_it_goes_on_with_its_state(
    protocol, tmp_path, broker, class_path
):
    with at_work(tmp_path, broker, class_path, kind="fixed", group_protocol=protocol) as app:
        plan, _ = apply(app.team, "repartition", "--partitions=2")
        assert [s["action"] for s in plan["steps"]] == [
            *("stop_pipeline", "await_transactions", "record_offsets", "record_topics"),
            *("add_partitions", "reset_offsets", "start_pipeline", "verify_partitions"),
        ]
        said = f"partitions than the inputs: {app.own[1]} (3 partitions), "
        said += f"{app.own[0]} (3 partitions)"
        assert any(said in risk for risk in plan["risks"])
        app.write_by_key(MORE)
        assert {part for part, *_ in app.read_all()} == {0, 1}
        app.must_have_read([key for key, _ in MORE])
        with open_kafka(app.team.context.registry) as kafka:
            found = {name: len(parts) for name, parts in kafka.partitions().items()}
        assert [found[name] for name in app.own] == [3, 3]
        again = app.team.plan("app", "--partitions=2", scenario="repartition", code=3)[1][
            "blockers"
        ]
        assert f"{app.own[1]}, {app.own[0]} (number set in the code)" in again[0]


def ends(written, right):
    """The last that it wrote for each key, as many as there should be."""
    return {key: counts[-len(right[key]) :] for key, counts in written.items()}


@contextmanager
def writing(app):
    """A producer that goes on, whatever happens to the application."""
    done = threading.Event()

    def write():
        number = 0
        while not done.wait(0.2):
            number += 1
            app.write_by_key([(f"late-{number % 7}", 300_000 - number)])

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
