"""The demo's pipelines: how each is started, and how `headgate.toml` declares them."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from headgate.gateway.process.child_process import Program
from headgate.local.demo.topics import KAFKA

CONTROL = "headgate.local.demo.control"
_PACKAGE = "headgate.local.demo"
_QUERY_GRACE = 30.0
SPARK_SETTINGS = {
    "spark.driver.memory": "640m",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
}


@dataclass(frozen=True, slots=True)
class DemoPipeline:
    """One pipeline. A Spark one has an `entry_point`, a consumer group a `group` and `topics`."""

    name: str
    owner: str
    description: str
    entry_point: str | None = None
    group: str | None = None
    topics: tuple[str, ...] = ()

    def folder(self, home: Path) -> Path:
        """Return where the running pipeline writes what it reports."""
        return home / "pipelines" / self.name

    def ready(self, home: Path) -> Path:
        """Return the file that appears once the pipeline works."""
        return self.folder(home) / "ready"

    def evidence(self, home: Path) -> Path:
        """Return the folder of a running query's evidence."""
        return self.folder(home) / "evidence"

    def deployed(self, home: Path) -> Path:
        """Return the file with the entry point that was deployed, if one was."""
        return self.folder(home) / "deployed"

    def current(self, home: Path) -> str | None:
        """Return the entry point that a start uses; None for a consumer group."""
        with suppress(FileNotFoundError):
            return self.deployed(home).read_text(encoding="utf-8").strip()
        return self.entry_point

    def watch(self, home: Path) -> Path:
        """Return the folder that `headgate.watch` writes into."""
        return self.folder(home) / "watch"

    def checkpoint(self, home: Path) -> Path:
        """Return the checkpoint's folder."""
        return home / "checkpoints" / self.name


PIPELINES = (
    DemoPipeline(
        "orders-by-city",
        "sales",
        "Orders and revenue by city and time window",
        entry_point=f"{_PACKAGE}.orders_by_city:v1",
    ),
    DemoPipeline(
        "revenue-alerts",
        "finance",
        "Alerts for cities with revenue above a limit within ten minutes",
        entry_point=f"{_PACKAGE}.revenue_alerts:v1",
    ),
    DemoPipeline(
        "alert-mailer",
        "support",
        "Sends an email for every revenue alert",
        group="alert-mailer",
        topics=("revenue-alerts",),
    ),
)


def starter(pipeline: DemoPipeline, home: Path, kafka: str) -> Callable[[str | None], Program]:
    """Return what makes the program of a pipeline, of another entry point where one is given."""

    def program(entry_point: str | None = None) -> Program:
        folder = pipeline.folder(home)
        folder.mkdir(parents=True, exist_ok=True)
        pipeline.ready(home).unlink(missing_ok=True)
        return Program(
            name=pipeline.name,
            argv=(sys.executable, "-m", *_arguments(pipeline, home, entry_point)),
            log=home / "logs" / f"{pipeline.name}.log",
            env={KAFKA: kafka},
            cwd=home,
            grace=_QUERY_GRACE if pipeline.entry_point else 10.0,
        )

    return program


def feed(home: Path, kafka: str) -> Program:
    """Return the program that writes orders, payments and customers."""
    argv = (sys.executable, "-m", f"{_PACKAGE}.feed")
    return Program(name="feed", argv=argv, log=home / "logs" / "feed.log", env={KAFKA: kafka})


def registry(home: Path, kafka: str) -> str:
    """Return the text of the demo's `headgate.toml`."""
    head = [
        "# `headgate up --demo` overwrites this file at each start.",
        "[kafka]",
        f"bootstrap_servers = {_text(kafka)}",
        "",
        "[store]",
        'url = "sqlite:///.headgate/headgate.db"',
        "",
        "# The worker's Spark programs use the same settings as the demo's drivers.",
        "[spark]",
        'master = "local[1]"',
        "[spark.config]",
        *(f"{_text(key)} = {_text(value)}" for key, value in SPARK_SETTINGS.items()),
    ]
    return "\n".join([*head, *(line for p in PIPELINES for line in _table(p, home)), ""])


def _arguments(pipeline: DemoPipeline, home: Path, entry_point: str | None) -> tuple[str, ...]:
    if pipeline.entry_point is None:
        return (f"{_PACKAGE}.alert_mailer", "--ready", str(pipeline.ready(home)))
    return (
        f"{_PACKAGE}.run_query",
        entry_point or str(pipeline.current(home)),
        *("--name", pipeline.name),
        *("--checkpoint", str(pipeline.checkpoint(home))),
        *("--folder", str(pipeline.folder(home))),
    )


def _table(pipeline: DemoPipeline, home: Path) -> list[str]:
    yes = {
        "name": pipeline.name,
        "engine": "spark" if pipeline.entry_point else "consumer-group",
        "owner": pipeline.owner,
        "description": pipeline.description,
    }
    if pipeline.entry_point:
        yes["checkpoint"] = str(pipeline.checkpoint(home).relative_to(home))
        yes["entry_point"] = str(pipeline.current(home))
        yes["watch"] = str(pipeline.watch(home).relative_to(home))
        lists = {"evidence": [str(pipeline.evidence(home).relative_to(home))]}
    else:
        yes["group"] = str(pipeline.group)
        lists = {"topics": list(pipeline.topics)}
    return [
        "",
        "[[pipeline]]",
        *(f"{key} = {_text(value)}" for key, value in yes.items()),
        *(f"{key} = [{', '.join(map(_text, values))}]" for key, values in lists.items()),
        "[pipeline.commands]",
        *(f"{do} = {_text(_command(do, pipeline, home))}" for do in _words(pipeline)),
    ]


def _words(pipeline: DemoPipeline) -> tuple[str, ...]:
    return ("stop", "start", "status", *(("deploy", "rollback") if pipeline.entry_point else ()))


def _command(do: str, pipeline: DemoPipeline, home: Path) -> str:
    words = (sys.executable, "-m", CONTROL, do, pipeline.name, "--home", str(home))
    return shlex.join(words)


def _text(value: str) -> str:
    # A TOML basic string knows the escapes of JSON that `dumps` writes for these values.
    return json.dumps(value, ensure_ascii=False)
