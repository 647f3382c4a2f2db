"""Check what Headgate needs on this machine, one part after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum

from headgate.errors import (
    ConfigError,
    HeadgateError,
    SetupError,
    UnreachableError,
    next_step_of,
)
from headgate.gateway.adapters.live import LiveInspector
from headgate.gateway.process.jars import broker_class_path, install_step, jars_folder, spark_jars
from headgate.gateway.process.java import OLDEST, read_java
from headgate.gateway.schema_registry.client import SchemaRegistry
from headgate.model.registered_pipelines import DeclaredTopic, Pipeline
from headgate.model.version import Engine
from headgate.reprocess.scenarios.shared.common import shared_checkpoint
from headgate.store import open_store
from headgate.store.rows import ACTIVE_RUNS
from headgate.store.worker_slots import Slot, is_served
from headgate.text.numbers import plural, short_time, size
from headgate.usecases.activity.check_pipelines import check_pipelines
from headgate.usecases.context import Context, open_context
from headgate.usecases.evidence.read_cluster import read_cluster
from headgate.usecases.evidence.read_registered import read_registered
from headgate.usecases.evidence.read_version import read_version
from headgate.usecases.evidence.topic_schemas import (
    VALUE,
    open_schema_registry,
    subject_of,
    topic_table,
)
from headgate.usecases.reprocess.rebuild_plan import checkpoint_of_other_query
from headgate.usecases.restore_points.list_points import PointList, list_points

PYTHON = (3, 11)
_MYSELF = "`headgate doctor`"
# Without headgate.toml `headgate up` has nothing to serve.
_UP_WITHOUT_FILE = (
    "create headgate.toml, then run `headgate up`. For an example, run `headgate up --demo`"
)


class State(StrEnum):
    """`note`: an optional part is missing, so some features don't work."""

    OK = "ok"
    NOTE = "note"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the output; `remedy` is the next step.

    `exit_code` is that of the error behind a failure, otherwise 0.
    """

    name: str
    state: State
    message: str
    remedy: str | None = None
    exit_code: int = 0


def diagnose(config: str | None = None) -> tuple[Check, ...]:
    """Check Python, Java, jars, configuration and what it names; errors become checks."""
    return tuple(_all(config))


def _all(config: str | None) -> Iterator[Check]:
    yield _guarded("python", _python, "install Python 3.11 or newer")
    yield _guarded("java", _java, f"install Java {OLDEST} or newer, or set JAVA_HOME")
    yield _guarded("jars", _jars, install_step())
    try:
        context = open_context(config)
    except HeadgateError as error:
        yield _failed(
            "configuration", error, "correct the file, or pass another file with --config"
        )
        return
    yield _configuration(context)
    yield _guarded("store", lambda: _store(context), "check `url` under [store] in headgate.toml")
    yield _guarded("worker", lambda: _worker(context), None)
    yield from _kafka(context)
    yield from _schema_registry(context)
    for pipeline in context.registry.pipelines:
        if pipeline.checkpoint:
            yield _checkpoint(context, pipeline)
        if pipeline.engine is Engine.SPARK and (pipeline.evidence or not pipeline.checkpoint):
            yield _evidence(context, pipeline)
    yield from _restore_points(context)
    yield from _activity(context)


def _guarded(name: str, check: Callable[[], Check], remedy: str | None) -> Check:
    try:
        return check()
    except HeadgateError as error:
        return _failed(name, error, remedy)


def _failed(name: str, error: HeadgateError, remedy: str | None) -> Check:
    code, remedy = error.exit_code, remedy or _remedy_of(error)
    return Check(name=name, state=State.FAILED, message=str(error), remedy=remedy, exit_code=code)


def _remedy_of(error: HeadgateError) -> str | None:
    """Return the error's next step, unless it is to run this check."""
    step = (next_step_of(error) or "").replace(f", or run {_MYSELF}", "").rstrip(".")
    return f"{step[0].lower()}{step[1:]}" if step and _MYSELF not in step else None


def _unless_down(error: HeadgateError, remedy: str) -> str | None:
    """Return the remedy; None if a service doesn't respond: then the error's own step helps."""
    return None if isinstance(error, UnreachableError) else remedy


def _ok(name: str, message: str) -> Check:
    return Check(name=name, state=State.OK, message=message)


def _note(name: str, message: str, remedy: str) -> Check:
    return Check(name=name, state=State.NOTE, message=message, remedy=remedy)


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < PYTHON:
        raise SetupError(f"Python {version} is too old")
    return _ok("python", f"Python {version}")


def _java() -> Check:
    java = read_java()
    if java.major < OLDEST:
        raise SetupError(f"Java {java.major} ({java.path}) is too old")
    return _ok("java", f"Java {java.major} ({java.path})")


