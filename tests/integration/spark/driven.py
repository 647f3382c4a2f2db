"""Queries of the tests' own session, started and stopped by registered commands like any others.

A driver of its own takes ten seconds at each start, most of them for its JVM, and its first batch
takes so long that each proof of a stop waits for several times that.
"""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException

from support.waiting import PATIENCE

# Whoever runs the query looks at `wanted`; `running` is there from before its start to its end.
COMMANDS = {
    "start": "touch wanted; for i in $(seq 600); do [ -e running ] && exit 0; [ -e wanted ] ||"
    " exit 0; sleep 0.1; done",
    "stop": "rm -f wanted; while [ -e running ]; do sleep 0.1; done",
    "status": "[ -e running ] && exit 0 || exit 3",
}


class Driven:
    """Starts its query when the commands, run in `folder`, want it; `why` says what it died of."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.why = folder, ""
        self.commands = dict(COMMANDS)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._obey, daemon=True)

    def begin(self) -> Any:
        """Return the query, started."""
        raise NotImplementedError

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        (self.folder / "wanted").unlink(missing_ok=True)
        self._end.set()
        self._thread.join(PATIENCE)

    def table(self, name: str, *more: str) -> str:
        """Return its entry in headgate.toml."""
        lines = [f"{word} = {json.dumps(text)}" for word, text in self.commands.items()]
        head = ["[[pipeline]]", f'name = "{name}"', 'engine = "spark"', 'checkpoint = "checkpoint"']
        return "\n".join([*head, *more, "[pipeline.commands]", *lines])

    def shell(self, word: str) -> int:
        """Run one of its commands; returns its exit code."""
        done = subprocess.run(self.commands[word], shell=True, cwd=self.folder, check=False)
        return done.returncode

    def _obey(self) -> None:
        wanted, running = self.folder / "wanted", self.folder / "running"
        while not self._end.wait(0.1):
            if not wanted.exists():
                continue
            running.touch()
            try:
                # Looked at once more: a stop in between saw nothing run.
                if wanted.exists():
                    self._run(wanted)
            except PySparkException as error:
                self.why = str(error)
                wanted.unlink(missing_ok=True)
            finally:
                running.unlink()

    def _run(self, wanted: Path) -> None:
        query = self.begin()
        try:
            while wanted.exists() and not query.awaitTermination(0.2):
                pass
        finally:
            query.stop()
