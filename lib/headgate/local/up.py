"""Start the console with its worker, and with `demo` a broker and the demo business around them.

Everything that is started is a child of this process and ends with it, however it ends.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headgate.errors import SetupError, UnreachableError
from headgate.gateway.kafka_broker import local_broker
from headgate.gateway.process.child_process import Program
from headgate.gateway.process.child_program import die_with_parent
from headgate.gateway.process.free_ports import LOOPBACK, free_port
from headgate.gateway.process.jars import fetch_jars
from headgate.gateway.process.supervise import Supervisor
from headgate.local.demo.pipelines import PIPELINES, feed, registry, starter
from headgate.local.demo.topics import DEFAULT_KAFKA, KAFKA, create_topics
from headgate.local.stack.home import only_one
from headgate.local.stack.process_control import Line, ProcessControl, forget
from headgate.text.private_files import open_private, private_folder

CONFIG = "HEADGATE_CONFIG"
FOLLOW_PARENT = "HEADGATE_FOLLOW_PARENT"
CONSOLE, WORKER = "console", "worker"
PORT = 8501
# A wheel has the console's files in the package, a clone at its top (pyproject.toml).
_CLONE, _INSTALLED = Path(__file__).parents[3], Path(__file__).parents[1] / "console"
_PAGE_LIMIT = 180.0
_WORKER_GRACE = 30.0
_TURN = 0.5
_NO_WORKER = "No worker executes runs now: end `headgate up` with Ctrl-C and start it again"
_OF_DISKS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EFBIG)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What to start. `home` takes all files; `port` is the console's, None for any, 8501 first.

    `config` is the team's own `headgate.toml`; the demo writes one into `home`.
    """

    home: Path
    demo: bool = False
    port: int | None = None
    config: Path | None = None


def up(request: Request, say: Say) -> None:
    """Start everything, say where the console is, and stay until SIGINT or SIGTERM.

    SetupError where a stack already runs in that home or a part can't start.
    """
    if os.environ.get(FOLLOW_PARENT):
        die_with_parent(os.getppid(), signal.SIGTERM)
    if not request.demo and request.config is None:
        # Before the folder is made: a start that can't be leaves nothing behind.
        raise SetupError("headgate.toml not found. Pass the file with --config, or use --demo")
    home = request.home.resolve()
    with explained(home):
        _up(request, home, say)


@contextmanager
def explained(home: Path) -> Iterator[None]:
    """Turn what a disk that is full, read-only or not ours raises into our error."""
    try:
        yield
    except OSError as error:
        if error.errno not in _OF_DISKS:
            raise
        place = error.filename or home
        reason = f"{place} can't be written: {error.strerror}"
        raise SetupError(
            f"{reason}. Check free disk space and permissions, or choose another folder with "
            "--home."
        ) from error


def _up(request: Request, home: Path, say: Say) -> None:
    private_folder(home)
    with only_one(home), Supervisor() as supervisor, interrupts(supervisor):
        supervisor.adopt_orphans()
        try:
            _run(request, home, supervisor, say)
        except KeyboardInterrupt:
            say("Stopping all processes.")
        finally:
            supervisor.close(last=(local_broker.NAME,))


def _run(request: Request, home: Path, supervisor: Supervisor, say: Say) -> None:
    forget(home)
    port = console_port(request.port)
    if request.demo:
        _run_demo(home, port, supervisor, say)
    elif request.config is not None:
        config = request.config.resolve()
        supervisor.start(_worker(config, home, {}))
        supervisor.start(_console(config, home, port, {}))
        _announce(home, port, supervisor, say)
        _stay(supervisor, lambda: time.sleep(_TURN), say)


def _run_demo(home: Path, port: int, supervisor: Supervisor, say: Say) -> None:
    fetch_jars(say)
    say("Starting Kafka.")
    kafka = _start_kafka(home, supervisor)
    env, config = {KAFKA: kafka}, home / "headgate.toml"
    _write(config, registry(home, kafka))
    lines = {p.name: Line(starter(p, home, kafka), p.ready(home)) for p in PIPELINES}
    board = ProcessControl(home, supervisor, lines)
    board.open()
    try:
        say(f"Starting {', '.join(lines)}, the demo producer, the worker and the console.")
        supervisor.start(feed(home, kafka))
        supervisor.start(_console(config, home, port, env))
        for line in lines.values():
            supervisor.start(line.program(None))
        supervisor.start(_worker(config, home, env))
        _announce(home, port, supervisor, say)
        say(f"Kafka    {kafka}\nFiles    {home}")
        _stay(supervisor, lambda: board.turn(_TURN), say)
    finally:
        board.close()


