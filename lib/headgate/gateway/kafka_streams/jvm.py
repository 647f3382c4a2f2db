"""A JVM for somebody's Kafka Streams application, which knows no broker but a rehearsal's own.

It is driven over py4j, so nothing is compiled here. By these means it stays away from clusters:

    environment   without credentials, and without every variable that looks like a broker's
    names         a hosts file of its own: no name but this machine's is resolved
    folders       home, working directory and temporary files lie in the scratch folder
    connections   all that it opens are watched (Linux): one that leads elsewhere ends it

What is not ensured: an address in digits, or a port of this machine, is reached for a moment before
the watch sees it.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from py4j.java_gateway import GatewayParameters
from py4j.protocol import Py4JError, Py4JJavaError

from headgate.errors import CaptureError, JarError, UnreachableError
from headgate.gateway.process.child_process import Child, Program, launch
from headgate.gateway.process.clean_environment import clean_environment
from headgate.gateway.process.jars import broker_class_path, streams_class_path
from headgate.gateway.process.java import java
from headgate.gateway.process.py4j import OwnGateway, py4j_jar

MEMORY = ("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
_STREAMS = "org/apache/kafka/streams/KafkaStreams.class"
_LOGGING = re.compile(r"log4j-(?:api|core|slf4j-impl)-[^/]*\.jar$")
_BROKERS = re.compile(r"KAFKA|BOOTSTRAP|BROKER|ZOOKEEPER|CONFLUENT|SCHEMA_?REGISTRY", re.IGNORECASE)
_HELLO_S = 120.0
# It logs every call to a JVM that has ended, which is how rehearsals end.
logging.getLogger("py4j").setLevel(logging.CRITICAL)
_WRAPPED = (
    "java.lang.reflect.InvocationTargetException",
    "java.lang.ExceptionInInitializerError",
)
_LOG4J = """\
status=off
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%p %c: %m%n%throwable
rootLogger.level=warn
rootLogger.appenderRef.console.ref=console
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JvmRequest:
    """`jars` and folders of classes come first; `env` is added to what is left of ours."""

    jars: Sequence[Path]
    options: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class StreamsJvm:
    """A started JVM; `gateway` is py4j's. `port` is where it listens for us."""

    child: Child
    gateway: Any
    port: int
    folder: Path

    @property
    def java(self) -> Any:
        """The view on the JVM's classes."""
        return self.gateway.jvm

    def load(self, name: str) -> Any:
        """Return a class; JarError where it is not on the class path."""
        try:
            return self.java.java.lang.Class.forName(name)
        except Py4JJavaError as error:
            chain = chain_of(error.java_exception)
            raise JarError(f"{name} can't be loaded from the jars: {chain[0]}") from None

    def words(self, values: Sequence[str], kind: str = "java.lang.Object") -> Any:
        """Return a Java array of that class with these values."""
        array = self.gateway.new_array(_member(self.java, kind), len(values))
        for index, value in enumerate(values):
            array[index] = value
        return array

    def log(self) -> str:
        """Return what the application wrote to its console, the last 200,000 characters."""
        text = self.child.program.log.read_text(encoding="utf-8", errors="replace")
        return text[-200_000:]

    def ask_to_end(self, grace: float) -> None:
        """Ask with SIGTERM, so that shutdown hooks run; after `grace` seconds, kill its group."""
        self.child.ask()
        self.child.finish(grace)

    def close(self) -> None:
        """Kill the JVM with all that it started."""
        with suppress(Py4JError, OSError):
            self.gateway.close()
        self.child.finish(0)


def start_jvm(wish: JvmRequest, folder: Path) -> StreamsJvm:
    """Start it in a process group of its own, which dies with this thread; files go to `folder`.

    SetupError without Java or jars, CaptureError for options that Java does not take.
    """
    for name in ("home", "work", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "log4j2.properties").write_text(_LOG4J)
    (folder / "hosts").write_text(f"127.0.0.1 localhost\n127.0.0.1 {socket.gethostname()}\n")
    argv = (java(), *MEMORY, *_properties(folder), *wish.options, "-cp", class_path(wish.jars))
    program = Program(
        name="application",
        argv=(*argv, "py4j.GatewayServer", "--enable-auth", "0"),
        log=folder / "application.log",
        env=_environment(folder, wish.env),
        inherits=False,
        cwd=folder / "work",
    )
    child = launch(program)
    try:
        port, token = _hello(child)
        # What the JVM holds goes with it: nothing is to be told to it when it is gone.
        parameters = GatewayParameters(
            port=port, auth_token=token, auto_convert=True, enable_memory_management=False
        )
        return StreamsJvm(child, OwnGateway(gateway_parameters=parameters), port, folder)
    except BaseException:
        child.finish(0)
        raise


