"""`headgate rehearse --before-jar` without a state directory: both versions on the same records."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headgate.cli.commands.rehearse_twin import show_twin
from headgate.cli.shared.options import say_started

if TYPE_CHECKING:
    from headgate.usecases.rehearsal.twin_kafka_streams import StreamsTwin


def rehearse_streams_twin(streams: Mapping[str, Any], given: Mapping[str, Any]) -> int:
    """Run both versions, print the report, and return the exit code of the check."""
    return show_twin(
        _run(streams, given), given["closing"], given["output"], given["disagreements"]
    )


def _run(streams: Mapping[str, Any], given: Mapping[str, Any]) -> StreamsTwin:
    from headgate.cli.commands.rehearse_kafka_streams import pairs_of
    from headgate.usecases.rehearsal.properties_file import read_settings
    from headgate.usecases.rehearsal.rehearse_kafka_streams import StreamsOptions
    from headgate.usecases.rehearsal.twin_kafka_streams import (
        USUAL_ID,
        StreamsTwinOptions,
        run_streams_twin,
    )

    sides = []
    files = (streams["before_properties"] or streams["properties"], streams["properties"])
    entries = (given["before"] or given["after"], given["after"])
    for file, entry, jars in zip(files, entries, ("before_jars", "jars"), strict=True):
        settings = read_settings(file) if file else {}
        options = StreamsOptions(
            settings=settings,
            arguments=streams["arguments"],
            env=pairs_of(streams["env"], "--env", "KEY=VALUE"),
            jvm_options=streams["jvm_options"],
        )
        name = streams["application_id"] or settings.get("application.id", USUAL_ID)
        sides.append(options.side(entry, streams[jars], name))
    return run_streams_twin(
        *sides,
        options=StreamsTwinOptions(
            rows=given["rows"],
            seed=given["seed"],
            seconds=given["timeout"],
            serdes=pairs_of(streams["serdes"], "--serde", "TOPIC=KEY:VALUE"),
            samples=_files(given["sample"]),
            scratch=given["scratch"],
        ),
        say=say_started(),
    )


def _files(names: tuple[str, ...]) -> list[Path]:
    """Return files of records; BadParameter for one that isn't there."""
    for name in names:
        if not Path(name).is_file():
            raise click.BadParameter(
                f"{name} isn't a file. For Kafka Streams, give a file of input records in the "
                "format of --records.",
                param_hint="'--sample'",
            )
    return [Path(name) for name in names]
