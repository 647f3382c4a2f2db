"""The pipelines and settings that `headgate.toml` registers."""

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
    """How often restore points of a pipeline are made, how long they are kept, and their limit.

    `every` None: none are made. `max_bytes` limits all restore points of one pipeline together; a
    file that several of them share counts once.
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
    """The commands of a pipeline, each None if not registered.

    Each is a shell command. If `calls` has an entry of the same name (HTTP call, manual step, stop
    request to the watched driver), it is the line that plans show. `status` exits with 0 if the
    pipeline runs, 3 if it is stopped, 4 if it is paused; any other code means unknown. `clean`
    deletes the local state of all instances of a Kafka Streams application. `suspend` prevents an
    orchestrator from restarting the pipeline until `reenable`. `pause` and `resume` keep the
    processes running. `notify` sends a message to people. `deploy` deploys the code of the next
    version, and `rollback` that of the previous version.
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
    """One `[[pipeline]]` table.

    Spark needs `checkpoint`, `evidence` or `watch`, other engines need `group`. `group` is the
    application id of a Kafka Streams application, or the id of a consumer group. `topics` are the
    inputs of a consumer group; a reset needs them for topics without a committed offset.
    `entry_point` is `module:function`, importable from the folder of headgate.toml, or
    `CLASS#method` in the `jar` of a Kafka Streams application. `properties` is a file with the
    application's settings, `records` a file with records for twin runs. `watch` is the location
    that `headgate.watch` writes to: a folder, a URI or `kafka:TOPIC`. `query` is the query's name
    or id if the evidence has several queries. `line` is the line of the table in headgate.toml.
    `inputs` are glob patterns of other files that belong to the pipeline, relative to the folder of
    headgate.toml; None if not set. `jar` and `old_jar`, the jar of the running
    version, are absolute paths. `restore_points` is the pipeline's
    own schedule; None: that of `[restore_points]`. `effects` is what the code does outside of Kafka
    and its sink: EXTERNAL effects are repeated when records are reprocessed, repeated IDEMPOTENT
    effects change nothing; None if unknown.

    If a run has switched the query to another checkpoint, `checkpoint` is that location, and
    `declared` is the `checkpoint` in headgate.toml; otherwise `declared` is None.
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
    old_jar: str | None = None
    properties: str | None = None
    records: str | None = None
    commands: Commands = Commands()
    line: int = 0
    declared: str | None = None
    restore_points: PointSchedule | None = None
    effects: Effects | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """One `[[accept]]` table: a user accepts the findings of a rule until a date.

    `until` is the last day. `pipeline` None means every pipeline. `location` is the id or label of
    a node, or an operator (all its nodes); None: any location. `line` is the line of the table.
    """

    rule: str
    reason: str
    until: date
    pipeline: str | None = None
    location: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The acceptance of a finding; `until` is an ISO date."""

    reason: str
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredTopic:
    """One `[topics.NAME]` table: files with the schemas of values and keys, as absolute paths.

    `subject` and `key_subject` are the registry's subjects, if they aren't `NAME-value` and
    `NAME-key`. With RecordNameStrategy, a subject is the full name of the record.
    """

    name: str
    schema: str | None = None
    key_schema: str | None = None
    subject: str | None = None
    key_subject: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkSettings:
    """`[spark]`: the master on which runs process data, and Spark settings (may be secrets)."""

    master: str = "local[*]"
    config: dict[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """The content of `headgate.toml`; `path` is the file, None for an empty registry.

    `rules_url` is the URL of the folder with the rule pages. `file_systems` are the settings of
    remote file systems by kind (`s3`, `abfs`, `gs`, `hdfs`). They contain secrets and are never
    stored. `schema_registry` has the settings of the schema registry's client, which may be
    secrets, too. `jdbc` has `url`, `user` and `password` of each database, and is never stored.
    `console_outputs` are the outputs that the Outputs page may compare: folders, and patterns of
    addresses. `console_hosts` are more hosts that pages may read evidence from. `console_metrics`:
    the console serves metrics. `keep_snapshots` is how long the snapshots of a run are kept after
    its end. `requirements` is the absolute path of the file with the packages that the pipelines'
    code needs. `restore_points` applies to pipelines without their own setting.
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
        """Return how often restore points of the pipeline are made, and how long they are kept."""
        return pipeline.restore_points or self.restore_points

    def topic(self, name: str) -> DeclaredTopic:
        """Return the `[topics.NAME]` table of a topic, empty if there is none."""
        return next((t for t in self.topics if t.name == name), DeclaredTopic(name=name))

    def pipeline(self, name: str) -> Pipeline | None:
        """Return the pipeline with this name, or None."""
        return next((p for p in self.pipelines if p.name == name), None)

    def led(self, locations: Mapping[str, tuple[str, str]]) -> Registry:
        """Return the registry with the checkpoint locations that runs have switched queries to.

        `locations` has, by pipeline, the `checkpoint` of headgate.toml that a run replaced, and the
        new location. If `checkpoint` was changed in headgate.toml since then, the new value counts.
        """
        found = tuple(_led(p, locations.get(p.name)) for p in self.pipelines)
        return replace(self, pipelines=found)


def _led(pipeline: Pipeline, location: tuple[str, str] | None) -> Pipeline:
    declared = pipeline.declared or pipeline.checkpoint
    at = location[1] if location is not None and location[0] == declared else declared
    return replace(pipeline, checkpoint=at, declared=None if at == declared else declared)
