import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headgate.gateway.process import shell_commands
from headgate.gateway.process.shell_commands import end_marked, marked, run_command
from support.waiting import PATIENCE, until


@pytest.fixture
def run(tmp_path):
    def call(command, seconds=PATIENCE, mark=""):
        log = tmp_path / "logs" / "x.log"
        return run_command(command, folder=tmp_path, log=log, seconds=seconds, mark=mark)

    return call


def test_code_and_output_of_this_call_alone(run):
    assert run("echo one; exit 3").code == 3
    ended = run("echo two; pwd >&2")
    assert ended.code == 0
    assert ended.output.startswith("two\n") and "one" not in ended.output


def test_a_command_that_takes_too_long_is_ended_with_its_children(run, tmp_path):
    begun = time.monotonic()
    assert run("sleep 900 & echo $! > pid; sleep 900", seconds=0.5).code is None
    assert time.monotonic() - begun < 10
    wait_for_the_end(int((tmp_path / "pid").read_text()))


def test_what_a_start_command_leaves_behind_stays_and_is_found(run, tmp_path):
    # All of the machine's processes are looked at, those of other tests, too.
    mark = f"{tmp_path}:q:start"
    assert run("nohup sleep 900 & echo $! > pid", mark=mark).code == 0
    pid = int((tmp_path / "pid").read_text())
    assert lives(pid) and marked(mark) == [pid]
    assert marked(f"{tmp_path}:q:stop") == []
    assert end_marked(mark) == 1
    wait_for_the_end(pid)


@pytest.mark.slow
def test_a_process_is_found_while_it_replaces_its_program(tmp_path):
    # Programs that do nothing but exec the next one, with a mark that each of them inherits.
    again = 'N=$((N + 1)); export N; [ $N -gt 200000 ] || exec sh -c "$0" "$0"'
    mark = f"{tmp_path}:q:start"
    env = {**os.environ, "N": "0", shell_commands.MARK: mark}
    process = subprocess.Popen(["sh", "-c", again, again], env=env)
    try:
        assert all(marked(mark) == [process.pid] for _ in range(300))
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("has_setpriv", [True, False])
def test_a_command_sees_what_a_shell_shows(run, monkeypatch, has_setpriv):
    monkeypatch.setattr(shell_commands, "_has_setpriv", lambda: has_setpriv)
    said = run("""echo "$0|$#|a b" 'c"d' $((1 + 1)); exit 7""")
    assert (said.code, said.output) == (7, 'sh|0|a b c"d 2')


def test_setpriv_is_used_where_it_works():
    assert shell_commands._has_setpriv() is (sys.platform == "linux")


@pytest.mark.parametrize("has_setpriv", [True, False])
def test_the_shell_dies_with_who_started_it(tmp_path, has_setpriv):
    code = (
        "import sys; from pathlib import Path;"
        "from headgate.gateway.process.shell_commands import *;"
        "from headgate.gateway.process import shell_commands;"
        f"shell_commands._has_setpriv = lambda: {has_setpriv};"
        "run_command('echo $$ > pid; sleep 900; echo > late', folder=Path(sys.argv[1]),"
        " log=Path(sys.argv[1]) / 'log', seconds=60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    pid = tmp_path / "pid"
    while not (pid.exists() and pid.read_text().strip()):
        assert parent.poll() is None
        time.sleep(0.05)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    wait_for_the_end(int(pid.read_text()))
    assert not (tmp_path / "late").exists()


def lives(pid):
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return "State:\tZ" not in status


def wait_for_the_end(pid):
    until(lambda: not lives(pid), f"process {pid} does not end")
