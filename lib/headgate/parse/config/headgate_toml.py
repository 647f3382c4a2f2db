"""Read `headgate.toml` into the registry of a team's pipelines."""

from __future__ import annotations

import os.path
import re
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from pathlib import PurePath

from headgate.errors import RegistryError
from headgate.model.commands import WatchControl
from headgate.model.registered_pipelines import (
    KEEP_SNAPSHOTS,
    Accept,
    DeclaredTopic,
    Effects,
    Pipeline,
    PointSchedule,
    Registry,
    SparkSettings,
)
from headgate.model.version import Engine
from headgate.parse.config.keys import FILE_SYSTEMS, TOP, names
from headgate.parse.config.pipeline_commands import read_commands
from headgate.parse.config.restore_points import read_own_schedule, read_schedule
from headgate.parse.config.toml_lines import TomlLines
from headgate.parse.config.toml_table import Table
from headgate.text.times import read_duration

_AT = re.compile(r"\(at line (\d+), column \d+\)|\(at end of document\)")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_STORE = re.compile(r"(?P<scheme>[a-z][a-z0-9]*(?:\+[a-z0-9_]+)?)://(?P<rest>.*)", re.DOTALL)
_NAME = re.compile(r"\w(?:[\w .-]*[\w-])?")
_TOPIC = "kafka:"
_ADDRESSES = (_TOPIC, "jdbc:")
_DATABASE = re.compile(r"[\w-]+")
_TOPIC_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_HOST = re.compile(r"(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?")
_ENTRY_POINT = re.compile(r"[\w.]+:\w+")
_TOPOLOGY = re.compile(r"[\w.$]+#\w+")


def parse(
    text: str, *, path: str, source: str | None = None, env: Mapping[str, str] | None = None
) -> Registry:
    """Return what the text of `headgate.toml` declares.

    `path` is the file, absolute: relative paths inside it are taken from its folder. `source` is
    how errors name it. `${NAME}` in Kafka's settings and in the store's URL is replaced from
    `env`. Raises RegistryError with the line and what was expected there; no error shows the value
    of a Kafka setting.
    """
    source = source or path
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(error, text, source) from error
    top = Table(data, (), TomlLines(text), source, env or {}, "headgate.toml")
    return _registry(top, PurePath(path))


def _syntax_error(error: tomllib.TOMLDecodeError, text: str, source: str) -> RegistryError:
    message = str(error)
    match = _AT.search(message)
    at_end = max(text.rstrip().count("\n") + 1, 1)
    line = int(match[1]) if match and match[1] else at_end
    reason = _AT.sub("", message).strip()
    said = f": {reason[0].lower()}{reason[1:]}" if reason else ""
    return RegistryError(f"not valid TOML{said}. Correct this line", source=source, line=line)


def _registry(top: Table, path: PurePath) -> Registry:
    top.allow(*TOP)
    gate = top.table("gate", "[gate]").allow(*names("[gate]"))
    requirements = gate.text("requirements")
    kafka = top.table("kafka", "[kafka]").allow(*names("[kafka]"))
    store = top.table("store", "[store]").allow(*names("[store]"))
    points = read_schedule(top)
    return Registry(
        path=str(path),
        bootstrap_servers=kafka.text("bootstrap_servers", interpolate=True),
        kafka=_kafka_config(kafka),
        store_url=_store_url(store, path.parent),
        pipelines=_pipelines(top, path.parent, points),
        rules_url=_rules_url(top),
        accepts=tuple(_accept(t) for t in top.tables("accept", "[[accept]]")),
        file_systems=_file_systems(top),
        schema_registry_url=_schema_registry(top).text("url", interpolate=True),
        schema_registry=_schema_settings(_schema_registry(top)),
        topics=_topics(top, path.parent),
        keep_snapshots=_keep_snapshots(top),
        jdbc=_databases(top),
        console_outputs=_console_outputs(_console(top), path.parent),
        console_hosts=_console_hosts(_console(top)),
        console_metrics=_console(top).flag("metrics"),
        requirements=_located(requirements, path.parent) if requirements else None,
        spark=_spark(top),
        restore_points=points,
    )


