"""What the doctor says of a healthy set-up and of broken ones."""

from pathlib import Path

import pytest

from headgate.errors import ConfigError, SetupError, StepError, UnreachableError
from headgate.usecases.context import open_context
from headgate.usecases.restore_points.make_point import make_point
from headgate.usecases.setup.diagnose import State, diagnose
from support.checkpoint_writer import Writer

pytestmark = pytest.mark.slow


@pytest.fixture
def write(tmp_path):
    def toml(text):
        path = tmp_path / "headgate.toml"
        path.write_text(text)
        return str(path)

    return toml


def by_name(checks):
    return {c.name: c for c in checks}


@pytest.mark.kafka
def test_a_set_up_that_works(write, broker):
    found = by_name(diagnose(write(f'[kafka]\nbootstrap_servers = "{broker}"\n')))
    assert {n for n, c in found.items() if c.state is State.FAILED} == set()
    assert found["kafka"].message.startswith(broker)
    assert found["worker"].state is State.NOTE


def test_a_cluster_that_does_not_answer_is_4(write):
    found = by_name(diagnose(write('[kafka]\nbootstrap_servers = "127.0.0.1:1"\n')))
    assert (found["kafka"].state, found["kafka"].exit_code) == (State.FAILED, 4)
    assert found["store"].state is State.OK


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (ConfigError("no such setting"), "correct the setting in headgate.toml"),
        (UnreachableError("an error"), "check that the address is correct and the service is"),
        (UnreachableError("an error. Check the ACLs"), None),
        (SetupError("nothing is here"), None),
    ],
)
def test_an_error_without_a_next_step_gets_the_one_of_its_kind(write, monkeypatch, error, remedy):
    def fail(_context):
        raise error

    monkeypatch.setattr("headgate.usecases.setup.diagnose.read_cluster", fail)
    check = by_name(diagnose(write('[kafka]\nbootstrap_servers = "127.0.0.1:1"\n')))["kafka"]
    assert (check.remedy or "").startswith(remedy or "") and bool(check.remedy) == bool(remedy)
    assert "doctor" not in (check.remedy or "")


def test_a_schema_registry_that_does_not_answer_is_4(write):
    url = "http://somebody:secret@127.0.0.1:1"
    check = by_name(diagnose(write(f'[schema_registry]\nurl = "{url}"\n')))["schema registry"]
    assert (check.state, check.exit_code) == (State.FAILED, 4)
    assert "127.0.0.1:1 does not respond" in check.message and "secret" not in check.message


def test_no_schema_registry_is_no_line(write):
    assert "schema registry" not in by_name(diagnose(write("")))


def test_a_broken_file_is_2_and_names_the_line(write):
    found = by_name(diagnose(write("[kafka]\nbootstrap_servers = 5\n")))
    check = found["configuration"]
    assert (check.state, check.exit_code) == (State.FAILED, 2)
    assert "headgate.toml:2" in check.message
    assert check.remedy and "python" in found


def test_a_checkpoint_that_is_not_there(write):
    text = '[[pipeline]]\nname = "city"\nengine = "spark"\ncheckpoint = "nowhere"\n'
    check = by_name(diagnose(write(text)))["checkpoint of city"]
    assert check.state is State.FAILED
    assert check.remedy


def test_a_held_slot_is_a_worker(write, tmp_path):
    from headgate.store import open_store
    from headgate.store.worker_slots import Slot
    from headgate.usecases.context import open_context

    config = write("")
    store = open_store(open_context(config).store_url)
    slot = Slot(store.database)
    assert slot.take()
    try:
        assert by_name(diagnose(config))["worker"].state is State.OK
    finally:
        slot.release()
        store.close()


def test_no_java_is_said(write, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    check = by_name(diagnose(write("")))["java"]
    assert (check.state, check.exit_code) == (State.FAILED, 2)
    assert "install Java 17" in check.remedy


def test_what_tells_of_a_pipeline_and_what_does_not(write):
    table = '[[pipeline]]\nname = "{}"\nengine = "spark"\ncheckpoint = "nowhere"\n'
    text = table.format("asked") + '[pipeline.commands]\nstatus = "exit 0"\n' + table.format("mute")
    found = by_name(diagnose(write(text)))
    asked, mute = found["activity of asked"], found["activity of mute"]
    assert asked.state is State.OK
    assert asked.message == "running, reported by the status command (source: status)"
    assert mute.state is State.NOTE and mute.message.startswith("unknown, ")
    assert "headgate.watch(spark, DIR)" in mute.remedy


def test_of_a_watched_pipeline_the_watch_is_checked(write, tmp_path):
    (tmp_path / "told").mkdir()
    table = '[[pipeline]]\nname = "seen"\nengine = "spark"\nwatch = "told"\n'
    seen = by_name(diagnose(write(table)))["activity of seen"]
    assert seen.message.endswith("told yet")
    assert "whether its driver calls headgate.watch" in seen.remedy


def test_evidence_is_read_as_the_worker_reads_it(write):
    log = Path(__file__).parents[2] / "golden" / "event_logs" / "plain" / "local-1"
    table = '[[pipeline]]\nname = "{}"\nengine = "spark"\nevidence = ["{}"]\n'
    found = by_name(diagnose(write(table.format("orders", log) + table.format("x", log))))
    assert found["evidence of orders"].state is State.OK
    wrong = found["evidence of x"]
    assert wrong.exit_code == 2 and "Set `query` of x in headgate.toml" in wrong.message


def test_restore_points_that_fail_are_a_note(write, tmp_path):
    pipeline = '[[pipeline]]\nname = "city"\nengine = "spark"\ncheckpoint = "ck"\n'
    name, most = "restore points of city", "[restore_points]\nevery = '1h'\nmax_size = '{}'\n"
    assert name not in by_name(diagnose(write(pipeline)))
    config = write(most.format("1 kB") + pipeline)
    assert by_name(diagnose(config))[name].message == "no restore point was made yet"
    Writer(tmp_path / "ck", size=1000).add()
    with pytest.raises(StepError):
        make_point(open_context(config), "city")
    check = by_name(diagnose(config))[name]
    assert check.state is State.NOTE and "Raise `max_size`" in check.message
    config = write(most.format("1 MB") + pipeline)
    make_point(open_context(config), "city")
    check = by_name(diagnose(config))[name]
    assert check.state is State.OK and check.message.startswith("1 restore point, ")
