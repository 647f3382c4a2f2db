"""`headgate rehearse --state-dir` and `--before-jar`: what Kafka Streams itself does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click

from headgate.cli.shared.options import current_context, emit_json, say_started
from headgate.cli.shared.terminal import print_rich

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_JAR = click.Path(exists=True, path_type=Path)
_OPTIONS = (
    click.option(
        "--state-dir",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="Kafka Streams: state directory of the application.",
    ),
    click.option(
        "--application-id",
        metavar="ID",
        help="Kafka Streams: application id, if --state-dir has several applications.",
    ),
    click.option(
        "--jar",
        "jars",
        type=_JAR,
        multiple=True,
        metavar="FILE",
        help="Jar of the new version; can be repeated.",
    ),
    click.option(
        "--before-jar",
        "before_jars",
        type=_JAR,
        multiple=True,
        metavar="FILE",
        help="Jar of the old version, which then runs on the same records; can be repeated.",
    ),
    click.option(
        "--properties",
        type=_FILE,
        metavar="FILE",
        help="Properties file with Kafka Streams settings.",
    ),
    click.option(
        "--arg",
        "arguments",
        multiple=True,
        metavar="TEXT",
        help=(
            "Argument of the main class. Headgate replaces the placeholders {bootstrap}, "
            "{state_dir} and {application_id}."
        ),
    ),
    click.option(
        "--env",
        "env",
        multiple=True,
        metavar="KEY=VALUE",
        help="Environment variable of the application. Can contain the placeholders of --arg.",
    ),
    click.option(
        "--jvm-option",
        "jvm_options",
        multiple=True,
        metavar="OPTION",
        help="JVM option, such as -Dkey={bootstrap}. Can contain the placeholders of --arg.",
    ),
    click.option(
        "--records",
        type=_FILE,
        metavar="FILE",
        help="File of input records: one JSON object per line.",
    ),
    click.option(
        "--offline", is_flag=True, help="Use only local files; don't contact the Kafka cluster."
    ),
    click.option(
        "--max-changelog",
        type=click.IntRange(0),
        default=1_000_000,
        show_default=True,
        help="Maximum number of changelog records to copy, in all topics together. If there are "
        "more, the rehearsal doesn't start.",
    ),
    click.option(
        "--before-properties",
        type=_FILE,
        metavar="FILE",
        help="Twin run: properties file of the old version (default: the file of --properties).",
    ),
    click.option(
        "--serde",
        "serdes",
        multiple=True,
        metavar="TOPIC=KEY:VALUE",
        help="Twin run: key and value types of a topic's generated records, such as "
        "orders=string:long; can be repeated.",
    ),
)
_OF_TWIN = ("before_properties", "serdes")
_NAMES = (
    "state_dir", "application_id", "jars", "before_jars", "properties", "arguments", "env",
    "jvm_options", "records", "offline", "max_changelog", *_OF_TWIN,
)  # fmt: skip
_OF_STREAMS = {name: f"--{name.replace('_', '-')}" for name in _NAMES} | {
    "jars": "--jar", "before_jars": "--before-jar", "arguments": "--arg",
    "jvm_options": "--jvm-option", "serdes": "--serde",
}  # fmt: skip
_OF_ANY_TWIN = {"sample": "--sample", "sample_from": "--sample-from"}
_OF_CLUSTER = {name: _OF_STREAMS[name] for name in ("offline", "max_changelog")}
_OF_SPARK_TWIN = {"sample_from": "--sample-from"}
_OF_SPARK = {
    "checkpoint": "--checkpoint",
    "query": "--query",
    "conf": "--conf",
    "allow_source": "--allow-source",
    "with_credentials": "--with-credentials",
}


def streams_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add what only Kafka Streams has; with `--state-dir` or `--before-jar` the command is ours."""

    @wraps(function)
    def command(**given: Any) -> int:
        streams = {name: given.pop(name) for name in _NAMES}
        _check(streams, given)
        if streams["state_dir"] is None and streams["before_jars"]:
            from headgate.cli.commands.rehearse_streams_twin import rehearse_streams_twin

            return rehearse_streams_twin(streams, given)
        if streams["state_dir"] is None:
            return function(**given)
        _rehearse(streams, given)
        return 0

    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _check(streams: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise UsageError where the forms are mixed, or none is meant."""
    is_twin = streams["state_dir"] is None and bool(streams["before_jars"])
    _check_twin(streams, given, is_twin=is_twin)
    if is_twin:
        if streams["records"]:
            raise click.UsageError(
                "--records needs --state-dir. For a twin run (--before-jar without --state-dir), "
                "pass records with --sample."
            )
        if used := _used(_OF_CLUSTER, streams):
            raise click.UsageError(
                f"{used} needs --state-dir: a twin run (--before-jar without --state-dir) doesn't "
                "use your Kafka cluster."
            )
    elif used := _used({n: _OF_STREAMS[n] for n in _OF_TWIN}, streams):
        raise click.UsageError(f"{used} is for a twin run of Kafka Streams: use --before-jar and "
                               "--jar without --state-dir.")  # fmt: skip
    elif streams["state_dir"] is None:
        if used := _used(_OF_STREAMS, streams):
            raise click.UsageError(
                f"{used} is for Kafka Streams and needs --state-dir, or --before-jar (twin run)."
            )
        if not given["checkpoint"] and not given["before"]:
            raise click.UsageError(
                "Give --checkpoint (Spark) or --state-dir (Kafka Streams). For a twin run (both "
                "versions on generated rows), give --before (Spark) or --before-jar (Kafka "
                "Streams)."
            )
        return
    if used := _used(_OF_SPARK, given):
        raise click.UsageError(
            f"{used} is for Spark, and {'--before-jar' if is_twin else '--state-dir'} is for "
            "Kafka Streams: give only one."
        )
    if not streams["jars"]:
        raise click.UsageError("Give the new version's jar with --jar.")


def _check_twin(streams: Mapping[str, Any], given: Mapping[str, Any], *, is_twin: bool) -> None:
    """Raise UsageError for a twin run's options where there is none, or one of another engine."""
    is_copy = streams["state_dir"] is not None or given["checkpoint"]
    if is_copy and (used := _used(_OF_ANY_TWIN, given)):
        raise click.UsageError(f"{used} is for a twin run: leave out --checkpoint and --state-dir.")
    if is_twin and (used := _used(_OF_SPARK_TWIN, given)):
        raise click.UsageError(f"{used} is only for Spark: pass records with --sample.")


def _used(names: Mapping[str, str], given: Mapping[str, Any]) -> str:
    context = click.get_current_context()
    chosen = (n for n in names if context.get_parameter_source(n) is not None)
    set_ = (n for n in chosen if context.get_parameter_source(n).name != "DEFAULT")  # type: ignore[union-attr]
    return next((names[n] for n in set_ if given.get(n)), "")


def _rehearse(streams: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    from headgate.usecases.rehearsal.properties_file import read_settings
    from headgate.usecases.rehearsal.read_user_cluster import Bounds
    from headgate.usecases.rehearsal.rehearse_kafka_streams import StreamsOptions, rehearse_streams

    properties = streams["properties"]
    found = rehearse_streams(
        streams["state_dir"],
        given["after"],
        before=[given["before"]] if given["before"] else [],
        context=current_context(),
        options=StreamsOptions(
            application_id=streams["application_id"],
            jars=streams["jars"],
            before_jars=streams["before_jars"],
            settings=read_settings(properties) if properties else {},
            arguments=streams["arguments"],
            env=pairs_of(streams["env"], "--env", "KEY=VALUE"),
            jvm_options=streams["jvm_options"],
            batch=given["batch"],
            records=streams["records"],
            offline=streams["offline"],
            bounds=Bounds(given["max_records"], streams["max_changelog"]),
            seconds=given["timeout"],
            scratch=given["scratch"],
        ),
        say=say_started(),
    )
    if given["output"] == "json":
        from headgate.views.reports.kafka_streams_rehearsal import streams_rehearsal_json

        emit_json(streams_rehearsal_json(found.report, found.engine, found.judged))
        return
    from headgate.views.reports.rehearsal_terminal import streams_rehearsal_text

    text = streams_rehearsal_text(found.report, found.engine, found.judged)
    print_rich(text)


def pairs_of(texts: tuple[str, ...], option: str, form: str) -> dict[str, str]:
    """Return the values of an option as a dictionary; BadParameter, with `form`, for others."""
    found = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not key or not sign:
            raise click.BadParameter(f"expected {form}, found {text!r}.", param_hint=option)
        found[key] = value
    return found
