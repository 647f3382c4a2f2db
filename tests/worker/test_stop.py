"""A worker that is asked to end does end, whatever its threads wait for."""

import signal
import subprocess
import sys

import pytest

from support.waiting import PATIENCE, until

pytestmark = pytest.mark.slow

# A thread of a pool that waits for ever: Python joins it before it exits.
HUNG = """
import sys, threading
from headgate.worker import main
def waits_for_ever():
    threading.Event().wait()
if sys.argv.pop(1) == "hung":
    # Only here: on a busy machine threads that end in order may take longer.
    main._GRACE_SECONDS, main._CLOSE_SECONDS = 0.5, 0.5
    threading.Thread(target=waits_for_ever).start()
sys.exit(main.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("how", "said"), [("well", False), ("hung", True)], ids=["in order", "with a hung thread"]
)
def test_a_worker_ends_when_asked(tmp_path, how, said):
    config = tmp_path / "headgate.toml"
    config.write_text("")
    log = tmp_path / "worker.log"
    with log.open("w") as stderr:
        argv = [sys.executable, "-c", HUNG, how, "--config", str(config)]
        worker = subprocess.Popen(argv, stderr=stderr)
    try:
        until(lambda: "serves" in log.read_text() or worker.poll() is not None, log.read_text)
        assert worker.poll() is None, log.read_text()
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE) == 0
    finally:
        worker.kill()
        worker.wait()
    assert ("are still running: exiting" in log.read_text()) is said
    # The log names the place that the thread waits at.
    assert ("in waits_for_ever" in log.read_text()) is said