def class_path(jars: Sequence[Path]) -> str:
    """Return the user's jars, then what they lack: Kafka Streams, a logger, py4j."""
    parts = [str(jar.absolute()) for jar in jars]
    if not any(_has_streams(jar) for jar in jars):
        parts.append(streams_class_path())
    parts += [p for p in broker_class_path().split(os.pathsep) if _LOGGING.search(p)]
    return os.pathsep.join([*parts, py4j_jar()])


def _has_streams(jar: Path) -> bool:
    if jar.is_dir():
        return (jar / _STREAMS).is_file()
    try:
        with zipfile.ZipFile(jar) as archive:
            return _STREAMS in archive.NameToInfo
    except (OSError, zipfile.BadZipFile) as error:
        raise JarError(f"{jar} can't be read as a jar: {error}") from None


def class_files(jars: Sequence[Path], type_: str, most: int = 200) -> Iterator[bytes]:
    """Yield the class files of a class's package and the packages below; CaptureError as above."""
    package = "/".join(type_.split(".")[:-1])
    for jar in jars:
        if jar.is_dir():
            found = sorted(jar.rglob("*.class"))
            names = {str(f.relative_to(jar)): f for f in found}
            inside = [n for n in names if n.startswith(package)]
            yield from (names[n].read_bytes() for n in inside[:most])
            continue
        try:
            with zipfile.ZipFile(jar) as archive:
                names_ = (n for n in archive.namelist() if n.endswith(".class"))
                inside = sorted(n for n in names_ if n.startswith(package))
                yield from (archive.read(n) for n in inside[:most])
        except (OSError, zipfile.BadZipFile) as error:
            raise JarError(f"{jar} can't be read as a jar: {error}") from None


def _properties(folder: Path) -> Iterator[str]:
    yield f"-Djdk.net.hosts.file={folder / 'hosts'}"
    yield f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}"
    yield f"-Duser.home={folder / 'home'}"
    yield f"-Djava.io.tmpdir={folder / 'tmp'}"


def _environment(folder: Path, added: Mapping[str, str]) -> dict[str, str]:
    kept, _ = clean_environment(os.environ)
    quiet = {k: v for k, v in kept.items() if not _BROKERS.search(k)}
    own = {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp")}
    return quiet | own | dict(added)


def _hello(child: Child) -> tuple[int, str]:
    """Wait for the two lines with which py4j's server begins: port and token."""
    deadline = time.monotonic() + _HELLO_S
    while time.monotonic() < deadline:
        lines = child.program.log.read_text(errors="replace").splitlines()
        for first, second in pairwise(lines):
            if first.isdecimal() and second:
                return int(first), second
        if not child.running:
            raise CaptureError(
                f"Java failed to start: {child.last_words() or 'no error was printed'}. Check "
                "--jvm-option and this machine's memory"
            )
        time.sleep(0.05)
    raise UnreachableError(
        f"Java did not start within {_HELLO_S:.0f} s. Check this machine's load and memory, then "
        "try again"
    )


def chain_of(thrown: Any) -> tuple[str, ...]:
    """Return `class: message` of an exception and its causes, outermost first.

    What reflection and futures wrap around is left out.
    """
    found: list[str] = []
    while thrown is not None and len(found) < 10:
        name, message = thrown.getClass().getName(), thrown.getMessage()
        found.append(f"{name}: {message}" if message is not None else name)
        thrown = thrown.getCause()
    while len(found) > 1 and found[0].startswith(_WRAPPED):
        found.pop(0)
    return tuple(found)


def _member(java: Any, name: str) -> Any:
    for word in name.split("."):
        java = getattr(java, word)
    return java