def console_port(asked: int | None) -> int:
    """Return a free port: the requested one or none; without a request 8501 or any."""
    port = free_port(PORT if asked is None else asked)
    if asked is not None and port != asked:
        raise SetupError(f"port {asked} is in use: choose another port with --port")
    return port


def _start_kafka(home: Path, supervisor: Supervisor) -> str:
    remembered = home / "kafka" / "port"
    preferred = int(DEFAULT_KAFKA.rpartition(":")[2])
    with suppress(OSError, ValueError):
        preferred = int(remembered.read_text())
    kafka = local_broker.start_broker(supervisor, home / "kafka", port=preferred)
    _write(remembered, kafka.rpartition(":")[2])
    create_topics(kafka)
    return kafka


def _worker(config: Path, home: Path, env: Mapping[str, str]) -> Program:
    argv = (sys.executable, "-m", "headgate.worker.main", "--config", str(config))
    log = home / "logs" / "worker.log"
    env = {**env, CONFIG: str(config)}
    cwd, grace = config.parent, _WORKER_GRACE
    return Program(name=WORKER, argv=argv, log=log, env=env, cwd=cwd, grace=grace)


def _console(config: Path, home: Path, port: int, env: Mapping[str, str]) -> Program:
    options = {
        "server.address": LOOPBACK,
        "server.port": str(port),
        "server.headless": "true",
        "browser.gatherUsageStats": "false",
        "server.fileWatcherType": "none",
    }
    flags = (f"--{key}={value}" for key, value in options.items())
    folder = _INSTALLED if _INSTALLED.is_dir() else _CLONE
    argv = (sys.executable, "-m", "streamlit", "run", str(folder / "app.py"), *flags)
    log = home / "logs" / "console.log"
    env = {**env, CONFIG: str(config)}
    return Program(name=CONSOLE, argv=argv, log=log, env=env, cwd=folder)


def _announce(home: Path, port: int, supervisor: Supervisor, say: Say) -> None:
    """Say the address once the page answers."""
    address = f"http://{LOOPBACK}:{port}"
    deadline = time.monotonic() + _PAGE_LIMIT
    while time.monotonic() < deadline:
        child = supervisor.child(CONSOLE)
        if child and not child.running:
            said = child.last_words() or "no error was printed"
            raise SetupError(
                f"the console failed to start: {said}. See the log {child.program.log}"
            )
        if _answers(f"{address}/_stcore/health"):
            say(f"\nConsole  {address}      Ctrl-C stops all processes.\nLogs     {home / 'logs'}")
            return
        time.sleep(0.1)
    raise UnreachableError(
        f"the console did not respond at {address} within {_PAGE_LIMIT:.0f} s. See the log "
        f"{home / 'logs' / 'console.log'}"
    )


def _stay(supervisor: Supervisor, wait: Callable[[], None], say: Say) -> None:
    """Say which child died, for ever; without the broker or the console, end."""
    while True:
        for child in supervisor.deaths():
            code, name = child.process.returncode, child.program.name
            said = f"Last line of the log {child.program.log}: {child.last_words() or 'none'}"
            text = f"{name} ended unexpectedly (exit {code}). {said}"
            if name in (local_broker.NAME, CONSOLE):
                raise SetupError(text)
            say(f"{text}. {_NO_WORKER}" if name == WORKER else text)
        wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def interrupts(supervisor: Supervisor) -> Iterator[None]:
    """Turn the first SIGINT, SIGTERM or SIGHUP into KeyboardInterrupt; the second one kills."""

    def second(_number: int, _frame: Any) -> None:
        supervisor.kill()
        os._exit(130)

    def first(_number: int, _frame: Any) -> None:
        for each in signals:
            signal.signal(each, second)
        raise KeyboardInterrupt

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {each: signal.signal(each, first) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _write(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".partial")
    with open_private(partial, "w") as file:
        file.write(text)
    partial.rename(path)