def _spark(top: Table) -> SparkSettings:
    spark = top.table("spark", "[spark]").allow(*names("[spark]"))
    config = spark.table("config", "[spark.config]").settings()
    if "spark.master" in config:
        spark.table("config", "").fail(
            "spark.master",
            "`spark.master` isn't allowed under [spark.config]: set `master` under [spark]",
        )
    if (spark.text("master") or "").startswith("sc://"):
        # The programs read offsets, files and plans through Spark's own Java classes.
        spark.fail(
            "master",
            "`master` can't be a Spark Connect address: runs need a classic Spark session. Set "
            "the cluster's master, such as spark://HOST:7077, yarn or k8s://...",
        )
    return SparkSettings(master=spark.text("master") or SparkSettings().master, config=config)


def _console(top: Table) -> Table:
    return top.table("console", "[console]").allow(*names("[console]"))


def _console_outputs(console: Table, folder: PurePath) -> tuple[str, ...]:
    """Return folders as absolute paths, and patterns of topics and tables as they are."""
    given = console.texts("outputs")
    return tuple(o if o.startswith(_ADDRESSES) else _located(o, folder) for o in given)


def _databases(top: Table) -> dict[str, dict[str, str]]:
    """Return what `[jdbc.NAME]` declares; `${NAME}` is replaced in all."""
    databases = top.table("jdbc", "[jdbc.NAME]")
    found = {}
    for name in databases.data:
        if not _DATABASE.fullmatch(name):
            databases.fail(name, f"{name!r} isn't a valid name: use letters, digits, '_' and '-'")
        keys = names("[jdbc.NAME]")
        table = databases.table(name, f"[jdbc.{name}]").allow(*keys)
        given = {key: table.text(key, interpolate=True) for key in keys}
        kept = {key: value for key, value in given.items() if value is not None}
        if not kept.get("url", "").startswith("jdbc:"):
            how = "a `url` that starts with jdbc:" if "url" in kept else "`url`"
            table.fail("url", f"[jdbc.{name}] needs {how}, such as jdbc:postgresql://HOST/DATABASE")
        found[name] = kept
    return found


def _console_hosts(console: Table) -> tuple[str, ...]:
    """Return `HOST` or `HOST:PORT` as they were written, in lower case."""
    hosts = tuple(h.strip().lower() for h in console.texts("allowed_hosts"))
    for host in hosts:
        if not _HOST.fullmatch(host):
            console.fail("allowed_hosts", f"{host!r} isn't a host: write HOST or HOST:PORT")
    return hosts


def _keep_snapshots(top: Table) -> timedelta:
    runs = top.table("runs", "[runs]").allow(*names("[runs]"))
    text = runs.text("keep_snapshots")
    if text is None:
        return KEEP_SNAPSHOTS
    try:
        return read_duration(text)
    except ValueError as error:
        runs.fail("keep_snapshots", str(error))


def _schema_registry(top: Table) -> Table:
    return top.table("schema_registry", "[schema_registry]").allow(*names("[schema_registry]"))


def _schema_settings(table: Table) -> dict[str, str]:
    config = table.table("config", "[schema_registry.config]").settings()
    if "url" in config:
        table.table("config", "").fail(
            "url",
            "`url` isn't allowed under [schema_registry.config]: set `url` under [schema_registry]",
        )
    if table.data and "url" not in table.data:
        table.fail("url", "[schema_registry] needs `url`: the address of the registry")
    return config


def _topics(top: Table, folder: PurePath) -> tuple[DeclaredTopic, ...]:
    """Return what `[topics.NAME]` declares; a name with dots is in quotes."""
    topics = top.table("topics", "[topics.NAME]")
    found = []
    for name in topics.data:
        if not _TOPIC_NAME.fullmatch(name):
            topics.fail(
                name, f"{name!r} isn't a valid topic name: use letters, digits, '.', '_' and '-'"
            )
        table = topics.table(name, f"[topics.{name}]").allow(*names("[topics.NAME]"))
        files = [table.text(key) for key in ("schema", "key_schema")]
        found.append(
            DeclaredTopic(
                name=name,
                schema=_located(files[0], folder) if files[0] else None,
                key_schema=_located(files[1], folder) if files[1] else None,
                subject=table.text("subject"),
                key_subject=table.text("key_subject"),
                line=table.line(),
            )
        )
    return tuple(found)


