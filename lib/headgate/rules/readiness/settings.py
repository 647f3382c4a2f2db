"""Settings that no checkpoint keeps, and that another machine may not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headgate.model.version import Engine
from headgate.rules.core.source_names import is_file
from headgate.rules.readiness.facts.report import Problem, Severity
from headgate.rules.readiness.facts.rule import rule
from headgate.rules.readiness.facts.subject import Subject
from headgate.rules.spark.facts.pinned_settings import ANSI, CHECKPOINT_FORMAT, TIME_ZONE
from headgate.rules.spark.facts.time_zone import reads_time_zone

_SCHEMA_CHECK = "spark.sql.streaming.stateStore.stateSchemaCheck"
_UNSUPPORTED = "spark.sql.streaming.unsupportedOperationCheck"
_CORRECTNESS = "spark.sql.streaming.statefulOperator.checkCorrectness.enabled"
_GUARDS = {
    _SCHEMA_CHECK: "whether the state has the schema that the query expects",
    _UNSUPPORTED: "whether Spark supports the query in streaming",
    _CORRECTNESS: "whether a stateful operator can drop rows that an earlier one emits late",
}
_SKIPS = (
    "spark.sql.files.ignoreCorruptFiles",
    "spark.sql.files.ignoreMissingFiles",
)
# What changes results or the reading of the checkpoint, with the default of Spark 4.2.
_MEANING = {
    ANSI: "true",
    CHECKPOINT_FORMAT: "1",
    "spark.sql.caseSensitive": "false",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.storeAssignmentPolicy": "ANSI",
    TIME_ZONE: None,
}
_INFERENCE = "spark.sql.streaming.schemaInference"
_SPECULATION = "spark.speculation"
_BYTES_AS_TEXT = re.compile(r"cast\(s\d+\.(?:key|value) as string\)", re.IGNORECASE)


_REMOVE_THE_SETTING = (
    "Remove the setting. The checkpoint doesn't pin it, so the check is on at the next start. If "
    "the query then fails to start, its state or results are already unreliable."
)


@rule(
    "RDY040",
    "measured on Spark 4.2.0",
    Engine.SPARK,
    severities=(Severity.HIGH,),
    remedies=(_REMOVE_THE_SETTING,),
)
def safety_check_disabled(s: Subject) -> Iterator[Problem]:
    """A safety check of Spark is disabled. The check stops restarts that would misread state or
    give wrong results.

    Without the check, such a restart runs. The query fails later, in the middle of a batch, or
    writes wrong data.
    """
    for key, guards in _GUARDS.items():
        if (s.setting(key) or "").lower() == "false":
            yield Problem(
                severity=Severity.HIGH,
                what=f"{key} is false: Spark doesn't check {guards}.",
                remedy=_REMOVE_THE_SETTING,
                keeps_state=True,
            )


_SET_THEM_ONLY = "Set the listed values in the query's own code, and nowhere else."
_DOES_THE_QUERY = "Does the query's own code set these values, or only the cluster's configuration?"


@rule(
    "RDY041",
    "measured on Spark 4.2.0",
    Engine.SPARK,
    severities=(Severity.LOW,),
    remedies=(_SET_THEM_ONLY,),
    questions=(_DOES_THE_QUERY,),
)
def settings_not_pinned(s: Subject) -> Iterator[Problem]:
    """The checkpoint doesn't pin some settings that change the query's results.

    If another cluster, image or default changes these settings, the query resumes with different
    results. Its state then mixes old and new results.
    """
    changed = {k: v for k, v in s.version.settings.items() if k in _MEANING and v != _MEANING[k]}
    if not reads_time_zone(_expressions(s)):
        changed.pop(TIME_ZONE, None)
    if changed:
        shown = ", ".join(f"{k}={v}" for k, v in sorted(changed.items()))
        yield Problem(
            severity=Severity.LOW,
            what=f"The query depends on settings that its checkpoint doesn't pin: {shown}.",
            remedy=_SET_THEM_ONLY,
            keeps_state=True,
            question=_DOES_THE_QUERY,
        )


_SET_IN_THE_QUERYS = (
    f"Set {TIME_ZONE} in the query's own code, even if the time zone is UTC. Use the time zone "
    "that the query has used so far."
)


@rule(
    "RDY042",
    "measured on Spark 4.2.0 (the time zone is not pinned)",
    Engine.SPARK,
    severities=(Severity.MEDIUM,),
    remedies=(_SET_IN_THE_QUERYS,),
)
def session_time_zone_not_set(s: Subject) -> Iterator[Problem]:
    """The query converts timestamps to dates, hours or text in the session's time zone, which isn't
    set.

    Spark then uses the machine's time zone. On a machine with another time zone, groups shift by
    hours, and new rows mix with old state.
    """
    reads = reads_time_zone(_expressions(s))
    if reads and s.settings_known and s.setting(TIME_ZONE) is None:
        yield Problem(
            severity=Severity.MEDIUM,
            location=next((o.node for o in s.stateful), None),
            what=f"The query depends on the session's time zone, but {TIME_ZONE} is not set.",
            remedy=_SET_IN_THE_QUERYS,
            keeps_state=True,
        )


def _expressions(s: Subject) -> list[str]:
    """Return what state is kept by and made of; reading bytes as text needs no time zone."""
    found = [e for o in s.stateful for e in (*(o.keys or ()), *(o.functions or ()))]
    return [_BYTES_AS_TEXT.sub("text", e) for e in found]


_REMOVE_THE_SETTING_AND_LET = (
    "Remove the setting, so that the query fails on a damaged or missing file. The change "
    "applies from the next start."
)


@rule(
    "RDY043",
    "Spark documentation: Spark SQL, generic file source options",
    Engine.SPARK,
    severities=(Severity.MEDIUM,),
    remedies=(_REMOVE_THE_SETTING_AND_LET,),
)
def bad_files_skipped(s: Subject) -> Iterator[Problem]:
    """Spark silently skips damaged or missing files and marks them as processed.

    The rows of these files are lost.
    """
    for key in _SKIPS:
        if (s.setting(key) or "").lower() == "true":
            yield Problem(
                severity=Severity.MEDIUM,
                what=f"{key} is true.",
                remedy=_REMOVE_THE_SETTING_AND_LET,
                keeps_state=True,
            )


_SET_THE_SCHEMA = "In the query's code, set the schema that printSchema() shows now."


@rule(
    "RDY045",
    "Spark documentation: Spark SQL, spark.sql.streaming.schemaInference",
    Engine.SPARK,
    severities=(Severity.MEDIUM,),
    remedies=(_SET_THE_SCHEMA,),
)
def schema_inferred(s: Subject) -> Iterator[Problem]:
    """Spark infers the schema from the files that exist when the query starts.

    If other files exist at a restart, columns or types may differ. The state then no longer fits,
    or values are read as null.
    """
    reads_files = next((x for x in s.sources if is_file(x)), None)
    if reads_files and (s.setting(_INFERENCE) or "").lower() == "true":
        yield Problem(
            severity=Severity.MEDIUM,
            location=reads_files.node,
            what=f"{_INFERENCE} is true, and the query reads files.",
            remedy=_SET_THE_SCHEMA,
            keeps_state=True,
        )


_SET_FALSE_FOR = f"Set {_SPECULATION}=false for this application."


@rule(
    "RDY044",
    (
        "Spark documentation: configuration, `spark.speculation`. The advice for these sinks is "
        "Headgate's own, not measured"
    ),
    Engine.SPARK,
    severities=(Severity.MEDIUM,),
    remedies=(_SET_FALSE_FOR,),
)
def speculation(s: Subject) -> Iterator[Problem]:
    """With speculation, Spark may run two copies of a slow task at once.

    Spark commits each file once, but both copies send their records to Kafka or to a service.
    """
    sink = s.version.sink
    if (s.setting(_SPECULATION) or "").lower() == "true" and sink and sink.traits.writes_in_tasks:
        yield Problem(
            severity=Severity.MEDIUM,
            location=sink.node,
            what=f"{_SPECULATION} is true, and the sink is {sink.format}.",
            remedy=_SET_FALSE_FOR,
            keeps_state=True,
        )
