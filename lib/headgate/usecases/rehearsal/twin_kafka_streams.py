"""Twin run: start both versions of a Kafka Streams application on the same records, and compare.

Each start has a separate JVM. Each of these cases has a separate broker with the same topics:

    restart   the old version on the records A, then the new version on B, in its place
    scratch   the new version on A, then on B
    again     repeats scratch; only if the outputs of restart and scratch differ
    bare      the new version on B, at the old version's offsets, without state; as again
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from headgate.errors import BuildError, CaptureError, EvidenceError, UnreachableError
from headgate.gateway.files.scratch_folders import scratch_folder
from headgate.gateway.kafka.topics import TopicPart
from headgate.gateway.kafka_broker.rehearsal_broker import RehearsalBroker
from headgate.gateway.kafka_streams.jvm import StreamsJvm
from headgate.gateway.kafka_streams.state_directory import StateDirectory, read_state_directory
from headgate.model.kafka_streams import StreamsApplication
from headgate.model.registered_pipelines import Pipeline
from headgate.model.twin import TwinVerdict
from headgate.model.version import Engine, Version
from headgate.rules.compare.twin_findings import Disagreement, with_twin, worst_of
from headgate.rules.compare.twin_lowers import Lowered, can_lower
from headgate.rules.compare.twin_streams_findings import STREAMS_RULES
from headgate.rules.core.report import Report
from headgate.twin.generate_records import RecordFeed
from headgate.twin.judge_streams import judge_streams
from headgate.twin.streams_experiment import Start, StreamsExperiment
from headgate.usecases.compare.compare_versions import compare_read
from headgate.usecases.rehearsal.given_records import given_records
from headgate.usecases.rehearsal.old_version import new_version, old_version
from headgate.usecases.rehearsal.one_version import Opened, Side, opened, start_and_wait
from headgate.usecases.rehearsal.properties_file import read_settings
from headgate.usecases.rehearsal.read_user_cluster import read_user_cluster, sinks
from headgate.usecases.rehearsal.rehearse_kafka_streams import StreamsOptions
from headgate.usecases.rehearsal.twin_case import TwinCase
from headgate.usecases.rehearsal.twin_topics import Inputs, inputs_of

PREFIX = "headgate-streams-twin-"
USUAL_ID = "headgate-twin"
# Keys of headgate.toml that a twin run of a registered application needs.
NEEDED = ("old_jar", "jar", "entry_point")
# What Kafka Streams itself raises, as it would anywhere; all else may only fail here.
_OF_KAFKA = "org.apache.kafka."
Say = Callable[[str], None]
# An extractor may name topics that no description does.
BROKER = {"auto.create.topics.enable": "true"}
# Without these, the order of records from several topics, and when joins and windows emit, would
# be chance.
_ORDERED = {
    "max.task.idle.ms": "500",
    "producer.linger.ms": "0",
    "__emit.interval.ms.kstreams.outer.join.spurious.results.fix__": "0",
    "__emit.interval.ms.kstreams.windowed.aggregation__": "0",
}


@dataclass(frozen=True, slots=True)
class StreamsTwin:
    """The findings and outcome of rules and twin run together, and what Kafka Streams did.

    `again` is a second run with other records. `lowered` are questions of rules that both runs
    answered. `plans` are both descriptions. `hints` are the types from which records were
    generated, by topic.
    """

    report: Report
    verdict: TwinVerdict
    disagreements: tuple[Disagreement, ...]
    versions: tuple[Version, Version]
    again: TwinVerdict | None = None
    lowered: tuple[Lowered, ...] = ()
    plans: tuple[str, str] = ("", "")
    hints: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsTwinOptions:
    """Options of a twin run; `rows` are written to each input topic, `seconds` limits each start.

    `serdes` are KEY:VALUE by topic. `samples` are files with records whose keys and values are
    used. RunCancelledError is raised once `cancelled`.
    """

    rows: int = 674
    seed: int = 7
    seconds: float = 300.0
    serdes: Mapping[str, str] = field(default_factory=dict)
    samples: Sequence[Path] = ()
    scratch: Path | None = None
    cancelled: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Servers:
    """A broker and a JVM with the classes of both versions, by the name of the case."""

    broker: Callable[[str], RehearsalBroker]
    jvm: Callable[[str], StreamsJvm]


def run_streams_twin(
    before: Side,
    after: Side,
    *,
    options: StreamsTwinOptions | None = None,
    say: Say = lambda _: None,
    servers: Servers | None = None,
) -> StreamsTwin:
    """Return the outcome of a twin run with `after` as the next version of `before`.

    Headgate connects to no cluster, and writes only to a scratch folder. `servers` already run:
    many small twin runs share them, and none of these runs is repeated. If a version's code fails
    or doesn't return, the outcome is UNKNOWN. CaptureError if a method doesn't exist, or if
    Headgate doesn't know what to generate, RefusedError if a version connected to another broker,
    UnreachableError if a broker doesn't respond.
    """
    options = options or StreamsTwinOptions()
    verdict, versions, plans = _once(before, after, options, say, servers)
    report, again = _compared(versions), None
    if servers is None and can_lower(report, verdict, *versions):
        say("running both versions again, on other records")
        other = replace(options, seed=options.seed + 1)
        again = _again(before, after, other, say)
        verdict, again = worst_of(verdict, again)
    both = with_twin(report, verdict, *versions, STREAMS_RULES, again=again)
    return StreamsTwin(
        both.report,
        verdict,
        both.disagreements,
        versions,
        again,
        both.lowered,
        plans,
        {"serdes": dict(options.serdes), "rows": options.rows},
    )


def registered_twin(
    pipeline: Pipeline, *, say: Say, cancelled: Callable[[], bool] = lambda: False
) -> StreamsTwin:
    """Return the outcome of a twin run with the jars that headgate.toml names.

    EvidenceError if the pipeline doesn't name both jars and the method, or a jar doesn't exist; for
    the rest see `run_streams_twin`.
    """
    if lacking := [key for key in NEEDED if not getattr(pipeline, key)]:
        keys = " and ".join(f"`{key}`" for key in lacking)
        raise EvidenceError(f"pipeline {pipeline.name} has no {keys}: set it in headgate.toml")
    jars = [Path(jar) for jar in (pipeline.old_jar, pipeline.jar) if jar]
    if missing := [str(jar) for jar in jars if not jar.is_file()]:
        raise EvidenceError(f"{missing[0]} doesn't exist: build the jar, or change headgate.toml")
    settings = read_settings(Path(pipeline.properties)) if pipeline.properties else {}
    options = StreamsOptions(settings=settings)
    name = pipeline.group or USUAL_ID
    return run_streams_twin(
        *(options.side(pipeline.entry_point or "", [jar], name) for jar in jars),
        options=StreamsTwinOptions(
            samples=[Path(pipeline.records)] if pipeline.records else (), cancelled=cancelled
        ),
        say=say,
    )


def _compared(versions: tuple[Version, Version]) -> Report:
    """Return what the rules say; nothing of a version that could not be built."""
    return compare_read(*versions) if all(v.evidence for v in versions) else Report()


def _again(before: Side, after: Side, options: StreamsTwinOptions, say: Say) -> TwinVerdict | None:
    """Return the second run's verdict, None if it failed: then the first run counts."""
    try:
        return _once(before, after, options, say, None)[0]
    except (CaptureError, UnreachableError) as error:
        say(f"the second run failed, so only the first run counts: {error}")
        return None