def _file_systems(top: Table) -> dict[str, dict[str, str]]:
    """Return the settings of remote file systems by kind; `${NAME}` is replaced in all."""
    systems = top.table("file_systems", "[file_systems]").allow(*FILE_SYSTEMS)
    found = {}
    for kind in systems.data:
        table = systems.table(kind, f"[file_systems.{kind}]").allow(*FILE_SYSTEMS[kind])
        found[kind] = table.settings()
    return found


def _kafka_config(kafka: Table) -> dict[str, str]:
    config = kafka.table("config", "[kafka.config]").settings()
    if "bootstrap.servers" in config:
        kafka.table("config", "").fail(
            "bootstrap.servers",
            "`bootstrap.servers` isn't allowed under [kafka.config]: set `bootstrap_servers` "
            "under [kafka]",
        )
    return config


def _store_url(store: Table, folder: PurePath) -> str | None:
    url = store.text("url", interpolate=True)
    if url is None:
        return None
    match = _STORE.fullmatch(url)
    if match is None:
        store.fail("url", "`url` must be a database URL such as sqlite:///.headgate/headgate.db")
    if match["scheme"].partition("+")[0] != "sqlite":
        return url
    file, mark, query = match["rest"].removeprefix("/").partition("?")
    if not match["rest"].startswith("/") or file in ("", ":memory:"):
        store.fail(
            "url",
            "`url` needs a file path after sqlite:///, such as sqlite:///.headgate/headgate.db: an "
            "in-memory store would not survive a restart",
        )
    return f"{match['scheme']}:///{_located(file, folder)}{mark}{query}"


def _located(path: str, folder: PurePath) -> str:
    """Return a path of the file as an absolute one; a URI stays as it is."""
    if _URI.match(path):
        return path
    return os.path.normpath(folder / path)


def _pipelines(top: Table, folder: PurePath, points: PointSchedule) -> tuple[Pipeline, ...]:
    seen: dict[str, int] = {}
    pipelines = []
    for table in top.tables("pipeline", "[[pipeline]]"):
        pipeline = _pipeline(table, folder, points)
        if pipeline.name in seen:
            first = seen[pipeline.name]
            table.fail(
                "name",
                (
                    f"pipeline {pipeline.name!r} is already defined on line {first}: choose "
                    "another name"
                ),
            )
        seen[pipeline.name] = table.line("name")
        pipelines.append(pipeline)
    return tuple(pipelines)


def _pipeline(table: Table, folder: PurePath, points: PointSchedule) -> Pipeline:
    table.allow(*names("[[pipeline]]"))
    name = _name(table)
    engine = Engine(table.choice("engine", [e.value for e in Engine]))
    checkpoint, group = table.text("checkpoint"), table.text("group")
    known = checkpoint or table.text("watch") or table.texts("evidence")
    if engine is Engine.SPARK and not known:
        why = (
            f"pipeline {name!r} needs `checkpoint` (the checkpoint's location), `evidence` or "
            "`watch`"
        )
        table.fail("checkpoint", why)
    if engine is not Engine.SPARK and group is None:
        what = "application id" if engine is Engine.KAFKA_STREAMS else "id of the consumer group"
        table.fail("group", f"pipeline {name!r} needs `group`: the {what}")
    commands = read_commands(table, folder)
    if isinstance(commands.calls.get("stop"), WatchControl) and not table.text("watch"):
        table.fail(
            "commands",
            "`stop = { watch = true }` needs the pipeline's `watch` setting: the folder or "
            "topic that headgate.watch writes to",
        )
    return Pipeline(
        name=name,
        engine=engine,
        owner=table.text("owner"),
        description=table.text("description"),
        checkpoint=_located(checkpoint, folder) if checkpoint else None,
        group=group,
        entry_point=_entry_point(table, engine),
        topics=table.texts("topics"),
        evidence=tuple(_located(path, folder) for path in table.texts("evidence")),
        watch=_watch(table, engine, folder),
        query=_query(table, engine),
        inputs=_inputs(table),
        jar=_jar(table, engine, folder),
        old_jar=_of_streams(table, "old_jar", engine, folder),
        properties=_of_streams(table, "properties", engine, folder),
        records=_of_streams(table, "records", engine, folder),
        commands=commands,
        line=table.line(),
        restore_points=read_own_schedule(table, points),
        effects=_effects(table),
    )


