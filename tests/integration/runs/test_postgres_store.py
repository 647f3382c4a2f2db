"""Runs whose store is a real PostgreSQL: workers that race, are killed, or lose their slot."""

import itertools
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Barrier

import psycopg
import pytest

from headgate.errors import RefusedError
from headgate.store import open_store
from headgate.store.rows import NewRun, RunState
from headgate.store.worker_slots import Slot
from headgate.usecases.context import open_context
from headgate.usecases.reprocess.plan_scenario import plan_scenario
from headgate.usecases.requests.decide_request import approve_request
from headgate.usecases.requests.request_run import request_plan
from scenes import scene
from scenes.forked import Forks
from scenes.trial import Trial
from support.postgres_server import running_postgres
from support.waiting import until

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def postgres():
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    with Forks(tmp_path_factory.getbasetemp()) as made:
        yield made


@pytest.fixture
def trial(tmp_path, broker, postgres, forks):
    """A group at work whose runs are kept in a database of their own."""
    made = Trial(scene("from-point-group")(tmp_path, broker), forks)
    made.scene.store = postgres.database()
    try:
        made.scene.prepare()
        yield made
    finally:
        made.close()


@pytest.fixture
def stores(postgres):
    """Several processes' views of one database."""
    url = postgres.database()
    made = [open_store(url) for _ in range(6)]
    yield made
    for store in made:
        store.close()


def test_a_killed_worker_s_run_goes_on_under_the_next_and_is_undone(trial):
    worker = trial.worker(at="after alter_offsets of step 2")
    run = trial.apply(trial.plan())
    trial.passed(worker)
    assert not worker.lives and trial.row(run).state is RunState.RUNNING

    pair = [trial.worker(wait=False) for _ in range(2)]
    trial.wait(lambda: sum(p.lives for p in pair) == 1)
    (refused,) = (p for p in pair if not p.lives)
    assert refused.code == 3
    trial.must_be_done(run)
    trial.scene.check_end()
    trial.must_be_done(trial.undo(run))
    trial.scene.check_undone()


@pytest.mark.long
def test_what_was_asked_for_runs_once_over_a_locked_table(trial, postgres):
    """Two workers of two slots look for it; a table that is locked for a while is waited for."""
    context = open_context(str(trial.scene.config))
    options = {"to-datetime": trial.scene.arguments[0].partition("=")[2]}
    plan = plan_scenario(context, "from-point", "scene", options)
    request = request_plan(context, plan, reason="wrong prices", by="ann")

    first = trial.worker(at="after begin of step 2", how="stop")
    run = approve_request(context, request, by="bob")
    trial.passed(first)
    with closing(psycopg.connect(trial.scene.store.replace("+psycopg", ""))) as other:
        other.execute("LOCK TABLE journal, runs IN ACCESS EXCLUSIVE MODE")
        first.signal(signal.SIGCONT)
        # As long as the tables are locked.
        time.sleep(2)
    trial.worker(slot=1)
    trial.must_be_done(run)
    trial.scene.check_end()
    with trial.store() as store:
        assert [(a.by, a.action) for a in store.audit.list(run)][-1] == ("slot-0", "done")


def new_run(resource):
    return NewRun(
        scenario="from-scratch", pipeline="p", plan_hash="h", plan="{}", resources=(resource,)
    )


def together(stores, call):
    """Call at the same moment on each store; returns what came of it, errors of ours too."""
    barrier = Barrier(len(stores))

    def one(store):
        barrier.wait()
        try:
            return call(store)
        except RefusedError as error:
            return error

    with ThreadPoolExecutor(len(stores)) as pool:
        return list(pool.map(one, stores))


def test_of_many_who_ask_at_once_one_gets_the_resource(stores):
    for number in range(10):
        new = new_run(f"group:{number}")
        found = together(stores, lambda s, new=new: s.runs.enqueue(new, by="ann", action="apply"))
        assert sum(isinstance(f, RefusedError) for f in found) == len(stores) - 1, found


def test_of_many_workers_one_gets_each_run(stores):
    for number in range(30):
        stores[0].runs.enqueue(new_run(f"group:{number}"), by="ann", action="apply")
    slots = {id(store): f"slot-{n}" for n, store in enumerate(stores)}
    claimed = together(
        stores,
        lambda s: list(iter(lambda: s.runs.claim(slots[id(s)]), None)),
    )
    runs = [row.id for row in itertools.chain.from_iterable(claimed)]
    assert len(runs) == len(set(runs)) == 30


def test_a_slot_belongs_to_one_until_its_connection_is_lost(stores, postgres):
    first, second = Slot(stores[0].database), Slot(stores[1].database)
    assert first.take() and not second.take() and first.is_held()
    end_connections_with_locks(postgres, stores[0])
    # Taken again where nobody came in between.
    assert first.is_held() and not second.take()

    end_connections_with_locks(postgres, stores[0])
    assert second.take()
    assert not first.is_held() and second.is_held()
    second.release()
    assert second.is_free()


def test_a_worker_that_lost_its_slot_ends(tmp_path, postgres, forks):
    (tmp_path / "headgate.toml").write_text(f'[store]\nurl = "{postgres.database()}"\n')
    config = str(tmp_path / "headgate.toml")
    worker = forks.start(
        "worker", "--config", config, folder=tmp_path, output=tmp_path / "worker.log"
    )
    with closing(open_store(open_context(config).store_url)) as store:
        slot = Slot(store.database)
        # Looking holds the slot for a moment: the worker must find it free in between.
        until(lambda: not (worker.lives and slot.is_free()), every=0.5)
        assert worker.lives
        until(lambda: slot.take() or end_connections_with_locks(postgres, store), every=0)
        worker.wait()
    assert "slot-0 was lost" in (tmp_path / "worker.log.err").read_text()


def end_connections_with_locks(postgres, store):
    """As a restart of the server would, for those of the store's database that hold the slot.

    A library's own lock, which it needs to start, stays.
    """
    query = (
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory'"
        " AND objid::bigint = hashtext('headgate-slot-0')::bigint & 4294967295"
        " AND database = (SELECT oid FROM pg_database WHERE datname = %s)"
    )
    with closing(postgres.connect()) as connection:
        connection.execute(query, (store.database.url.database,)).fetchall()