def _jars() -> Check:
    count = len(spark_jars())
    broker_class_path()
    return _ok(
        "jars", f"Spark's Kafka connector ({count} jars) and Kafka's own jars in {jars_folder()}"
    )


def _configuration(context: Context) -> Check:
    registry = context.registry
    if registry.path is None:
        return _note(
            "configuration",
            "headgate.toml not found: no pipelines and no cluster are configured",
            ("create headgate.toml, or pass the path of the file with --config or HEADGATE_CONFIG"),
        )
    return _ok("configuration", f"{registry.path}, {plural(len(registry.pipelines), 'pipeline')}")


def _store(context: Context) -> Check:
    store = open_store(context.store_url)
    try:
        count = len(store.versions.list())
        return _ok("store", f"{store.database.url}, {plural(count, 'version')}")
    finally:
        store.close()


def _worker(context: Context) -> Check:
    store = open_store(context.store_url)
    try:
        for run in store.runs.list(ACTIVE_RUNS):
            if not is_served(store.database, run):
                said = f"run {run.id} is {run.state}, but no worker executes the run"
                return _note("worker", said, f"run `headgate resume {run.id}`")
        slot = Slot(store.database)
        if not slot.is_free():
            return _ok("worker", f"a worker is running ({slot.name})")
        return _note(
            "worker",
            (
                f"no worker is running ({slot.name}): nothing updates the stored versions, and "
                "each run starts its own worker"
            ),
            "run `headgate up`" if context.registry.path else _UP_WITHOUT_FILE,
        )
    finally:
        store.close()


def _kafka(context: Context) -> Iterator[Check]:
    if not context.registry.bootstrap_servers:
        yield _note("kafka", "no cluster is configured", "set bootstrap_servers under [kafka]")
        return
    try:
        cluster = read_cluster(context)
    except HeadgateError as error:
        yield _failed("kafka", error, None)
        return
    counts = f"{plural(len(cluster.topics), 'topic')}, {plural(len(cluster.groups), 'group')}"
    yield _ok("kafka", f"{cluster.bootstrap} ({cluster.id}), {counts}")
    for warning in cluster.warnings:
        remedy = (
            f"check Headgate's permissions in Kafka. If Kafka's jars are missing, {install_step()}"
        )
        yield _note("kafka", warning.rstrip("."), remedy)


def _schema_registry(context: Context) -> Iterator[Check]:
    """Say whether the registry answers, what it checks by, and whether declared topics are there.

    Where none is configured nothing is said: it is one team's, and not another's.
    """
    if context.registry.schema_registry_url is None:
        return
    name = "schema registry"
    try:
        with closing(open_schema_registry(context)) as registry:
            subjects, level = registry.subjects(), registry.level()
            said = (
                f"{registry.url}, {plural(len(subjects), 'subject')}, compatibility level {level}"
            )
            modes = _modes(context, registry, subjects)
    except HeadgateError as error:
        yield _failed(name, error, None)
        return
    if level == "none":
        yield _note(name, said, "set a compatibility level: NONE accepts any schema change")
    else:
        yield _ok(name, said)
    for topic, mode in modes.items():
        check = f"schema of {topic.name}"
        if mode is not None:
            yield _ok(check, f"compatibility level of the subject: {mode}")
        else:
            yield _note(
                check,
                f"the registry has no subject {subject_of(topic, VALUE)}",
                f"set `subject` under {topic_table(topic.name)}, or register the schema",
            )


def _modes(
    context: Context, registry: SchemaRegistry, subjects: Collection[str]
) -> dict[DeclaredTopic, str | None]:
    """Return the level of each declared topic's subject, None where there is no such subject."""
    named = {t: subject_of(t, VALUE) for t in context.registry.topics}
    return {
        topic: registry.mode(subject).value if subject in subjects else None
        for topic, subject in named.items()
    }


def _checkpoint(context: Context, pipeline: Pipeline) -> Check:
    name = f"checkpoint of {pipeline.name}"
    assert pipeline.checkpoint is not None
    try:
        read_version([pipeline.checkpoint], context=context)
    except HeadgateError as error:
        remedy = "start the pipeline once, or correct `checkpoint` in headgate.toml"
        return _failed(name, error, _unless_down(error, remedy))
    if strange := _not_its_own(context, pipeline):
        problem = ConfigError("; ".join(strange))
        return _failed(name, problem, "give each pipeline its own `checkpoint` in headgate.toml")
    return _ok(name, pipeline.checkpoint)


