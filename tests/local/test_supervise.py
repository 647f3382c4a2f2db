"""The supervisor of child processes: nothing it started outlives it, however it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.gateway.process.child_process import Program, descendants, last_line
from headgate.gateway.process.supervise import Supervisor
from support.waiting import PATIENCE, until

pytestmark = pytest.mark.slow

# A child with a grandchild in its group and one that left it, both deaf to SIGTERM.
FAMILY = "trap '' TERM; sleep 900 & setsid sleep 900 & echo ready; wait"
PARENT = """
import signal, sys, time
from pathlib import Path
from headgate.gateway.process.child_process import Program
from headgate.gateway.process.supervise import Supervisor

def end(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, end)
with Supervisor() as supervisor:
    supervisor.adopt_orphans()
    argv = ("sh", "-c", sys.argv[2])
    log = Path(sys.argv[1])
    try:
        supervisor.start(Program(name="family", argv=argv, log=log, grace=0.5))
        while True:
            time.sleep(0.1)
    except KeyboardInterrupt:
        pass
"""


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def program(tmp_path, script: str, **more) -> Program:
    return Program(name="p", argv=("sh", "-c", script), log=tmp_path / "p.log", **more)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_whole_tree(tmp_path, sign):
    log = tmp_path / "log"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(log), FAMILY])
    until(lambda: last_line(log) == "ready")
    below = until(lambda: len(found := descendants(parent.pid)) >= 3 and found)
    parent.send_signal(sign)
    assert parent.wait(PATIENCE) == 0
    assert not [pid for pid in below if alive(pid)]


def test_a_killed_parent_takes_its_children_along(tmp_path):
    log = tmp_path / "log"
    script = "trap '' TERM; echo ready; exec sleep 900"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(log), script])
    until(lambda: last_line(log) == "ready")
    below = until(lambda: descendants(parent.pid))
    parent.kill()
    parent.wait()
    until(lambda: not [pid for pid in below if alive(pid)])


def test_a_death_is_told_once_and_nothing_is_restarted(tmp_path):
    with Supervisor() as supervisor:
        child = supervisor.start(program(tmp_path, "echo the reason >&2; exit 3"))
        (dead,) = until(supervisor.deaths)
        assert dead is child
        assert (child.process.returncode, child.last_words()) == (3, "the reason")
        assert not supervisor.deaths()
        assert not supervisor.is_running("p")


def test_what_was_asked_to_end_is_no_death(tmp_path):
    with Supervisor() as supervisor:
        supervisor.start(program(tmp_path, "sleep 900"))
        assert supervisor.stop("p") == -signal.SIGTERM
        assert not supervisor.deaths()
        assert supervisor.stop("nobody") is None


def test_a_second_one_of_the_name_is_refused_until_the_first_ended(tmp_path):
    with Supervisor() as supervisor:
        supervisor.start(program(tmp_path, "sleep 900"))
        with pytest.raises(ValueError, match="is already running"):
            supervisor.start(program(tmp_path, "sleep 900"))
        supervisor.stop("p")
        assert supervisor.start(program(tmp_path, "sleep 900")).running


def test_a_program_that_is_not_there_is_said_in_its_log(tmp_path):
    with Supervisor() as supervisor:
        missing = Program(name="p", argv=("no-such-program",), log=tmp_path / "p.log")
        child = supervisor.start(missing)
        assert child.process.wait(PATIENCE) == 1
        assert child.last_words() == "no-such-program: No such file or directory"


def test_a_graceful_end_is_waited_for(tmp_path):
    script = "trap 'sleep 0.3; echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    with Supervisor() as supervisor:
        child = supervisor.start(program(tmp_path, script))
        until(lambda: child.last_words() == "ready")
        assert supervisor.stop("p") == 0
        assert child.last_words() == "bye"


def test_descendants_leave_out_the_process_itself():
    assert os.getpid() not in descendants(os.getpid())
