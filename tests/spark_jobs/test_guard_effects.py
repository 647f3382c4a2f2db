"""What the guard of a twin run refuses, and what it lets through; each in a Python of its own."""

import subprocess
import sys

import pytest

from support.waiting import PATIENCE

pytestmark = pytest.mark.slow

TRY = """
import sys
from pathlib import Path
from headgate.spark_jobs.guard_effects import EffectError, EffectGuard
import os, socket, sqlite3, subprocess
guard = EffectGuard()
guard.allow(Path(sys.argv[1]))
guard.install()
guard.is_armed = True
os.chdir(sys.argv[1])
outside = sys.argv[2]
try:
    {code}
except EffectError as error:
    print("refused:", error)
else:
    print("allowed")
"""


def tried(code, tmp_path, program=TRY):
    inside, outside = tmp_path / "scratch", tmp_path / "outside"
    inside.mkdir(), outside.mkdir()
    command = (sys.executable, "-c", program.format(code=code), str(inside), str(outside))
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert list(outside.iterdir()) == []
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("open(f'{outside}/f', 'w')", "writes "),
        ("os.open(f'{outside}/f', os.O_CREAT)", "writes "),
        ("os.chmod(outside, 0o700)", "writes "),
        ("os.symlink('f', f'{outside}/f')", "writes "),
        ("sqlite3.connect(f'{outside}/f')", "writes "),
        ("subprocess.run(['touch', f'{outside}/f'])", "starts a program touch"),
        ("os.system(f'touch {outside}/f')", "starts a program"),
        ("os.posix_spawn('/bin/touch', ['touch', f'{outside}/f'], {})", "starts a program"),
        ("os.fork()", "starts a program"),
        ("socket.create_connection(('127.0.0.1', 9))", "connects to 127.0.0.1:9"),
        ("socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))", "connects to"),
        ("socket.socket().bind(('0.0.0.0', 0))", "listens on 0.0.0.0:0"),
        ("socket.getaddrinfo('db.example.org', 5432)", "connects to db.example.org:5432"),
    ],
)
def test_what_reaches_outside_is_refused(code, said, tmp_path):
    told = tried(code, tmp_path)
    assert told.startswith("refused:") and said in told, told


@pytest.mark.parametrize(
    "code",
    [
        "open('f', 'w').write('x')",
        "open('/etc/hostname').read()",
        "sqlite3.connect(':memory:').execute('create table t (n int)')",
        "sqlite3.connect('inside.db').execute('create table t (n int)')",
        "os.mkdir('folder')",
        "socket.socketpair()",
    ],
)
def test_what_stays_inside_is_allowed(code, tmp_path):
    assert tried(code, tmp_path) == "allowed"


LATE = """
import sys, threading, time
from pathlib import Path
from headgate.spark_jobs.guard_effects import EffectError, EffectGuard
guard = EffectGuard()
guard.allow(Path(sys.argv[1]))
guard.install()
called = threading.Event()

def work(folder):
    called.wait()
    try:
        open(f"{{folder}}/f", "w")
    except EffectError as error:
        print("refused:", error)
    else:
        print("allowed")

guard.is_armed = True
thread = threading.Thread(target=work, args=(sys.argv[{code}],))
thread.start()
guard.is_armed = False
called.set()
thread.join()
"""


def test_a_thread_that_outlasts_the_call_stays_guarded(tmp_path):
    assert tried("2", tmp_path, LATE).startswith("refused: the function writes ")


def test_a_thread_that_outlasts_the_call_may_write_inside(tmp_path):
    assert tried("1", tmp_path, LATE) == "allowed"
