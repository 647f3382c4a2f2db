"""Where the results of a range go: a folder, a topic that the run creates, or a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headgate.model.cluster import Topic
from headgate.reprocess.output_effects import OutputEffects
from headgate.reprocess.plan import folder_resource
from headgate.reprocess.ports.spark_jobs import EventTimes
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.historical_range import appended_records, table_target
from headgate.reprocess.scenarios.historical_range.appended_records import (
    append_blockers,
    append_to_topic,
)
from headgate.reprocess.scenarios.historical_range.table_target import into_table, table_blockers
from headgate.reprocess.scenarios.shared.database_table import JDBC
from headgate.reprocess.scenarios.shared.processed_records import (
    other_in_batches,
    target_blockers,
)
from headgate.reprocess.scenarios.shared.written_results import Target
from headgate.reprocess.steps.outputs.install_results import InstallResults
from headgate.reprocess.steps.outputs.process_into_topic import ProcessIntoTopic
from headgate.reprocess.steps.outputs.process_records import ProcessRecords
from headgate.text.numbers import name_list
from headgate.text.risk import Risk

FORMATS = ("parquet", "json", "orc", "delta")
_KAFKA = "kafka:"
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


def blockers_of_target(request: PlanRequest, *, is_stream: bool = False) -> list[str]:
    """Return why the results can't be written to the requested target."""
    to = str(request.options["to"])
    if is_stream and (to.startswith(JDBC) or request.options.get("append")):
        return [_of_stream(request, "--to" if to.startswith(JDBC) else "--append")]
    if to.startswith(JDBC):
        return table_blockers(request)
    if "keys" in request.options and not is_stream:
        return ["--keys: only available if --to is a table, or with --as stream. Omit the option"]
    if not to.startswith(_KAFKA):
        if request.options.get("append"):
            return ["--append: only available if --to is a topic. Omit the option"]
        return target_blockers(request, to)
    name, found = to.removeprefix(_KAFKA), []
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        return [f"--to: {name!r} isn't a topic name: use letters, digits, '.', '_' and '-'"]
    sink = request.version.sink if request.version else None
    if sink is None or sink.format != "kafka":
        found.append(_other_sink(request))
    if request.options.get("append"):
        found += append_blockers(request, name)
    elif request.inspector.kafka.shapes([name]):
        found.append(f"--to: topic {name} already exists. Pass another topic, or --append")
    found += [
        f"--{option}: only available if --to is a folder. Omit the option"
        for option in ("replace", "file-format")
        if option in request.options
    ]
    return found


def _of_stream(request: PlanRequest, option: str) -> str:
    """Refuse what no run of a stream has been compared with plain Python for."""
    others = other_in_batches(request.version) if request.version else []
    way = f" {name_list(others)} can't be processed as a batch." if others else ""
    else_ = "" if others else ", or use --as batch"
    return (
        f"{option}: the run processes the records as a stream, and a stream can only write to a "
        f"folder or a new topic.{way} Pass a folder or a new topic with --to{else_}"
    )


def _other_sink(request: PlanRequest) -> str:
    name, sink = request.pipeline.name, request.version.sink if request.version else None
    if sink is None or sink.format is None:
        return (
            f"--to: no stored version shows the sink of {name}, so Headgate doesn't know whether "
            "its results are Kafka records. Capture the query with its sink, or pass a folder"
        )
    return (
        f"--to: {name} writes to sink {sink.format}, so its results can't go to a topic. Pass a "
        "folder"
    )


def target_of(
    request: PlanRequest, topics: Mapping[str, Topic], what: Mapping[str, Any], found: EventTimes
) -> Target:
    """Return the steps; `what` is what all kinds of processing take, `found` the results' form."""
    to = str(request.options["to"])
    if to.startswith(JDBC):
        return into_table(request, what, found)
    if to.startswith(_KAFKA) and request.options.get("append"):
        return append_to_topic(request, to.removeprefix(_KAFKA), what, found)
    if to.startswith(_KAFKA):
        return _topic(request, topics, to.removeprefix(_KAFKA), what)
    replaces = request.options.get("replace", False)
    file_format = request.options.get("file-format", "parquet")
    process = ProcessRecords(format=file_format, folder=to, **what)
    undo = f"restores the earlier contents of {to}" if replaces else f"deletes {to}"
    return Target(
        steps=(process, InstallResults(folder=to, replaces=replaces)),
        resources=(folder_resource(to),),
        outputs=OutputEffects(
            run=(f"The results of the range are written to {to}.",), undo=(f"An undo {undo}.",)
        ),
    )


COMPLETE_AFTER_RUN = Risk(
    "topic {topic} is complete only after the run: consumers should wait for the end of the "
    "run. A resumed run recreates the topic and writes all results again"
)


def _topic(
    request: PlanRequest, topics: Mapping[str, Topic], name: str, what: Mapping[str, Any]
) -> Target:
    step = ProcessIntoTopic(topic=name, shape=_shape(request, topics), **what)
    return Target(
        steps=(step,),
        resources=(f"topic:{name}",),
        outputs=OutputEffects(
            run=(f"The results of the range are written to topic {name}.",),
            undo=(f"An undo deletes topic {name}.",),
        ),
        risks=(COMPLETE_AFTER_RUN(topic=name),),
    )


def _shape(request: PlanRequest, topics: Mapping[str, Topic]) -> dict[str, Any]:
    """Return the shape of the query's own output, else of an input without its settings."""
    sink = request.version.sink if request.version else None
    names = [*([sink.place] if sink and sink.place else ()), *sorted(topics)]
    found = request.inspector.kafka.shapes(names)
    like = next(found[name] for name in names if name in found)
    own = like.configs if sink and like.name == sink.place else {}
    return {"partitions": like.partitions, "replication": like.replication, "configs": dict(own)}


RISKS = (
    COMPLETE_AFTER_RUN,
    *appended_records.RISKS,
    *table_target.RISKS,
)