def _effects(table: Table) -> Effects | None:
    if table.text("effects") is None:
        return None
    return Effects(table.choice("effects", [e.value for e in Effects]))


def _rules_url(top: Table) -> str | None:
    docs = top.table("docs", "[docs]").allow(*names("[docs]"))
    url = docs.text("rules_url")
    if url is not None and not url.startswith(("https://", "http://")):
        docs.fail("rules_url", "`rules_url` must be the URL of the rule pages, such as https://...")
    return url


def _accept(table: Table) -> Accept:
    table.allow(*names("[[accept]]"))
    rule, reason = table.text("rule"), table.text("reason")
    if rule is None:
        table.fail("rule", "[[accept]] needs `rule`: the code of a rule, such as AGG001")
    if reason is None:
        table.fail("reason", "[[accept]] needs `reason`: who accepts the finding, and why")
    until = table.day("until")
    if until is None:
        table.fail(
            "until", "[[accept]] needs `until`: the last day of the acceptance, such as 2026-12-31"
        )
    return Accept(
        rule=rule,
        reason=reason,
        until=until,
        pipeline=table.text("pipeline"),
        location=table.text("where"),
        line=table.line(),
    )


def _name(table: Table) -> str:
    name = table.text("name")
    if name is None:
        table.fail("name", "[[pipeline]] needs `name`")
    if "@" in name:
        table.fail(
            "name",
            f"name {name!r} must not contain '@', because NAME@N means version N of a pipeline",
        )
    if not _NAME.fullmatch(name):
        table.fail(
            "name",
            f"{name!r} isn't a valid name: use letters, digits, '_', '-', '.' and spaces. The name "
            "must not start with '-', '.' or a space, or end with '.' or a space",
        )
    return name


def _watch(table: Table, engine: Engine, folder: PurePath) -> str | None:
    watch = table.text("watch")
    if watch is None:
        return None
    if engine is not Engine.SPARK:
        table.fail("watch", f"`watch` is only for Spark queries, but `engine` is {engine.value}")
    topic = watch.removeprefix(_TOPIC)
    if topic == watch:
        return _located(watch, folder)
    if not _TOPIC_NAME.fullmatch(topic):
        table.fail(
            "watch", f"`watch` must be {_TOPIC}TOPIC with a valid topic name, found {watch!r}"
        )
    return watch


def _inputs(table: Table) -> tuple[str, ...] | None:
    """Return the globs as they were written; each stays below the folder of the file."""
    globs = table.texts("inputs")
    for glob in globs:
        if PurePath(glob).is_absolute() or ".." in PurePath(glob).parts:
            table.fail(
                "inputs",
                f"pattern {glob!r} in `inputs` must match files below the folder of headgate.toml: "
                "use a relative path without `..`",
            )
    return globs if "inputs" in table.data else None


def _jar(table: Table, engine: Engine, folder: PurePath) -> str | None:
    jar = table.text("jar")
    if jar is not None and engine is Engine.SPARK:
        table.fail(
            "jar", "`jar` is only for Kafka applications. For a Spark query, use `entry_point`"
        )
    return _located(jar, folder) if jar else None


def _of_streams(table: Table, key: str, engine: Engine, folder: PurePath) -> str | None:
    path = table.text(key)
    if path is not None and engine is not Engine.KAFKA_STREAMS:
        table.fail(key, f"`{key}` is only for Kafka Streams, but `engine` is {engine.value}")
    return _located(path, folder) if path else None


def _query(table: Table, engine: Engine) -> str | None:
    query = table.text("query")
    if query is not None and engine is not Engine.SPARK:
        table.fail("query", f"`query` is only for Spark queries, but `engine` is {engine.value}")
    return query


def _entry_point(table: Table, engine: Engine) -> str | None:
    entry_point = table.text("entry_point")
    form, shown = _ENTRY_POINT, "module:function"
    if engine is Engine.KAFKA_STREAMS:
        form, shown = _TOPOLOGY, "CLASS#method, such as com.acme.Orders#topology"
    if entry_point is not None and not form.fullmatch(entry_point):
        table.fail("entry_point", f"`entry_point` must be {shown}, found {entry_point!r}")
    return entry_point
