"""Rehearse an upgrade of Kafka Streams: start the new jar on copies, and report what happens."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from headgate.errors import CaptureError, EvidenceError
from headgate.gateway.checkpoint.copy import (
    check_disk_space,
    compare_with_prints,
    copy_checkpoint,
    size_of,
)
from headgate.gateway.files.evidence_files import find
from headgate.gateway.files.scratch_folders import scratch_folder
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.connect import open_kafka
from headgate.gateway.kafka_broker.rehearsal_broker import RehearsalBroker
from headgate.gateway.kafka_streams.application import entry
from headgate.gateway.kafka_streams.state_directory import (
    StateDirectory,
    in_use,
    read_state_directory,
)
from headgate.model.kafka_streams import StreamsApplication, looks_internal
from headgate.model.kafka_streams_rehearsal import StreamsVerdict
from headgate.model.rehearsal import EngineOutcome
from headgate.model.version import Version
from headgate.rules.compare.engine_agreement import Judged, judge_streams
from headgate.rules.core.report import Report
from headgate.usecases.compare.compare_versions import compare_read
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_version import read_version
from headgate.usecases.rehearsal.fill_broker import Stage, stage_of
from headgate.usecases.rehearsal.given_records import given_records
from headgate.usecases.rehearsal.old_version import new_version, old_version
from headgate.usecases.rehearsal.one_version import Opened, Played, Side, opened, play
from headgate.usecases.rehearsal.outcome import compared, torn, verdict
from headgate.usecases.rehearsal.read_user_cluster import (
    Bounds,
    compare_reads,
    read_user_cluster,
    reread_user_cluster,
    sources,
)

PREFIX = "headgate-rehearsal-"
Say = Callable[[str], None]
_WITHOUT_S = 30.0
_NEEDED = ("{bootstrap}", "{state_dir}")


@dataclass(frozen=True, slots=True)
class StreamsRehearsal:
    """The outcome by the rules, what Kafka Streams did, and whether both agree."""

    report: Report
    engine: StreamsVerdict
    judged: Judged


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsOptions:
    """Options of a rehearsal: see `docs/rehearsal.md`. `seconds` limits each version.

    With `offline`, the configured cluster isn't used. `records` is a file with input records
    instead.
    """

    application_id: str | None = None
    jars: Sequence[Path] = ()
    before_jars: Sequence[Path] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    jvm_options: Sequence[str] = ()
    batch: str = "real"
    records: Path | None = None
    offline: bool = False
    bounds: Bounds = Bounds()
    seconds: float = 300.0
    scratch: Path | None = None

    def side(self, text: str, jars: Sequence[Path], application_id: str) -> Side:
        """Return the version that `text` names; CaptureError if it can't be started safely."""
        what = entry(text)
        if what is None:
            raise CaptureError(
                f"{text} is neither CLASS#method nor CLASS: pass, for example, "
                "com.acme.Orders#topology"
            )
        said = " ".join((*self.arguments, *self.env.values(), *self.jvm_options))
        if what.method is None and (lacking := [p for p in _NEEDED if p not in said]):
            words = f"the placeholder{'s' if len(lacking) > 1 else ''} {' and '.join(lacking)}"
            raise CaptureError(
                f"{text} is a main class: with --arg, --env or --jvm-option, pass {words} "
                "literally. Headgate replaces placeholders with the rehearsal's broker and folder. "
                f"Without {words}, the application could use your real cluster and state"
            )
        return Side(
            what=what,
            jars=jars,
            application_id=application_id,
            settings=self.settings,
            arguments=self.arguments,
            env=self.env,
            options=self.jvm_options,
        )


def rehearse_streams(
    state_dir: Path,
    after: str,
    *,
    before: Sequence[str] = (),
    context: Context | None = None,
    options: StreamsOptions,
    say: Say = lambda _: None,
) -> StreamsRehearsal:
    """Start `after` on a copy of the state directory and on a separate broker, for one batch.

    `after` is `CLASS#method` or `CLASS`. With `before_jars`, `before` is such an entry point, too,
    and the old version runs on the same input, to compare the outputs. Otherwise `before` is
    evidence of the old version. Headgate only reads the directory and the configured cluster: it
    joins no group and writes nothing. Raises EvidenceError if the directory isn't a state
    directory, CaptureError if an entry point is wrong, RefusedError if a limit is exceeded or the
    application connected to another broker, UnreachableError if a broker doesn't respond.
    """
    directory = read_state_directory(state_dir, options.application_id)
    new = options.side(after, options.jars, directory.application_id)
    old = _old_side(before, options, directory)
    evidence = read_version(list(before), context=context) if before and not old else None
    kafka = _kafka(context, options)
    given = given_records(options.records) if options.records else []
    place = find(str(directory.folder))
    if place is None:
        raise EvidenceError(f"{directory.folder} can't be read: check the path and its permissions")
    with scratch_folder(PREFIX, options.scratch) as folder:
        check_disk_space((size_of(place) or 0) * (3 if old else 1), folder)
        say(f"copying {directory.folder}")
        is_used = in_use(directory)
        prints = copy_checkpoint(place, folder / "state" / directory.application_id)

        def staged(app: StreamsApplication) -> Stage:
            seen = read_user_cluster(kafka, directory.application_id, app) if kafka else None
            say("copying topics" if seen else "creating topics")
            return stage_of(
                app, directory, seen, evidence,
                bounds=options.bounds, batch=options.batch == "real", given=given,
            )  # fmt: skip

        play_ = _Play(folder, directory, options.seconds, say)
        played, stage = play_.first(new, staged, old)
        was = play_.again(old, stage) if old and stage else None
        say("verifying that the originals are unchanged")
        stage = stage or Stage((), None, True)
        engine = verdict(new, played, stage, directory)
        if was is not None:
            engine = replace(engine, output=compared(played, was))
        untouched = compare_with_prints(place, prints)
        engine = replace(engine, directory=untouched)
        if is_used or not untouched.is_unchanged:
            engine = torn(engine)
        if stage.seen is not None:
            engine = replace(
                engine, cluster=compare_reads(stage.seen, reread_user_cluster(stage.seen))
            )
    before_version = old_version(was.version if was else evidence, directory, stage.seen)
    now = new_version(played.version, before_version, stage.seen)
    report = compare_read(before_version, now)
    engine = _not_remembered(engine, options, before_version, old)
    return StreamsRehearsal(report, engine, judge_streams(report, engine))


