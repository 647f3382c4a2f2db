"""Stopping and starting a pipeline through the stack that owns it."""

import json
import stat
import threading
from contextlib import contextmanager

import pytest

from headgate.errors import SetupError
from headgate.gateway.process.child_process import Program
from headgate.gateway.process.supervise import Supervisor
from headgate.local.stack.home import is_held, only_one
from headgate.local.stack.process_control import Line, ProcessControl, ask
from support.waiting import PATIENCE


def line(home, script: str) -> Line:
    def program(entry_point):
        (home / "ready").unlink(missing_ok=True)
        text = script.format(entry_point=entry_point, ready=home / "ready")
        return Program(name="p", argv=("sh", "-c", text), log=home / "p.log", grace=2)

    return Line(program, home / "ready")


@contextmanager
def stack(home, script: str):
    """Run process control as `up` does: one thread starts programs, and ends them in the end."""
    ended, opened = threading.Event(), threading.Event()

    def turn():
        with only_one(home), Supervisor() as supervisor:
            board = ProcessControl(home, supervisor, {"p": line(home, script)})
            board.open()
            opened.set()
            while not ended.is_set():
                board.turn(0.05)
            board.close()

    thread = threading.Thread(target=turn)
    thread.start()
    assert opened.wait(PATIENCE)
    try:
        yield
    finally:
        ended.set()
        thread.join(PATIENCE)


def test_start_waits_until_it_works_and_stop_until_it_ended(tmp_path):
    with stack(tmp_path, "sleep 0.3; touch {ready}; exec sleep 300"):
        assert not ask(tmp_path, "status", "p").running
        assert ask(tmp_path, "start", "p").running
        assert (tmp_path / "ready").exists()
        assert ask(tmp_path, "status", "p").running
        assert ask(tmp_path, "start", "p").message == "p is already running"
        assert not ask(tmp_path, "stop", "p").running
        assert not ask(tmp_path, "status", "p").running
        assert ask(tmp_path, "stop", "p").ok


def test_a_start_that_fails_says_why(tmp_path):
    with stack(tmp_path, "echo {entry_point} is refused; exit 1"):
        answer = ask(tmp_path, "start", "p", entry_point="m:v2")
    assert not answer.ok
    assert answer.message == "m:v2 is refused"


def test_an_unknown_pipeline_is_named_with_those_that_are_known(tmp_path):
    with stack(tmp_path, "true"):
        answer = ask(tmp_path, "status", "q")
    assert (answer.ok, answer.message) == (False, "the demo has no pipeline q, only p")


def test_only_its_user_reads_the_key_and_nobody_comes_in_without(tmp_path):
    with stack(tmp_path, "true"):
        file = tmp_path / "stack.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        known = json.loads(file.read_text())
        file.write_text(json.dumps({**known, "key": "00"}))
        assert not ask(tmp_path, "start", "p").ok
        file.write_text(json.dumps(known))
        assert ask(tmp_path, "status", "p").ok


def test_without_a_stack_everything_is_stopped(tmp_path):
    (tmp_path / "stack.json").write_text('{"port": 1, "key": "00"}')
    assert ask(tmp_path, "stop", "p").ok
    assert not ask(tmp_path, "status", "p").running
    assert not ask(tmp_path, "start", "p").ok


def test_a_home_has_one_stack(tmp_path):
    assert not is_held(tmp_path)
    with only_one(tmp_path):
        assert is_held(tmp_path)
        with pytest.raises(SetupError, match="already runs"), only_one(tmp_path):
            pass
    assert not is_held(tmp_path)
