"""Start a program of `spark_jobs/data` on the configured master, and read what it reports."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from headgate.gateway.process.child_process import Child, Program, launch
from headgate.gateway.process.jars import delta_jars, jdbc_jars
from headgate.gateway.process.shell_commands import MARK
from headgate.gateway.spark.run_job import joined_jars, program_environment
from headgate.model.registered_pipelines import SparkSettings
from headgate.text.private_files import private_folder

PROGRAMS = "headgate.spark_jobs.data"
_FOLDER = Path(__file__).resolve().parents[2] / "spark_jobs" / "data"
PROGRESS, RESULT, STOP, LOG = "progress.jsonl", "result.json", "stop", "spark.log"
PROPERTIES = "spark.properties"
CONNECTIONS = "HEADGATE_CONNECTIONS"
# What Spark does unless [spark.config] says otherwise. A progress bar would hide the last message.
_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",
}
DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A program, its arguments and settings; `report` is the folder that it reports to.

    `folder` is where the pipelines' code is imported from. `mark` is in the environment of all
    its processes, by which what is left of them is found. `connections` are settings of `kafka`,
    and by name those of each database (`jdbc`); they reach the program by its environment, so that
    no file and no command line has them. `temporary` is the folder for temporary files on this
    machine, None for the system's.
    """

    program: str
    arguments: tuple[str, ...]
    spark: SparkSettings
    config: Mapping[str, str] = field(default_factory=dict)
    delta: bool = False
    connections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    folder: Path
    report: Path
    mark: str
    temporary: Path | None = None

    def run(
        self, on_report: Callable[[dict[str, Any]], None], wait: Callable[[Child], None]
    ) -> tuple[int, dict[str, Any] | None]:
        """Run it to its end; return the exit code, and the result, None if it left none.

        Each report goes to `on_report`. `wait` is called as long as it runs, and waits a moment. If
        one of them raises an error, the program is killed.
        """
        child, lines = self._start(), ProgressFile(self.report)
        try:
            while child.running:
                for report in lines.new():
                    on_report(report)
                wait(child)
            for report in lines.new():
                on_report(report)
        finally:
            code = child.finish(0)
            # They may be secrets, and nothing reads them any more.
            (self.report / PROPERTIES).unlink(missing_ok=True)
        file = self.report / RESULT
        return code, json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None

    def _start(self) -> Child:
        """Start it; it dies with the calling thread. What it reported before is deleted."""
        private_folder(self.report)
        for name in (PROGRESS, RESULT, STOP, LOG):
            (self.report / name).unlink(missing_ok=True)
        properties = self.report / PROPERTIES
        properties.touch(mode=0o600)
        properties.write_text(as_properties(self._settings()), encoding="utf-8")
        return launch(
            Program(
                name=self.program,
                argv=self._command(properties),
                log=self.report / LOG,
                env=self._environment(properties),
                inherits=False,
                cwd=self.folder,
            )
        )

    def ask_to_stop(self) -> None:
        """Request it to stop at its next safe point."""
        (self.report / STOP).touch()

    @property
    def log(self) -> Path:
        """Where the output of program and Spark goes."""
        return self.report / LOG

    @property
    def _is_local(self) -> bool:
        return self.spark.master.startswith("local")

    def _command(self, properties: Path) -> tuple[str, ...]:
        more = ("--report", str(self.report), *self.arguments)
        if self._is_local:
            return (sys.executable, "-P", "-m", f"{PROGRAMS}.{self.program}", *more)
        program = str(_FOLDER / f"{self.program.replace('.', '/')}.py")
        return (_spark_submit(), "--properties-file", str(properties), program, *more)

    def _environment(self, properties: Path) -> dict[str, str]:
        found = program_environment([self.folder], with_credentials=True)
        found |= {MARK: self.mark}
        if self.temporary:
            found["TMPDIR"] = str(self.temporary)
        if self.connections:
            found[CONNECTIONS] = json.dumps(dict(self.connections))
        if self._is_local:
            settings = ("--properties-file", str(properties))
            return found | {"PYSPARK_SUBMIT_ARGS": shlex.join((*settings, "pyspark-shell"))}
        if "SPARK_LOCAL_IP" not in os.environ:
            found.pop("SPARK_LOCAL_IP", None)
        return found | {"PYSPARK_DRIVER_PYTHON": sys.executable}

    def _settings(self) -> dict[str, str]:
        own = _DEFAULTS | (_LOOPBACK if self._is_local else self._shared())
        own |= DELTA if self.delta else {}
        if self.temporary and self._is_local:
            local = self.temporary / "local"
            local.mkdir(parents=True, exist_ok=True)
            own["spark.local.dir"] = str(local)
            own["spark.driver.extraJavaOptions"] = f'"-Djava.io.tmpdir={local}"'
        found = own | dict(self.config) | self.spark.config | {"spark.master": self.spark.master}
        jdbc = jdbc_jars() if self.connections.get("jdbc") else ()
        more = map(str, (*(delta_jars() if self.delta else ()), *jdbc))
        jars = (found.get("spark.jars", ""), joined_jars(), *more)
        return found | {"spark.jars": ",".join(filter(None, jars))}

    def _shared(self) -> dict[str, str]:
        """Return where executors import the pipelines' code from, if they see the same folders."""
        found = filter(None, (str(self.folder), os.environ.get("PYTHONPATH")))
        return {"spark.executorEnv.PYTHONPATH": os.pathsep.join(found)}


class ProgressFile:
    """Reads the lines that a program appends, each once."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / PROGRESS
        self._at = 0

    def new(self) -> Iterator[dict[str, Any]]:
        """Yield what was reported since the last call; half a line is left for the next."""
        if not self._file.is_file():
            return
        with self._file.open("rb") as file:
            file.seek(self._at)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._at += len(line)
                yield json.loads(line)


def as_properties(settings: Mapping[str, str]) -> str:
    """Return settings as `java.util.Properties` reads them."""
    return "".join(f"{_key(k)}={_escaped(v)}\n" for k, v in sorted(settings.items()))


def _key(text: str) -> str:
    return _escaped(text).replace("=", "\\=").replace(":", "\\:").replace(" ", "\\ ")


def _escaped(text: str) -> str:
    found = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    found = f"\\{found}" if found.startswith((" ", "\t", "\f")) else found
    units = (c if c.isascii() else c.encode("utf-16-be") for c in found)
    return "".join(u if isinstance(u, str) else _unicode(u) for u in units)


def _unicode(units: bytes) -> str:
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))


def _spark_submit() -> str:
    """Return the script of the Spark that PySpark brings, or that SPARK_HOME names."""
    spec = find_spec("pyspark")
    own = (spec.submodule_search_locations or []) if spec else []
    homes = [os.environ.get("SPARK_HOME"), *own]
    return next(str(p) for h in homes if h and (p := Path(h) / "bin" / "spark-submit").is_file())