class _Play:
    """Starts versions, each on a broker and a copy of the state of its own."""

    def __init__(self, folder: Path, directory: StateDirectory, seconds: float, say: Say) -> None:
        self._folder, self._directory = folder, directory
        self._seconds, self._say = seconds, say

    def first(
        self, new: Side, staged: Callable[[StreamsApplication], Stage], old: Side | None
    ) -> tuple[Played, Stage | None]:
        """Start the new version on the topics of `staged`; the stage is None without a topology."""
        with self._broker("after", new) as (broker, state, found):
            if found.version is None or found.version.streams is None:
                # Refused before it was built, or by main before it made a client.
                return play(found, broker, min(self._seconds, _WITHOUT_S), 0), None
            app = found.version.streams
            stage = staged(app)
            if _keeps_topology(new) and old is not None:
                self._remember(old, broker, stage)
                broker.write_input(stage.topics, stage.given)
            else:
                broker.fill(new.application_id, stage.topics, stage.given)
            return self._played(new, broker, state, found, stage), stage

    def again(self, old: Side, stage: Stage) -> Played:
        """Start the old version on the same topics and records."""
        with self._broker("before", old) as (broker, state, found):
            app = found.version.streams if found.version else None
            stage = stage.with_outputs(app) if app else stage
            broker.fill(old.application_id, stage.topics, stage.given)
            return self._played(old, broker, state, found, stage)

    @contextmanager
    def _broker(self, name: str, side: Side) -> Iterator[tuple[RehearsalBroker, Path, Opened]]:
        state = self._state(name)
        self._say(f"starting a broker for {side.what}")
        with (
            RehearsalBroker(self._folder / f"broker-{name}") as broker,
            opened(side, broker, state, self._folder / name, self._seconds) as found,
        ):
            yield broker, state, found

    def _played(
        self, side: Side, broker: RehearsalBroker, state: Path, found: Opened, stage: Stage
    ) -> Played:
        if not stage.uses_directory:
            shutil.rmtree(state / side.application_id)
        self._say(f"starting {side.what} on the copies")
        app = found.version.streams if found.version else None
        inputs = [t.name for t in stage.topics if not looks_internal(t.name)]
        read = sources(app, inputs) if app else frozenset()
        return play(found, broker, self._seconds, stage.committed(tuple(read)))

    def _remember(self, old: Side, broker: RehearsalBroker, stage: Stage) -> None:
        """Start the old version without input: the group keeps its topology on the broker."""
        broker.fill(old.application_id, stage.without_input().topics)
        state = self._state("remembered")
        with opened(old, broker, state, self._folder / "remembered", self._seconds) as found:
            self._say(
                f"starting {old.what} without input, so that the broker stores the old topology"
            )
            play(found, broker, self._seconds, 0)

    def _state(self, name: str) -> Path:
        """Return a copy of the copy: a version may change all of it."""
        target = self._folder / f"state-{name}"
        shutil.copytree(self._folder / "state", target)
        return target


def _old_side(
    before: Sequence[str], options: StreamsOptions, directory: StateDirectory
) -> Side | None:
    if not options.before_jars:
        return None
    if len(before) != 1:
        raise CaptureError(
            "--before-jar needs one --before: pass CLASS#method or CLASS with --before"
        )
    return options.side(before[0], options.before_jars, directory.application_id)


def _kafka(context: Context | None, options: StreamsOptions) -> Kafka | None:
    if options.offline or context is None or not context.registry.bootstrap_servers:
        return None
    return open_kafka(context.registry)


def _keeps_topology(side: Side) -> bool:
    """Whether the group's topology lives on the broker (KIP-1071), as far as settings say."""
    return side.settings.get("group.protocol", "").lower() == "streams"


def _not_remembered(
    engine: StreamsVerdict, options: StreamsOptions, old: Version, side: Side | None
) -> StreamsVerdict:
    """A streams group refuses another topology than it has: here it had none to compare with."""
    protocol = old.streams.protocol if old.streams else None
    is_kept = options.settings.get("group.protocol", protocol) == "streams"
    if engine.outcome is not EngineOutcome.RESUMES or not is_kept or side is not None:
        return engine
    return replace(
        engine,
        outcome=EngineOutcome.UNKNOWN,
        question=(
            "Does the group accept the new topology? The rehearsal had no old topology to compare "
            "with: pass the old version with --before and --before-jar"
        ),
    )