def _not_its_own(context: Context, pipeline: Pipeline) -> list[str]:
    """Return why the checkpoint isn't only this pipeline's, by what blocks a plan, too."""
    try:
        with (
            closing(open_store(context.store_url)) as store,
            closing(LiveInspector(context.registry, context.home)) as inspector,
        ):
            known = store.versions.running(pipeline.name)
            strange = checkpoint_of_other_query(inspector, pipeline.name, known)
            return [*shared_checkpoint(pipeline, inspector), *strange]
    except HeadgateError:
        # The store has a line of its own.
        return []


def _evidence(context: Context, pipeline: Pipeline) -> Check:
    """Read what the worker reads each minute."""
    name = f"evidence of {pipeline.name}"
    try:
        version = read_registered(context, pipeline)
    except HeadgateError as error:
        remedy = "correct `evidence`, `watch` or `query` in headgate.toml"
        return _failed(name, error, _unless_down(error, remedy))
    if version is None and pipeline.checkpoint:
        how = "start the pipeline, or wait until the first batch has completed"
        return _note(name, "nothing to read yet, because no batch has completed", how)
    if version is None:
        how = "set `evidence` or `checkpoint`, or start the query with headgate.watch(spark, DIR)"
        return _note(
            name, "headgate.toml has no `evidence`, `checkpoint` or `watch` that can be read", how
        )
    return _ok(name, f"graph with {plural(len(version.topology.nodes), 'node')}")


def _restore_points(context: Context) -> Iterator[Check]:
    """Say how restore points get on, of the pipelines that should have some."""
    for pipeline in context.registry.pipelines:
        if context.registry.point_schedule(pipeline).every is None:
            continue
        name = f"restore points of {pipeline.name}"
        try:
            found = list_points(context, pipeline.name)
        except HeadgateError as error:
            yield _failed(name, error, None)
            continue
        yield _of_points(name, found)


def _of_points(name: str, found: PointList) -> Check:
    newest = found.points[0] if found.points else None
    if found.error:
        return _note(
            name,
            f"the last attempt to make a restore point failed: {found.error.rstrip('.')}",
            f"correct this, then run `headgate restore-points {found.pipeline} --create`",
        )
    if damaged := next((p for p in found.points if p.problem), None):
        said = f"restore point {damaged.id} is damaged: {(damaged.problem or '').rstrip('.')}"
        remedy = (
            f"delete the restore point: `headgate restore-points {found.pipeline} --delete "
            f"{damaged.id}`"
        )
        return _note(name, said, remedy)
    if unreadable := next(iter(found.unreadable.items()), None):
        said = f"restore point {unreadable[0]} can't be read: {unreadable[1].rstrip('.')}"
        return _note(name, said, "check the file system, or update Headgate")
    if newest is None:
        remedy = (
            "start a worker, which makes restore points: `headgate up`. Or make one now: "
            f"`headgate restore-points {found.pipeline} --create`"
        )
        return _note(name, "no restore point was made yet", remedy)
    if newest.in_kafka is False:
        remedy = (
            f"run `headgate restore-points {found.pipeline} --create`. If retention deleted the "
            "records, raise retention.ms of the topic, or make restore points more often"
        )
        said = f"Kafka no longer has all records after the newest restore point: {newest.kafka}"
        return _note(name, said, remedy)
    count = plural(len(found.points), "restore point")
    if all(point.location is None for point in found.points):
        return _ok(name, f"{count}, only with offsets (they use no disk space)")
    most = f"max_size: {size(found.max_bytes)}"
    return _ok(name, f"{count}, up to {size(found.bytes)} on disk ({most})")


def _activity(context: Context) -> Iterator[Check]:
    """Say what feeds each pipeline's state, and how fresh that is; a look like the worker's."""
    try:
        found = check_pipelines(context)
    except HeadgateError as error:
        yield _failed("activity", error, None)
        return
    for name, activity in found.items():
        check = f"activity of {name}"
        said = f"{activity.state.value}, {activity.reason}"
        seen = f"; last activity at {short_time(activity.seen_at)} UTC"
        fresh = seen if activity.seen_at else ""
        if activity.feed is not None:
            yield _ok(check, f"{said} (source: {activity.feed}{fresh})")
        else:
            yield _note(check, said + fresh, _how_to_see(context.registry.pipeline(name)))


def _how_to_see(pipeline: Pipeline | None) -> str:
    """Return what makes a pipeline's state known."""
    if pipeline is None or pipeline.engine is not Engine.SPARK:
        return _SEE_IT
    return _CHECK_WATCH if pipeline.watch else _WATCH_IT


_CHECK_WATCH = "check whether the query is running, and whether its driver calls headgate.watch"
_WATCH_IT = (
    "call headgate.watch(spark, DIR) in the driver and set `watch` to DIR in headgate.toml, or set "
    "a status command"
)
_SEE_IT = (
    "if Kafka responds, check `group` in headgate.toml, and Headgate's permission to describe this "
    "group"
)
