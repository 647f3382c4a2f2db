"""A signal that comes while the main thread holds a lock is heard all the same."""

import subprocess
import sys

import pytest

from support.waiting import PATIENCE

PROGRAM = """
import os, signal, threading
from headgate.gateway.process.stop_signals import when_asked_to_end

ended = threading.Event()
when_asked_to_end(ended.set, signal.SIGTERM)
# As within Event.wait, which holds this lock for a moment.
with ended._cond:
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(1000):
        pass
assert ended.wait(200)
"""


@pytest.mark.slow
def test_an_event_is_set_though_the_main_thread_held_its_lock():
    assert subprocess.run([sys.executable, "-c", PROGRAM], timeout=PATIENCE).returncode == 0
