"""The declared pipelines of a team: what `headgate.toml` says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from enum import StrEnum

from headgate.model.commands import Call
from headgate.model.version import Engine

KEEP_SNAPSHOTS = timedelta(days=14)


@dataclass(frozen=True, slots=True, kw_only=True)
class PointSchedule:
    """How often restore points of a pipeline are made, how long kept, and how large they may be.

    `every` None: none are made. `max_bytes` bounds all points of one pipeline together, files that
    they share counted once.
    """

    every: timedelta | None = None
    keep: timedelta = timedelta(days=7)
    max_bytes: int = 100 * 10**9


class Effects(StrEnum):
    """What the code does outside of Kafka and its sink, such as an HTTP call per record."""

    EXTERNAL = "external"
    IDEMPOTENT = "idempotent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """How to stop, start and ask for a pipeline, each None where not given.

    Each is a shell command, or the line that shows what `calls` has under the same word: an HTTP
    call, a person who is asked, the watched driver. `status` exits 0 while the pipeline runs, 3
    when it does not, 4 while it is paused; anything else is unknown. `clean` removes the local
    state of all instances of a Kafka Streams application. `suspend` keeps an orchestrator from
    starting the pipeline until `reenable`. `pause` and `resume` leave the processes up. `notify`
    tells people. `deploy` puts the code of the next version in place, `rollback` that of the one
    before it again.
    """

    stop: str | None = None
    start: str | None = None
    status: str | None = None
    clean: str | None = None
    suspend: str | None = None
    reenable: str | None = None
    pause: str | None = None
    resume: str | None = None
    notify: str | None = None
    deploy: str | None = None
    rollback: str | None = None
    calls: Mapping[str, Call] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """One `[[pipeline]]` table. Spark needs `checkpoint`, `evidence` or `watch`, others `group`.

    `group` is the application id of a Kafka Streams application or a consumer group's id.
    `topics` are the inputs of a consumer group, where it is to be reset on topics that it has
    not committed yet. `entry_point` is `module:function`, importable from the file's folder, or
    `CLASS#method` in the `jar` of a Kafka Streams application; `properties` is a file with its
    settings, `records` one of records for twin runs.
    `watch` is where `headgate.watch` writes: a folder or URI, or `kafka:TOPIC`; `query` is the
    query's name or id where several share it. `line` is where the table stands in the file.
    `inputs` are globs of files that it is made of beside its code, relative to the file's folder;
    None if it doesn't say. `jar` is the application's, absolute.
    `restore_points` is its own schedule, None where that of the file holds.
    `effects` says what its code does outside of Kafka and its sink: EXTERNAL effects happen again
    when records are reprocessed, IDEMPOTENT ones change nothing the second time; None if unknown.
    `declared` is the file's `checkpoint` where a run has led the query to another one, which then
    stands in `checkpoint`; None otherwise.
    """

    name: str
    engine: Engine
    owner: str | None = None
    description: str | None = None
    checkpoint: str | None = None
    group: str | None = None
    entry_point: str | None = None
    topics: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    watch: str | None = None
    query: str | None = None
    inputs: tuple[str, ...] | None = None
    jar: str | None = None
    properties: str | None = None
    records: str | None = None
    commands: Commands = Commands()
    line: int = 0
    declared: str | None = None
    restore_points: PointSchedule | None = None
    effects: Effects | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """One `[[accept]]` table: somebody knows a rule's findings and lives with them for a while.

    It holds through the day `until`. `pipeline` None means every pipeline; `location` is the id or
    label of a node, or of an operator all nodes, None: anywhere. `line` is where it stands.
    """

    rule: str
    reason: str
    until: date
    pipeline: str | None = None
    location: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Somebody's word that a finding is known; `until` is an ISO date."""

    reason: str
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredTopic:
    """One `[topics.NAME]` table: files with the schemas of values and keys, absolute.

    `subject` and `key_subject` are the registry's subjects where they are not `NAME-value` and
    `NAME-key`: the record's full name where producers use RecordNameStrategy.
    """

    name: str
    schema: str | None = None
    key_schema: str | None = None
    subject: str | None = None
    key_subject: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkSettings:
    """`[spark]`: the master that runs on data use, and Spark's settings, which may be secrets."""

    master: str = "local[*]"
    config: dict[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Everything that `headgate.toml` says; `path` is the file, None for an empty registry.

    `rules_url` is the folder of the rules' pages on the web. `file_systems` are the settings of
    remote ones by kind (`s3`, `abfs`, `gs`, `hdfs`); they hold secrets and are stored nowhere.
    `schema_registry` holds the settings of the schema registry's client, which may be secrets, too.
    `jdbc` has the `url`, `user` and `password` of each declared database; it is stored nowhere.
    `console_outputs` are the outputs that a page may compare: folders, and patterns of addresses.
    `console_hosts` are hosts that the pages may read evidence from beside those that it names;
    `console_metrics` says whether the console serves metrics.
    `keep_snapshots` is how long after its end a run's snapshots are kept for its undo.
    `requirements` is the file, absolute, that says which packages the pipelines' code needs.
    `restore_points` is how often points are made where a pipeline doesn't say otherwise.
    """

    path: str | None = None
    bootstrap_servers: str | None = None
    kafka: dict[str, str] = field(default_factory=dict)
    store_url: str | None = None
    pipelines: tuple[Pipeline, ...] = ()
    accepts: tuple[Accept, ...] = ()
    rules_url: str | None = None
    file_systems: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    schema_registry_url: str | None = field(default=None, repr=False)
    schema_registry: dict[str, str] = field(default_factory=dict, repr=False)
    topics: tuple[DeclaredTopic, ...] = ()
    keep_snapshots: timedelta = KEEP_SNAPSHOTS
    jdbc: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    console_outputs: tuple[str, ...] = ()
    console_hosts: tuple[str, ...] = ()
    console_metrics: bool = False
    requirements: str | None = None
    spark: SparkSettings = SparkSettings()
    restore_points: PointSchedule = PointSchedule()

    def point_schedule(self, pipeline: Pipeline) -> PointSchedule:
        """Return how often restore points of the pipeline are made."""
        return pipeline.restore_points or self.restore_points

    def topic(self, name: str) -> DeclaredTopic:
        """Return what is declared of a topic; of most nothing is."""
        return next((t for t in self.topics if t.name == name), DeclaredTopic(name=name))

    def pipeline(self, name: str) -> Pipeline | None:
        """Return the pipeline of that name, or None."""
        return next((p for p in self.pipelines if p.name == name), None)

    def led(self, places: Mapping[str, tuple[str, str]]) -> Registry:
        """Return it with the checkpoints that runs have led queries to.

        `checkpoint_locations` has, by pipeline, the `checkpoint` of the file that a place stands
        for, and the place; who writes another one into the file has the last word.
        """
        found = tuple(_led(p, places.get(p.name)) for p in self.pipelines)
        return replace(self, pipelines=found)


def _led(pipeline: Pipeline, place: tuple[str, str] | None) -> Pipeline:
    declared = pipeline.declared or pipeline.checkpoint
    at = place[1] if place is not None and place[0] == declared else declared
    return replace(pipeline, checkpoint=at, declared=None if at == declared else declared)