def _once(
    before: Side, after: Side, options: StreamsTwinOptions, say: Say, servers: Servers | None
) -> tuple[TwinVerdict, tuple[Version, Version], tuple[str, str]]:
    begun = time.monotonic()
    old, new = (replace(s, settings=_ORDERED | dict(s.settings)) for s in (before, after))
    with scratch_folder(PREFIX, options.scratch) as folder, ExitStack() as stack:
        trial = _Trial((old, new), options, say, _Rooms(folder, options, stack, servers))
        try:
            verdict = judge_streams(trial.run())
        except BuildError as error:
            verdict = TwinVerdict(
                outcome="unknown",
                why=str(error),
                question="Can the method build the topology without access to servers and files?",
            )
        plans = (_description(folder / "old-a"), _description(folder / "new-a"))
    verdict = replace(
        verdict,
        seed=options.seed,
        rows=trial.written,
        seconds=time.monotonic() - begun,
        streams_version=trial.release,
        is_sampled=bool(options.samples),
    )
    return verdict, trial.versions, plans


def _description(folder: Path) -> str:
    file = folder / "evidence" / "describe.txt"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


@dataclass(frozen=True, slots=True)
class _Rooms:
    """Where starts take place: folders, brokers and JVMs."""

    folder: Path
    options: StreamsTwinOptions
    stack: ExitStack
    servers: Servers | None

    def twin_case(self, name: str) -> TwinCase:
        """Return a broker with a state directory; it ends with the run, unless it is shared."""
        if self.servers is not None:
            broker = self.servers.broker(name)
        else:
            own = RehearsalBroker(self.folder / f"broker-{name}", BROKER)
            broker = self.stack.enter_context(own)
        folder = self.folder / f"case-{name}"
        folder.mkdir()
        there = frozenset(broker.kafka.partitions())
        return TwinCase(name, broker, folder, bool(self.options.samples), there)

    def opened(self, side: Side, twin_case: TwinCase, name: str) -> AbstractContextManager[Opened]:
        """Return a version in a JVM, before its start."""
        folder = self.folder / name
        folder.mkdir()
        jvm = self.servers.jvm(twin_case.name) if self.servers else None
        return opened(side, twin_case.broker, twin_case.state, folder, self.options.seconds, jvm)


