"""One pipeline as a user has it: programs, settings, headgate.toml, and the commands."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException

from support.waiting import PATIENCE
from trial import reader
from trial.ledger import Ledger
from trial.load import Load

PROGRAMS = Path(__file__).parent / "pipelines"
COMMAND = str(Path(sys.executable).with_name("headgate"))
JVM = "-XX:+UseSerialGC -XX:-UsePerfData -XX:TieredStopAtLevel=1"
# Alive means a process of its group that is no zombie: nobody may reap it on a small machine.
_ALIVE = "pgrep -g $(cat app.pid) -r S,R,D > /dev/null"


@dataclass
class Site:
    """A folder with one registered pipeline, its input, its output and its ledger."""

    folder: Path
    broker: str
    name: str
    engine: str
    toml: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    start: str = ""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ledger = Ledger(self.folder / "ledger.jsonl")
        self.load = Load(self.broker, self.ledger)

    @property
    def checkpoint(self) -> Path:
        """Where a Spark query keeps its checkpoint."""
        return self.folder / "checkpoint"

    def write(self) -> None:
        """Write programs, settings and headgate.toml."""
        for file in PROGRAMS.iterdir():
            if file.is_file():
                shutil.copy(file, self.folder / file.name)
        (self.folder / "settings.json").write_text(json.dumps(self.settings))
        lines = [f'[kafka]\nbootstrap_servers = "{self.broker}"', "[[pipeline]]"]
        table = {"name": self.name, "engine": self.engine, **self.toml}
        lines += [f"{key} = {json.dumps(value)}" for key, value in table.items()]
        lines += ["[pipeline.commands]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in self.commands().items()]
        (self.folder / "headgate.toml").write_text("\n".join(lines) + "\n")

    def commands(self) -> dict[str, str]:
        """Return the registered commands; they run in the folder of headgate.toml."""
        clean = {"clean": "rm -rf state"} if self.engine == "kafka-streams" else {}
        return {
            **clean,
            "start": f"setsid nohup {self.start} >> app.log 2>&1 & echo $! > app.pid",
            "stop": f"[ -e app.pid ] || exit 0; kill -- -$(cat app.pid) 2>/dev/null; n=0;"
            f" while {_ALIVE}; do n=$((n+1)); [ $n -lt 150 ] || kill -9 -- -$(cat app.pid);"
            " sleep 0.2; done",
            "status": f"[ -e app.pid ] && {_ALIVE} && exit 0 || exit 3",
        }

    def run(self, word: str) -> int:
        """Run one of the registered commands by hand; returns its exit code."""
        argv = ["sh", "-c", self.commands()[word]]
        env = {**os.environ, "HEADGATE_CHECKPOINT": str(self.checkpoint)}
        return subprocess.run(
            argv, cwd=self.folder, env=env, check=False, timeout=PATIENCE
        ).returncode

    def headgate(self, *words: str, codes: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess:
        """Run `headgate WORDS` in the folder; fail unless it exits with one of the codes."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("HEADGATE_")}
        done = subprocess.run(
            [COMMAND, *words], cwd=self.folder, env=env, capture_output=True, text=True, timeout=600
        )
        with (self.folder / "headgate.log").open("a") as log:
            log.write(f"$ headgate {shlex.join(words)}  # {done.returncode}\n")
            log.write(done.stdout + done.stderr)
        assert done.returncode in codes, (
            f"headgate {shlex.join(words)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
        return done

    def inputs(self) -> list[str]:
        """Return the input topics."""
        return [self.settings[key] for key in ("input", "second") if key in self.settings]

    def ends(self) -> dict[tuple[str, int], int]:
        """Return the latest offset of each input partition."""
        return {
            (topic, part): last
            for topic in self.inputs()
            for part, (_, last) in reader.ends(self.broker, topic).items()
        }

    def position(self) -> dict[tuple[str, int], int]:
        """Return where the pipeline is: its group's offsets, or its last committed batch's."""
        if self.engine != "spark":
            return reader.committed(self.broker, self.settings["group"], self.inputs())
        batch = self.batch()
        if batch < 0:
            return {}
        lines = (self.checkpoint / "offsets" / str(batch)).read_text().splitlines()[2:]
        return {
            (topic, int(part)): at
            for line in lines
            for topic, parts in json.loads(line).items()
            for part, at in parts.items()
        }

    def batch(self) -> int:
        """Return the last committed batch, -1 before the first."""
        log = self.checkpoint / "commits"
        return max((int(f.name) for f in log.glob("[0-9]*")), default=-1) if log.is_dir() else -1

    def settled(self, batch: int) -> bool:
        """Say whether a committed batch had the newest watermark: then none follows without data.

        The commit log names the next batch's watermark, the offset log its own (ms).
        """
        planned = (self.checkpoint / "offsets" / str(batch)).read_text().splitlines()[1]
        done = (self.checkpoint / "commits" / str(batch)).read_text().splitlines()[1]
        return json.loads(done)["nextBatchWatermarkMs"] <= json.loads(planned)["batchWatermarkMs"]

    def await_caught_up(self, seconds: float = PATIENCE) -> None:
        """Return once all that the inputs hold is processed and nothing more happens."""
        deadline, quiet, last = time.monotonic() + seconds, 0.0, (-2, {})
        while True:
            try:
                now = (self.batch() if self.engine == "spark" else 0, self.position())
            except (OSError, ValueError, IndexError, KafkaException):  # a log being moved
                now = (-2, {})
            done = all(now[1].get(key, 0) == end for key, end in self.ends().items())
            done = done and (self.engine != "spark" or self.settled(now[0]))
            if not done or now != last:
                quiet, last = time.monotonic(), now
            elif time.monotonic() - quiet > 0.5:
                return
            if time.monotonic() > deadline:
                log = (self.folder / "app.log").read_text()[-1500:]
                raise AssertionError(f"{self.name} is at {now} of {self.ends()}\n{log}")
            time.sleep(0.3)

    def logs(self, upto: int) -> str:
        """Return a hash over the checkpoint's id and its logs up to a batch, byte for byte."""
        files = [self.checkpoint / "metadata"]
        files += [self.checkpoint / d / str(n) for d in ("offsets", "commits") for n in range(upto)]
        kept = [file for file in files if file.exists()]
        total = hashlib.sha256()
        for file in kept:
            total.update(f"{file.name}\n".encode() + file.read_bytes())
        return total.hexdigest()
