"""Start one version of a Kafka Streams application on a filled broker, and read what it wrote."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from headgate.errors import BuildError, CaptureError
from headgate.gateway.kafka.read_records import Record
from headgate.gateway.kafka_broker.rehearsal_broker import RehearsalBroker, live_keys
from headgate.gateway.kafka_streams.application import ByMain, ByTopology, EntryPoint, StartFailed
from headgate.gateway.kafka_streams.jvm import JvmRequest, StreamsJvm, start_jvm
from headgate.gateway.kafka_streams.rehearsal import Ran, run
from headgate.gateway.process.deadline import within
from headgate.model.kafka_streams import StreamsApplication, looks_internal
from headgate.model.kafka_streams_rehearsal import StreamsStage
from headgate.model.rehearsal import EngineOutcome
from headgate.model.version import Version
from headgate.usecases.evidence.read_version import read_version
from headgate.usecases.rehearsal.read_user_cluster import sinks, sources

_NOWHERE = "127.0.0.1:1"
_ROWS = 20
# No rehearsal takes more than one thread; with a cache, how many updates are seen is chance.
_OURS = {
    "num.stream.threads": "1",
    "num.standby.replicas": "0",
    "commit.interval.ms": "100",
    "statestore.cache.max.bytes": "0",
    "metadata.max.age.ms": "2000",
    "replication.factor": "1",
}
_PREFIXES = ("main.consumer.", "restore.consumer.", "global.consumer.", "consumer.", "producer.",
             "admin.")  # fmt: skip
_LEAD_AWAY = (
    "bootstrap.servers",
    "bootstrap.controllers",
    "security.",
    "sasl.",
    "ssl.",
    "metric.reporters",
    "interceptor.classes",
    "client.rack",
    "group.instance.id",
    "application.server",
    "schema.registry.url",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One version: its entry point, jars and settings.

    `arguments` and `env` are for a main class, with the placeholders {bootstrap}, {state_dir} and
    {application_id}. `settings` are for a method that returns a topology.
    """

    what: EntryPoint
    jars: Sequence[Path]
    application_id: str
    settings: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[str] = ()

    @property
    def is_topology(self) -> bool:
        """Whether a method returns the topology, so that Headgate creates KafkaStreams."""
        return self.what.method is not None

    def overridden(self, bootstrap: str, state: Path) -> dict[str, str]:
        """Return the settings for KafkaStreams; none of them names another cluster."""
        kept = {k: v for k, v in self.settings.items() if not _leads_away(k)}
        ours = {"bootstrap.servers": bootstrap, "application.id": self.application_id}
        return kept | _OURS | ours | {"state.dir": str(state)}


@dataclass(frozen=True, slots=True)
class Played:
    """The result of a version's start, and what it wrote to its broker."""

    ran: Ran
    version: Version | None
    streams_version: str = ""
    rows_in: int | None = None
    outputs: tuple[Record, ...] = ()
    after: Mapping[str, Sequence[Record]] = field(default_factory=dict)

    def rows(self) -> list[str]:
        """Return the outputs as JSON objects with topic, key and value."""
        return [row(r) for r in self.outputs]


COLUMNS = ("topic", "key", "value")


def row(record: Record) -> str:
    """Return an output as a JSON object."""
    found = (record.topic, shown(record.key), shown(record.value))
    return json.dumps(dict(zip(COLUMNS, found, strict=True)), ensure_ascii=False)


def shown(raw: bytes | None) -> str | None:
    """Return bytes as text, or in hexadecimal if they aren't printable text."""
    if raw is None:
        return None
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return f"0x{raw.hex()}"
    return text if text.isprintable() else f"0x{raw.hex()}"


@dataclass(slots=True)
class Opened:
    """A version in a JVM, before its broker is filled."""

    side: Side
    jvm: StreamsJvm
    application: ByTopology | ByMain | None
    version: Version | None
    refused: tuple[str, ...] = ()


@contextmanager
def opened(
    side: Side,
    broker: RehearsalBroker,
    state: Path,
    folder: Path,
    seconds: float,
    warm: StreamsJvm | None = None,
) -> Iterator[Opened]:
    """Start the JVM, and get the topology; if it can't be built, `refused` has the causes.

    `warm` is a JVM with the side's classes that serves several topologies, and that keeps running.
    Raises CaptureError if the entry point is wrong, BuildError if its method hasn't returned after
    `seconds`. The JVM ends with the context.
    """
    places = {
        "bootstrap": broker.address,
        "state_dir": str(state),
        "application_id": side.application_id,
    }
    description = None if side.is_topology else _asked(side, places, folder / "asked")
    jvm = warm or start_jvm(_wish(side, places), folder)
    try:
        found = Opened(side, jvm, None, None)
        try:
            if side.is_topology:
                settings = side.overridden(broker.address, state)
                application = within(
                    seconds, lambda: ByTopology(jvm, side.what, settings, is_shared=bool(warm))
                )
                found.application, description = application, application.description
            else:
                found.application = ByMain(jvm, side.what, _filled(side.arguments, places))
        except StartFailed as error:
            found.refused = error.causes
        except TimeoutError:
            what = f"{side.what} has not returned a topology after {seconds:g} s"
            raise BuildError(f"{what}: check whether the code waits for a server") from None
        if description is not None:
            found.version = _version(side, description, folder)
        yield found
    finally:
        if warm is None:
            jvm.close()


