"""Settings that the optimiser, the state store or the checkpoint read, and steps of them."""

from __future__ import annotations

from typing import Any

from recorder.case import ROCKSDB, SIDES_FIRST, SIDES_THEN, Version, case
from recorder.shapes import by, windowed

from definitions.deduplications import once
from definitions.joins import joined
from definitions.settings import STREAMING, SUM, setting
from definitions.steps import steps
from definitions.windows import TEN

STORE = STREAMING + "stateStore."
SIDES: Any = {"first": SIDES_FIRST, "then": SIDES_THEN, "mode": "append"}
PRUNING = "org.apache.spark.sql.catalyst.optimizer.ColumnPruning"
NOT_NULL = "org.apache.spark.sql.catalyst.optimizer.InferFiltersFromConstraints"
FILES = "org.apache.spark.sql.execution.streaming.checkpointing."

setting("conf_join_more_partitions", "spark.sql.shuffle.partitions", "2", "5", joined(), **SIDES)
setting(
    "conf_dedup_fewer_partitions",
    "spark.sql.shuffle.partitions",
    "3",
    "1",
    once("k"),
    mode="append",
)
setting(
    "conf_rule_excluded_pruning",
    "spark.sql.optimizer.excludedRules",
    None,
    PRUNING,
    joined(),
    **SIDES,
)
setting(
    "conf_rule_excluded_not_null",
    "spark.sql.optimizer.excludedRules",
    None,
    NOT_NULL,
    joined(),
    **SIDES,
)
setting(
    "conf_constraints_off",
    "spark.sql.constraintPropagation.enabled",
    "true",
    "false",
    joined(),
    **SIDES,
)
setting(
    "conf_constraints_off_aggregate", "spark.sql.constraintPropagation.enabled", "true", "false"
)
setting("conf_cost_based", "spark.sql.cbo.enabled", "false", "true", joined("left"), **SIDES)
setting(
    "conf_nested_pruning_off",
    "spark.sql.optimizer.nestedSchemaPruning.enabled",
    "true",
    "false",
    by("struct(k, d).k g", "sum(v) s"),
)
setting(
    "conf_changelog_off",
    STORE + "rocksdb.changelogCheckpointing.enabled",
    "true",
    "false",
    also=ROCKSDB,
)
setting(
    "conf_checkpoint_format_2",
    STORE + "checkpointFormatVersion",
    "1",
    "2",
    also={**ROCKSDB, STORE + "rocksdb.changelogCheckpointing.enabled": "true"},
)
setting("conf_file_checksum_off", STREAMING + "checkpoint.fileChecksum.enabled", "true", "false")
setting("conf_file_checksum_on", STREAMING + "checkpoint.fileChecksum.enabled", "false", "true")
setting("conf_min_deltas", STORE + "minDeltasForSnapshot", "10", "1")
setting("conf_batches_in_memory", STREAMING + "maxBatchesToRetainInMemory", "2", "0")
setting(
    "conf_rocksdb_rows_untracked",
    STORE + "rocksdb.trackTotalNumberOfRows",
    "true",
    "false",
    also=ROCKSDB,
)
setting("conf_whole_stage_off", "spark.sql.codegen.wholeStage", "true", "false")
setting(
    "conf_time_zone_of_unix_time",
    "spark.sql.session.timeZone",
    "UTC",
    "Asia/Tokyo",
    by("unix_timestamp(ts) div 60 m", "sum(v) s"),
)
setting(
    "conf_time_zone_of_date",
    "spark.sql.session.timeZone",
    "UTC",
    "Pacific/Kiritimati",
    by("to_date(ts) m", "sum(v) s"),
)
setting(
    "conf_time_zone_of_measure",
    "spark.sql.session.timeZone",
    "UTC",
    "Asia/Tokyo",
    by("k", "max(hour(ts)) s"),
)
setting(
    "conf_parser_policy",
    "spark.sql.legacy.timeParserPolicy",
    "CORRECTED",
    "LEGACY",
    by("date_format(ts, 'yyyy-MM-dd HH') h", "sum(v) s"),
)
setting(
    "conf_parser_policy_week",
    "spark.sql.legacy.timeParserPolicy",
    "LEGACY",
    "CORRECTED",
    by("date_format(ts, 'u') h", "sum(v) s"),
)
setting(
    "conf_decimal_loss",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "true",
    "false",
    by("k", "sum(cast(v as decimal(30,12)) * cast(v as decimal(30,12))) s"),
)
setting(
    "conf_decimal_loss_unused", "spark.sql.decimalOperations.allowPrecisionLoss", "true", "false"
)
setting(
    "conf_null_order",
    "spark.sql.legacy.sizeOfNull",
    "true",
    "false",
    by("size(split(d, ',')) n", "sum(v) s"),
)
setting("conf_group_by_ordinal_off", "spark.sql.groupByOrdinal", "true", "false")
setting("conf_upper_bounds_of_state", STORE + "maintenanceInterval", "60s", "5s")
setting("conf_retained_batches", STREAMING + "minBatchesToRetain", "100", "2")
setting("conf_metadata_cache_off", STREAMING + "metadataCache.enabled", "true", "false")
setting(
    "conf_file_manager",
    STREAMING + "checkpointFileManagerClass",
    None,
    FILES + "FileSystemBasedCheckpointFileManager",
)
setting(
    "conf_correctness_check_off",
    STREAMING + "statefulOperator.checkCorrectness.enabled",
    "true",
    "false",
    windowed(TEN, "k", "sum(v) s"),
    mode="append",
)
setting("conf_stop_timeout", STREAMING + "stopTimeout", "0", "10s")
setting(
    "conf_codec_lz4_to_zstd",
    STREAMING + "stateStore.compression.codec",
    "lz4",
    "zstd",
    also=ROCKSDB,
)
case(
    "conf_operation_check_off_append",
    "unsupportedOperationCheck off, update -> append without a watermark",
    SUM,
    SUM,
    new_mode="append",
    new_settings={STREAMING + "unsupportedOperationCheck": "false"},
)
steps(
    "step_max_then_sum",
    "sum -> max -> sum",
    by("k", "sum(v) s"),
    by("k", "cast(max(v) as bigint) s"),
    by("k", "sum(v) s"),
)
steps(
    "step_delay_there_and_back",
    "delay 10 s -> 1 minute -> 10 s, append",
    windowed(TEN, "k", "sum(v) s"),
    windowed(TEN, "k", "sum(v) s", delay="1 minute"),
    windowed(TEN, "k", "sum(v) s"),
    mode="append",
)
steps(
    "step_changelog_there_and_back",
    "changelog off -> on -> off",
    Version(SUM, settings={**ROCKSDB, STORE + "rocksdb.changelogCheckpointing.enabled": "false"}),
    Version(SUM, settings={**ROCKSDB, STORE + "rocksdb.changelogCheckpointing.enabled": "true"}),
    Version(SUM, settings={**ROCKSDB, STORE + "rocksdb.changelogCheckpointing.enabled": "false"}),
)
steps(
    "step_filter_then_column",
    "all rows -> where v > 2 -> k in upper case",
    by("k", "sum(v) s"),
    lambda p: by("k", "sum(v) s")(p),
    by("upper(k) k", "sum(v) s"),
)
steps(
    "step_mode_update_append_update",
    "update -> append -> update, windows",
    windowed(TEN, "k", "sum(v) s"),
    Version(windowed(TEN, "k", "sum(v) s"), "append"),
    Version(windowed(TEN, "k", "sum(v) s"), "update"),
)
steps(
    "step_files_a_batch_and_function",
    "avg -> avg, 2 files a batch -> stddev",
    by("k", "avg(v) s"),
    by("k", "avg(v) s"),
    by("k", "stddev_pop(v) s"),
)
