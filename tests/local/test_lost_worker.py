"""What `headgate up` says if one of its programs ends."""

from types import SimpleNamespace

import pytest

from headgate.errors import SetupError
from headgate.local import up


class Ended:
    """A supervisor whose program of that name has ended."""

    def __init__(self, name):
        process = SimpleNamespace(returncode=1)
        program = SimpleNamespace(name=name, log="/logs/it.log")
        self._dead = SimpleNamespace(process=process, program=program, last_words=lambda: "why")

    def deaths(self):
        """Return the program."""
        return [self._dead]


def wait():
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("name", "more"),
    [(up.WORKER, ". No worker executes runs now: end `headgate up` with"), ("revenue-alerts", "")],
)
def test_what_ended_is_said_and_what_to_do_without_a_worker(name, more):
    said = []
    with pytest.raises(KeyboardInterrupt):
        up._stay(Ended(name), wait, said.append)
    text = f"{name} ended unexpectedly (exit 1). Last line of the log /logs/it.log: why"
    assert said[0].startswith(text + more) and len(said) == 1
    assert more or said[0] == text


def test_without_the_console_all_ends():
    with pytest.raises(SetupError, match="console ended unexpectedly"):
        up._stay(Ended(up.CONSOLE), wait, print)