def start_and_wait(
    found: Opened,
    broker: RehearsalBroker,
    seconds: float,
    cancelled: Callable[[], bool] = lambda: False,
) -> Ran:
    """Start the version, wait until it has processed all records, and stop it.

    CaptureError if its `main` creates no KafkaStreams, RunCancelledError once `cancelled`.
    """
    if found.refused or found.application is None:
        return Ran(outcome=EngineOutcome.REFUSES, causes=found.refused, stage=StreamsStage.BUILD)
    app = _app(found)
    # For topics of global tables no offset is ever committed.
    local = replace(app, sources=tuple(s for s in app.sources if not s.is_global))
    read = sources(local, broker.kafka.partitions())
    ran = run(
        found.application,
        found.jvm,
        broker,
        found.side.application_id,
        inputs=[t for t in read if not looks_internal(t)],
        between=lambda: [r.topic for r in app.repartitions],
        seconds=seconds,
        cancelled=cancelled,
    )
    if found.version is None and not ran.causes:
        raise CaptureError(
            f"Headgate found no KafkaStreams instance in the metrics of {found.side.what}: pass "
            "CLASS#method, a method that returns the Topology"
        )
    return ran


def _app(found: Opened) -> StreamsApplication:
    return (found.version.streams if found.version is not None else None) or StreamsApplication()


def play(found: Opened, broker: RehearsalBroker, seconds: float, committed: int) -> Played:
    """Start the version on the filled broker, wait for its end, and read what it wrote.

    `committed` is the sum of the inputs' committed offsets before the start.
    """
    ran = start_and_wait(found, broker, seconds)
    if found.refused or found.application is None:
        return Played(ran, found.version)
    app, group = _app(found), found.side.application_id
    inputs = sources(app, broker.kafka.partitions())
    now = sum(
        n for (t, _), n in broker.committed(group).items() if t in inputs and not looks_internal(t)
    )
    names = list(broker.kafka.partitions())
    changelogs = [n for n in names if n.startswith(f"{group}-") and n.endswith("-changelog")]
    return Played(
        ran,
        found.version,
        streams_version=found.application.release if found.application is not None else "",
        rows_in=max(0, now - committed),
        outputs=tuple(broker.records(sinks(app) - inputs)),
        after=_by_topic(broker.records(changelogs), changelogs),
    )


def counted(records: Iterable[Record]) -> tuple[int, tuple[tuple[str, str], ...]]:
    """Return the number of live keys in a changelog, and the first of them with values."""
    live = live_keys(records)
    found = sorted((shown(key) or "", shown(value) or "") for (_, key), value in live.items())
    return len(found), tuple(found[:_ROWS])


def _by_topic(records: Iterable[Record], names: Iterable[str]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {n: [] for n in names}
    for record in records:
        found[record.topic].append(record)
    return found


def _asked(side: Side, places: Mapping[str, str], folder: Path) -> str | None:
    """Start main against a port where nobody listens, only to learn its topology."""
    nowhere = {**places, "bootstrap": _NOWHERE, "state_dir": str(folder / "state")}
    jvm = start_jvm(_wish(side, nowhere), folder)
    application = ByMain(jvm, side.what, _filled(side.arguments, nowhere))
    try:
        description, called = application.learn(30.0), application.application_id
    finally:
        jvm.close()
    if called not in (None, side.application_id):
        raise CaptureError(
            f"{side.what} has the application id {called}, but the state directory belongs to"
            f" {side.application_id}: pass the placeholder {{application_id}} with --arg, or use "
            "--application-id"
        )
    return description


def _wish(side: Side, places: Mapping[str, str]) -> JvmRequest:
    env = dict(zip(side.env, _filled(side.env.values(), places), strict=True))
    return JvmRequest(jars=side.jars, options=_filled(side.options, places), env=env)


def _filled(texts: Iterable[str], places: Mapping[str, str]) -> list[str]:
    found = []
    for text in texts:
        for name, value in places.items():
            text = text.replace("{" + name + "}", value)
        found.append(text)
    return found


def _version(side: Side, description: str, folder: Path) -> Version:
    """Read the description as evidence, beside the settings that the application has."""
    evidence = folder / "evidence"
    evidence.mkdir(exist_ok=True)
    (evidence / "describe.txt").write_text(description)
    settings = {**side.settings, "application.id": side.application_id}
    (evidence / "config.json").write_text(json.dumps(settings))
    return read_version([str(evidence)])


def _leads_away(key: str) -> bool:
    for prefix in _PREFIXES:
        key = key.removeprefix(prefix)
    return key.startswith(_LEAD_AWAY)
