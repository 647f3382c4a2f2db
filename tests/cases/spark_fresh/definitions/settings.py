"""Settings of the session, modes and triggers."""

from __future__ import annotations

from typing import Any

from recorder.case import BOTH_FIRST, BOTH_THEN, ROCKSDB, SIDES_FIRST, SIDES_THEN, Version, case
from recorder.shapes import by, windowed

from definitions.joins import joined
from definitions.windows import TEN, two_marked

SUM = by("k", "sum(v) s", "count(*) n")
STREAMING = "spark.sql.streaming."


def setting(
    name: str, key: str, old: str | None, new: str | None, build: Any = SUM, **facts: Any
) -> None:
    """One setting changes, the query doesn't."""
    both = facts.pop("also", {})
    sides = [{**both, **({key: v} if v is not None else {})} for v in (old, new)]
    case(
        name,
        f"{key.removeprefix('spark.sql.')}: {old} -> {new}",
        build,
        build,
        settings=sides[0],
        new_settings=sides[1],
        **facts,
    )


setting("conf_aggregate_state_format", STREAMING + "aggregation.stateFormatVersion", "2", "1")
setting(
    "conf_join_state_format",
    STREAMING + "join.stateFormatVersion",
    "2",
    "1",
    joined("left"),
    first=SIDES_FIRST,
    then=SIDES_THEN,
    mode="append",
)
setting(
    "conf_watermark_policy",
    STREAMING + "multipleWatermarkPolicy",
    "min",
    "max",
    two_marked("10 seconds", "30 seconds"),
    first=BOTH_FIRST,
    then=BOTH_THEN,
    mode="append",
)
setting(
    "conf_changelog_on",
    STREAMING + "stateStore.rocksdb.changelogCheckpointing.enabled",
    "false",
    "true",
    also=ROCKSDB,
)
setting(
    "conf_rocksdb_to_hdfs",
    STREAMING + "stateStore.providerClass",
    ROCKSDB[STREAMING + "stateStore.providerClass"],
    None,
)
setting(
    "conf_rocksdb_merge_operator",
    STREAMING + "stateStore.rocksdb.mergeOperatorVersion",
    "2",
    "1",
    also=ROCKSDB,
)
setting(
    "conf_strict_distribution",
    STREAMING + "statefulOperator.useStrictDistribution",
    "true",
    "false",
)
setting("conf_more_partitions", "spark.sql.shuffle.partitions", "2", "6")
setting(
    "conf_time_zone_of_hour",
    "spark.sql.session.timeZone",
    "UTC",
    "Asia/Tokyo",
    by("hour(ts) h", "sum(v) s"),
)
setting(
    "conf_time_zone_of_window",
    "spark.sql.session.timeZone",
    "UTC",
    "Asia/Tokyo",
    windowed(TEN, "k", "sum(v) s"),
)
setting("conf_time_zone_unused", "spark.sql.session.timeZone", "UTC", "Asia/Tokyo")
setting("conf_case_sensitive", "spark.sql.caseSensitive", "false", "true")
setting("conf_adaptive_off", "spark.sql.adaptive.enabled", "true", "false")
setting(
    "conf_no_data_batches",
    STREAMING + "noDataMicroBatches.enabled",
    "true",
    "false",
    windowed(TEN, "k", "sum(v) s"),
    mode="append",
)
setting(
    "conf_session_merge",
    STREAMING + "sessionWindow.merge.sessions.in.local.partition",
    "false",
    "true",
    windowed("session_window(ts, '5 seconds') w", "k", "sum(v) s"),
    mode="append",
)
case(
    "conf_pinned_and_function",
    "shuffle partitions 2 -> 6, and sum -> max",
    by("k", "sum(v) s"),
    by("k", "cast(max(v) as bigint) s"),
    new_settings={"spark.sql.shuffle.partitions": "6"},
)
case(
    "conf_check_off_more_fields",
    "schema check off, a measure added",
    by("k", "sum(v) s"),
    by("k", "sum(v) s", "count(*) n"),
    new_settings={STREAMING + "stateStore.stateSchemaCheck": "false"},
)
case(
    "conf_check_off_other_operator",
    "schema check off, aggregate -> deduplicate",
    by("k", "sum(v) s"),
    Version(
        lambda p: p.read().select("k", "v").dropDuplicates(["k"]),
        "append",
        {STREAMING + "stateStore.stateSchemaCheck": "false"},
    ),
)
case("trigger_once", "availableNow -> once", SUM, Version(SUM, trigger={"once": True}))
case(
    "trigger_continuous_aggregate",
    "availableNow -> continuous, over an aggregate",
    SUM,
    Version(SUM, trigger={"continuous": "1 second"}),
)
case(
    "trigger_real_time",
    "availableNow -> realTime",
    SUM,
    Version(SUM, trigger={"realTime": "5 minutes"}),
)
case(
    "mode_update_to_complete_with_order",
    "update -> complete, sorted",
    SUM,
    Version(lambda p: SUM(p).orderBy("k"), "complete"),
)
case(
    "mode_complete_limit_added",
    "complete -> complete, sorted, limit 2",
    Version(SUM, "complete"),
    Version(lambda p: SUM(p).orderBy("k").limit(2), "complete"),
)
case(
    "mode_append_to_update_stateless",
    "append -> update, stateless",
    Version(lambda p: p.read().select("k", "v"), "append"),
    Version(lambda p: p.read().select("k", "v"), "update"),
)