class _Trial:
    """The starts of one experiment."""

    def __init__(
        self, sides: tuple[Side, Side], options: StreamsTwinOptions, say: Say, rooms: _Rooms
    ) -> None:
        self.old, self.new = sides
        self._options, self._say, self._rooms = options, say, rooms
        self._sample = [r for file in options.samples for r in given_records(file)]
        self._inputs = Inputs(topics=(), outputs=frozenset())
        self.versions = (Version(engine=Engine.KAFKA_STREAMS),) * 2
        self.written = 0
        self.release = ""

    def run(self) -> StreamsExperiment:
        """Start the versions, as often as necessary, and return the outcome."""
        self._say("starting two local brokers: one for the restart, one for the run from scratch")
        with ThreadPoolExecutor(2) as pool:
            restart, scratch = pool.map(self._rooms.twin_case, ("restart", "scratch"))
            run, feed = self._before_restart(pool, restart, scratch)
            if run.before_a.how != "resumes" or feed is None:
                return run
            self.versions = self._observed(restart)
            offsets = restart.broker.committed(self.old.application_id)
            for twin_case in (restart, scratch):
                twin_case.write(feed.b)
            self._say("starting the new version on the old version's state")
            resumed = pool.submit(self._open_and_start, restart, "new-b")
            own = run.after_a
            if own.how == "resumes":
                own = pool.submit(self._open_and_start, scratch, "new-b-scratch").result()
            run = replace(run, resumed=resumed.result(), own=own)
            if {run.resumed.how, run.own.how} != {"resumes"} or not run.differs:
                return run
            self._say("running the new version again, because the outputs differ")
            again, bare = pool.submit(self._again, feed), pool.submit(self._bare, feed, offsets)
            again_a, again_b = again.result()
            return replace(run, again_a=again_a, again=again_b, bare=bare.result())

    def _before_restart(
        self, pool: ThreadPoolExecutor, restart: TwinCase, scratch: TwinCase
    ) -> tuple[StreamsExperiment, RecordFeed | None]:
        """Run both versions over A; without records if the new version can't be built at all."""
        with (
            self._rooms.opened(self.old, restart, "old-a") as old,
            self._rooms.opened(self.new, scratch, "new-a") as new,
        ):
            self._learn(old, new)
            if new.refused:
                there, start = Start(how="resumes"), Start(how="refuses", causes=new.refused)
                built = replace(start, stage="build")
                run = StreamsExperiment(before_a=there, after_a=built, resumed=built)
                return run, None
            feed = self._feed()
            for twin_case, side in ((restart, self.old), (scratch, self.new)):
                twin_case.fill(side.application_id, self._inputs, feed.a)
            self._say("running both versions on the records before the restart")
            first = pool.submit(self._start, old, restart)
            second = pool.submit(self._start, new, scratch)
            run = StreamsExperiment(
                before_a=first.result(),
                after_a=second.result(),
                names=self._names(),
                sinks=sinks(self._apps[1]) & self._inputs.outputs,
                is_sampled=bool(self._sample),
            )
        return run, feed

    def _feed(self) -> RecordFeed:
        sides = (self.old, self.new)
        self._inputs = inputs_of(self._apps, sides, self._options.serdes, self._sample)
        feed = self._inputs.feed(sides, rows=self._options.rows, seed=self._options.seed)
        self.written = len(feed.a) + len(feed.b)
        made = "sampling" if self._sample else "generating"
        self._say(f"{made} {self.written} records (seed {self._options.seed})")
        return feed

    def _again(self, feed: RecordFeed) -> tuple[Start, Start]:
        twin_case = self._rooms.twin_case("again")
        twin_case.fill(self.new.application_id, self._inputs, feed.a)
        first = self._open_and_start(twin_case, "again-a")
        twin_case.write(feed.b)
        return first, self._open_and_start(twin_case, "again-b")

    def _bare(self, feed: RecordFeed, offsets: Mapping[TopicPart, int]) -> Start:
        twin_case = self._rooms.twin_case("bare")
        group = self.new.application_id
        twin_case.fill(group, self._inputs, (*feed.a, *feed.b), offsets)
        return self._open_and_start(twin_case, "bare-b")

    def _open_and_start(self, twin_case: TwinCase, name: str) -> Start:
        """Start the new version."""
        with self._rooms.opened(self.new, twin_case, name) as found:
            return self._start(found, twin_case)

    def _start(self, found: Opened, twin_case: TwinCase) -> Start:
        ran = start_and_wait(
            found, twin_case.broker, self._options.seconds, self._options.cancelled
        )
        if found.application is not None:
            self.release = found.application.release
        return twin_case.left(found.side.application_id, ran)

    def _learn(self, old: Opened, new: Opened) -> None:
        """Keep what the descriptions say; BuildError if a version's own code fails."""
        if old.version is None or old.version.streams is None:
            said = old.refused[0] if old.refused else "the code creates no KafkaStreams instance"
            raise BuildError(f"the old version {old.side.what} can't be built: {said}")
        if new.refused and not new.refused[-1].startswith(_OF_KAFKA):
            said = new.refused[-1]
            raise BuildError(f"the new version {new.side.what} can't be built: {said}")
        self.versions = (old.version, new.version or self.versions[1])

    @property
    def _apps(self) -> tuple[StreamsApplication, StreamsApplication]:
        old, new = (v.streams or StreamsApplication() for v in self.versions)
        return old, new

    def _names(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the stores of either version that have a changelog of their own."""
        old, new = (
            frozenset(s.name for s in app.stores if not s.is_global and not s.restored_from)
            for app in self._apps
        )
        return old, new

    def _observed(self, twin_case: TwinCase) -> tuple[Version, Version]:
        """Return both versions with what the broker knows after the old one."""
        old, new = self.versions
        group = self.old.application_id
        seen = read_user_cluster(twin_case.broker.kafka, group, old.streams)
        try:
            directory = read_state_directory(twin_case.state, group)
        except EvidenceError:
            # Without a store on the disk there is none.
            directory = StateDirectory(twin_case.state, group, {}, {})
        first = old_version(old, directory, seen)
        return first, new_version(new, first, seen)
