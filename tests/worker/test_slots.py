import os
import signal
import subprocess
import sys

import pytest

from headgate.store import open_store
from headgate.store.worker_slots import Slot

pytestmark = pytest.mark.slow

HOLD = """
import sys, time
from headgate.store import open_store
from headgate.store.worker_slots import Slot
assert Slot(open_store(sys.argv[1]).database).take()
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'headgate.db'}"


def test_a_slot_is_held_by_one_and_freed_by_its_death(url):
    store = open_store(url)
    slot, other = Slot(store.database), Slot(store.database, 1)
    holder = subprocess.Popen([sys.executable, "-c", HOLD, url], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    assert not slot.take() and not slot.is_free()
    assert other.is_free()
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert slot.take()
    assert not Slot(store.database).is_free()
    slot.release()
    assert slot.is_free()


def test_what_a_holder_starts_does_not_hold_the_slot(url):
    store = open_store(url)
    slot = Slot(store.database)
    assert slot.take()
    child = subprocess.Popen(["sleep", "30"], close_fds=False)
    slot.release()
    assert slot.is_free()
    child.kill()
    child.wait()
